package spark

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"weir/pipeline/relation"
	"weir/runtime/database/sql"
)

// Counting is a relation.Session over the rows of a table. What it keeps are tables of codes in the scratch schema,
// which it drops when it is closed. It is safe for concurrent use.
//
// Each table of codes is written by one statement, and every count is one of it: whatever becomes of the stored rows,
// or of a worker that held what it had read of them, each round sees the same codes. Whoever keeps them shows that they
// are codes of the rows of Content: it is the same before and behind, or the table has a version, which cannot change.
type Counting struct {
	session *Session
	base    sql.Base
	dialect sql.Dialect

	mu     sync.Mutex
	links  []*link
	tables []string
}

// Counting prepares to compute from the table's columns. Columns are those that are read, with what their cells mean;
// of each unit, which the column at a place names, so many rows stay, all where maxRows is 0.
func (s *Session) Counting(columns []sql.Stored, unit, maxRows int) (*Counting, error) {
	dialect := sql.Spark()
	base, err := dialect.Base(sql.Table{From: s.fromClause(), Columns: columns, Unit: unit, MaxRows: maxRows})
	return &Counting{session: s, base: base, dialect: dialect}, err
}

// fromClause returns the table in a FROM.
func (s *Session) fromClause() string {
	source := quoted(s.name...)
	if s.place.Version != "" {
		source += " VERSION AS OF " + s.place.Version
	}
	return source
}

// connect opens a link that lives as long as the session.
func (c *Counting) connect(ctx context.Context) (*link, error) {
	l, err := c.session.connect(ctx)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.links = append(c.links, l)
	return l, nil
}

// Content returns a text that identifies the rows of the table, and the rules of the domain that some of its cells
// break.
func (c *Counting) Content(ctx context.Context) (content string, faults []sql.Fault, err error) {
	l, err := c.session.connect(ctx)
	if err != nil {
		return "", nil, err
	}
	defer func() { _ = l.close() }() // what it was opened for is known then
	rows, err := l.rows(ctx, "the rows' content", c.base.Content, c.base.Counted())
	if err == nil && len(rows) != 1 {
		err = errAnswer
	}
	if err != nil {
		return "", nil, err
	}
	return c.base.Read(rows[0])
}

// RowHashes returns the least hashes of the table's distinct rows, at most the given number, ascending.
func (c *Counting) RowHashes(ctx context.Context, most int) ([]uint64, error) {
	l, err := c.session.connect(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = l.close() }() // what it was opened for is known then
	h := sql.NewHashed(most)
	err = l.words(ctx, "the hashes of the rows", c.base.Hashes(c.dialect, most), sql.HashCells, h.Add)
	return h.List(), err
}

// Sample hands on the cells of at most the given number of rows, drawn by a public hash; nil where one is missing.
func (c *Counting) Sample(ctx context.Context, most int64, use func(cells []*string) error) error {
	l, err := c.session.connect(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = l.close() }() // what it was opened for is known then
	return l.words(ctx, "the sample", c.dialect.Sample(c.base, most), c.base.Sampled(), func(row []string) error {
		cells, err := c.base.Cells(row)
		if err != nil {
			return err
		}
		return use(cells)
	})
}

// Keep implements relation.Session.
func (c *Counting) Keep(ctx context.Context, r relation.Relation) (relation.Kept, error) {
	query, err := c.dialect.Select(c.base.Values, r)
	if err != nil {
		return nil, err
	}
	l, err := c.connect(ctx)
	if err != nil {
		return nil, err
	}
	return c.keep(ctx, l, query)
}

// keep writes the rows of a query into a table of the scratch schema.
func (c *Counting) keep(ctx context.Context, l *link, query string) (*keptRows, error) {
	k := &keptRows{of: c, link: l, name: c.next(l)}
	if err := l.run(ctx, "the table of codes in the scratch schema", "CREATE TABLE "+k.name+" USING parquet AS "+query, 0,
		nil); err != nil {
		return nil, err
	}
	return k, l.numbers(ctx, "the number of codes", "SELECT count(*) FROM "+k.name, 1, func(row []int64) error {
		k.rows = row[0]
		return nil
	})
}

// next names a table. The name is made of what the server calls the link, which is no other link's.
func (c *Counting) next(l *link) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	schema := strings.Split(c.session.place.Scratch, ".")
	name := quoted(append(schema, fmt.Sprintf("weir_%s_%d", hex.EncodeToString(l.guid), len(c.tables)))...)
	c.tables = append(c.tables, name)
	return name
}

// Try implements relation.Session.
func (c *Counting) Try(ctx context.Context, kind relation.Type, values []float64, list []relation.Expr) ([][]int64,
	error) {
	l, err := c.session.connect(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = l.close() }() // what it was opened for is known then
	return c.dialect.Tries(kind, values, list, l.asking(ctx, "the test of cells"))
}

// asking asks for numbers as one question after the other, which an error calls so.
func (l *link) asking(ctx context.Context, what string) sql.Ask {
	return func(statement string, cells int, add func([]int64) error) error {
		return l.numbers(ctx, what, statement, cells, add)
	}
}

// Close drops what was kept and ends all links. The error says which tables could not be dropped.
func (c *Counting) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	left := c.tables
	if len(left) > 0 {
		if l, err := c.session.connect(ctx); err == nil { // a link of before may be lost
			left = slices.DeleteFunc(slices.Clone(left), func(name string) bool {
				return l.run(ctx, "the end of a table of codes", "DROP TABLE IF EXISTS "+name, 0, nil) == nil
			})
			c.links = append(c.links, l)
		}
	}
	for _, l := range c.links {
		_ = l.close() // one that is lost has nothing left to end
	}
	c.links, c.tables = nil, nil
	if len(left) > 0 {
		return errors.New("tables of codes are left in the scratch schema and hold private rows; drop them: " +
			strings.Join(left, ", "))
	}
	return nil
}

// keptRows is a table of codes.
type keptRows struct {
	of   *Counting
	link *link
	name string
	rows int64
}

// Count implements relation.Kept.
func (k *keptRows) Count(ctx context.Context, keys []relation.Key, use func(key int, counts []int64) error) error {
	return k.of.dialect.Counts(k.name, k.rows, keys, k.link.asking(ctx, "the counts"), use)
}

// Keep implements relation.Kept.
func (k *keptRows) Keep(ctx context.Context, columns []relation.Named) (relation.Kept, error) {
	query, err := k.of.dialect.Over(k.name, columns)
	if err != nil {
		return nil, err
	}
	return k.of.keep(ctx, k.link, query)
}
