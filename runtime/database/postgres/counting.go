package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"sync"

	"github.com/jackc/pgx/v5/pgconn"

	"weir/pipeline/relation"
	"weir/runtime/database/sql"
)

// Counting is a relation.Session over the rows of a snapshot. What it keeps are temporary tables of codes, each on a
// connection of its own, with which it goes. It is safe for concurrent use.
type Counting struct {
	snapshot *Snapshot
	base     sql.Base
	dialect  sql.Dialect

	mu    sync.Mutex
	conns []*pgconn.PgConn

	trying sync.Mutex
	tries  *pgconn.PgConn // of every Try; nil before the first
}

// Counting prepares to compute from the table's columns. Columns are those that are read, with what their cells mean;
// of each unit, which the column at a place names, so many rows stay, all where maxRows is 0.
func (s *Snapshot) Counting(ctx context.Context, columns []sql.Stored, unit, maxRows int) (*Counting, error) {
	dialect := sql.Postgres()
	base, err := dialect.Base(sql.Table{From: s.Table.name(), Columns: columns, Unit: unit, MaxRows: maxRows})
	if err := errors.Join(err, s.canKeep(ctx)); err != nil {
		return nil, err
	}
	return &Counting{snapshot: s, base: base, dialect: dialect}, nil
}

// oldest is the first version of the server that has all that statements use.
const oldest = 12

// canKeep refuses a server or a role that cannot keep codes for the rounds of a run. Without them each round would
// compute all codes again, inside of one transaction.
func (s *Snapshot) canKeep(ctx context.Context) error {
	row, err := one(ctx, s.holder, "the server's settings", 4, `SELECT pg_catalog.current_setting('server_version_num'), pg_catalog.current_setting('server_encoding'),
  pg_catalog.has_database_privilege(pg_catalog.current_database(), 'TEMPORARY'), pg_catalog.pg_is_in_recovery()`)
	if err != nil {
		return err
	}
	var errs []error
	if version, err := strconv.Atoi(row[0]); err != nil || version < oldest*10000 {
		errs = append(errs, fmt.Errorf("server: is older than PostgreSQL %d, must be at least that for rows: stay", oldest))
	}
	if row[1] != "UTF8" {
		errs = append(errs, errors.New("server: the database is not encoded in UTF8, must be for rows: stay"))
	}
	if row[3] != "f" {
		errs = append(errs, errors.New("server: is a standby, must be the primary "+
			"for rows: stay, which makes temporary tables"))
	} else if row[2] != "t" {
		errs = append(errs,
			errors.New("role: cannot make temporary tables, in which codes are kept for the rounds of a run; "+
				"GRANT TEMPORARY ON DATABASE ... TO the role"))
	}
	return errors.Join(errs...)
}

// Content returns what tells the table's rows from all others, and which rules cells of it break. Each call is a
// transaction of its own.
func (c *Counting) Content(ctx context.Context) (content string, faults []sql.Fault, err error) {
	conn, err := c.snapshot.join(ctx)
	if err != nil {
		return "", nil, err
	}
	defer conn.Close(context.Background())
	row, err := one(ctx, conn, "the rows' content", c.base.Counted(), c.base.Content)
	if err != nil {
		return "", nil, err
	}
	return c.base.Read(row)
}

// RowHashes returns the least hashes of the table's distinct rows, at most the given number, ascending.
func (c *Counting) RowHashes(ctx context.Context, most int) ([]uint64, error) {
	conn, err := c.snapshot.join(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close(context.Background())
	h := sql.NewHashed(most)
	err = answers(ctx, conn, "the hashes of the rows", c.base.Hashes(c.dialect, most), h.Add)
	return h.List(), err
}

// connect opens a connection that lives as long as the session. It may write, which its role cannot, but for temporary
// tables.
func (c *Counting) connect(ctx context.Context) (*pgconn.PgConn, error) {
	conn, err := connect(ctx, c.snapshot.config, c.snapshot.place.Connection)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	c.conns = append(c.conns, conn)
	c.mu.Unlock()
	for _, sql := range append(settings(c.snapshot.place.Timeout), "SET work_mem = '64MB'") {
		if err := run(ctx, conn, "the session", sql); err != nil {
			return nil, err
		}
	}
	return conn, nil
}

// Sample hands on the cells of at most the given number of the rows that stay, nil where one is missing: the one way by
// which rows leave, for whoever may see them.
func (c *Counting) Sample(ctx context.Context, most int64, use func(cells []*string) error) error {
	conn, err := c.snapshot.join(ctx)
	if err != nil {
		return err
	}
	defer conn.Close(context.Background())
	return answers(ctx, conn, "the sample", c.dialect.Sample(c.base, most), func(row []string) error {
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
	conn, err := c.connect(ctx)
	if err != nil {
		return nil, err
	}
	return c.keep(ctx, conn, 1, query, c.snapshot.importStatement())
}

// keep writes the rows of a query into a temporary table. The transaction that reads them can write nothing else.
func (c *Counting) keep(ctx context.Context, conn *pgconn.PgConn, number int, query string, first ...string) (*keptRows,
	error) {
	k := &keptRows{of: c, conn: conn, number: number}
	statements := append([]string{"CREATE TEMPORARY TABLE " + k.name() + " AS " + query + " WITH NO DATA",
		"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"}, first...)
	for _, sql := range statements {
		if err := run(ctx, conn, "the table of codes", sql); err != nil {
			return nil, err
		}
	}
	results, err := conn.Exec(ctx, "INSERT INTO "+k.name()+" "+query).ReadAll()
	if err := refusal(ctx, "the codes of the rows", err); err != nil {
		return nil, err
	}
	if len(results) != 1 {
		return nil, misshapen("the codes of the rows")
	}
	k.rows = results[0].CommandTag.RowsAffected()
	return k, run(ctx, conn, "the codes of the rows", "COMMIT")
}

// Try implements relation.Session.
func (c *Counting) Try(ctx context.Context, kind relation.Type, values []float64, list []relation.Expr) ([][]int64,
	error) {
	c.trying.Lock()
	defer c.trying.Unlock()
	if c.tries == nil {
		conn, err := c.connect(ctx)
		if err != nil {
			return nil, err
		}
		c.tries = conn
	}
	return c.dialect.Tries(kind, values, list, asking(ctx, c.tries, "the test of cells"))
}

// asking asks for numbers as one question after the other, which an error calls so.
func asking(ctx context.Context, conn *pgconn.PgConn, what string) sql.Ask {
	return func(statement string, _ int, add func([]int64) error) error {
		return numbers(ctx, conn, what, statement, add)
	}
}

// numbers hands on the rows of a query, whole numbers.
func numbers(ctx context.Context, conn *pgconn.PgConn, what, query string, add func([]int64) error) error {
	return answers(ctx, conn, what, query, func(row []string) error {
		list, err := sql.Numbers(row)
		if err != nil {
			return err
		}
		return add(list)
	})
}

// answers hands on the rows of a query, as text; null is "".
func answers(ctx context.Context, conn *pgconn.PgConn, what, query string, use func([]string) error) error {
	rows := conn.ExecParams(ctx, query, nil, nil, nil, nil)
	var wrong error
	for wrong == nil && rows.NextRow() {
		row := make([]string, len(rows.Values()))
		for i, cell := range rows.Values() {
			row[i] = string(cell)
		}
		wrong = use(row)
	}
	_, err := rows.Close()
	return errors.Join(wrong, refusal(ctx, what, err))
}

// Close ends the connections, and with them all that they keep.
func (c *Counting) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range c.conns {
		_ = conn.Close(context.Background()) // one that is broken has nothing left to end
	}
	c.conns = nil
	return nil
}

// keptRows is a temporary table.
type keptRows struct {
	of     *Counting
	conn   *pgconn.PgConn
	number int // of the connection's tables
	rows   int64
}

func (k *keptRows) name() string { return fmt.Sprintf("pg_temp.weir_kept_%d", k.number) }

// Count implements relation.Kept.
func (k *keptRows) Count(ctx context.Context, keys []relation.Key, use func(key int, counts []int64) error) error {
	return k.of.dialect.Counts(k.name(), k.rows, keys, asking(ctx, k.conn, "the counts"), use)
}

// Keep implements relation.Kept.
func (k *keptRows) Keep(ctx context.Context, columns []relation.Named) (relation.Kept, error) {
	query, err := k.of.dialect.Over(k.name(), columns)
	if err != nil {
		return nil, err
	}
	return k.of.keep(ctx, k.conn, k.number+1, query)
}
