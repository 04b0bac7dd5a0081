package duckdb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"weir/pipeline/relation"
	"weir/runtime/database/sql"
)

// Counting is a relation.Session: a process that lives until it is closed, and answers with whole numbers. What it
// keeps lies in its memory and goes with it. It is safe for concurrent use; one statement runs at a time.
type Counting struct {
	name    string
	base    sql.Base
	dialect sql.Dialect

	mu      sync.Mutex
	process *process
	cells   *cells
	row     []cell
	asked   int64 // statements that were sent
	kept    int   // tables
	ended   error // why there is no process any more
}

// Counting starts a process that computes from the table's columns. Columns are those that are read, with what their
// cells mean; of each unit, which the column at a place names, so many rows stay, all where maxRows is 0.
func (s *Session) Counting(columns []sql.Stored, unit, maxRows int) (*Counting, error) {
	dialect := sql.DuckDB()
	base, err := dialect.Base(sql.Table{From: s.fromClause(), Columns: columns, Unit: unit, MaxRows: maxRows})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	p, err := s.launch(context.Background(), nil)
	if err != nil {
		return nil, err
	}
	c := &Counting{name: s.name, base: base, dialect: dialect, process: p, cells: newCells(p.out)}
	if _, err := io.WriteString(p.in, strings.Join(s.settings(), ";\n")+";\n"); err != nil {
		return nil, c.failed(err)
	}
	return c, nil
}

// failed says why the process gave no answer, and ends it.
func (c *Counting) failed(err error) error {
	if errors.Is(err, io.EOF) {
		if ended := c.process.end(); ended != nil {
			return ended
		}
	}
	c.process.stop()
	return fmt.Errorf("%s: %w", c.name, err)
}

// tell sends statements that have no answer.
func (c *Counting) tell(ctx context.Context, statement string) error {
	return c.ask(ctx, statement, 2, func([]string) error { return errBroken })
}

// ask sends a statement and hands on the rows of its answer, of the given number of cells, 2 or more. Behind the last
// of them comes a row that begins with -1, as none of an answer does, and the statement's number. A context that ends
// ends the process.
func (c *Counting) ask(ctx context.Context, statement string, width int, use func([]string) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended != nil {
		return c.ended
	}
	stop := context.AfterFunc(ctx, func() { _ = c.process.cmd.Process.Kill() }) // an error says that it has ended
	defer stop()
	c.asked++
	last := append([]string{"-1", fmt.Sprint(c.asked)}, slices.Repeat([]string{"0"}, width-2)...)
	go io.WriteString(c.process.in, statement+";\n"+copied("SELECT "+strings.Join(last, ", "))+";\n")
	err := c.answer(width, last, use)
	if err != nil {
		err = c.failed(err)
	}
	if err != nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	c.ended = err
	return err
}

// answer reads rows up to the last.
func (c *Counting) answer(width int, last []string, use func([]string) error) error {
	for {
		row, err := c.cells.row(c.row, width)
		if err != nil {
			return err
		}
		c.row = row
		words := make([]string, width)
		for i, cell := range row {
			if cell.missing {
				return errBroken
			}
			words[i] = string(cell.text)
		}
		if slices.Equal(words, last) {
			return nil
		}
		if err := use(words); err != nil {
			return err
		}
	}
}

// numbers hands on rows of whole numbers.
func (c *Counting) numbers(ctx context.Context, query string, width int, add func([]int64) error) error {
	return c.ask(ctx, copied(query), width, func(row []string) error {
		list, err := sql.Numbers(row)
		if err != nil {
			return err
		}
		return add(list)
	})
}

// Content returns what tells the table's rows from all others, and which rules cells of it break.
func (c *Counting) Content(ctx context.Context) (content string, faults []sql.Fault, err error) {
	var rows [][]string
	err = c.ask(ctx, copied(c.base.Content), c.base.Counted(), func(row []string) error {
		rows = append(rows, row)
		return nil
	})
	if err == nil && len(rows) != 1 {
		err = fmt.Errorf("%s: %w", c.name, errBroken)
	}
	if err != nil {
		return "", nil, err
	}
	return c.base.Read(rows[0])
}

// RowHashes returns the least hashes of the table's distinct rows, at most the given number, ascending.
func (c *Counting) RowHashes(ctx context.Context, most int) ([]uint64, error) {
	h := sql.NewHashed(most)
	err := c.ask(ctx, copied(c.base.Hashes(c.dialect, most)), sql.HashCells, h.Add)
	return h.List(), err
}

// Sample hands on the cells of at most the given number of the rows that stay, nil where one is missing: the one way by
// which rows leave, for whoever may see them.
func (c *Counting) Sample(ctx context.Context, most int64, use func(cells []*string) error) error {
	return c.ask(ctx, copied(c.dialect.Sample(c.base, most)), c.base.Sampled(), func(row []string) error {
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
	return c.keep(ctx, query)
}

// keep puts the rows of a query into a table.
func (c *Counting) keep(ctx context.Context, query string) (relation.Kept, error) {
	k := &keptRows{of: c, name: c.next()}
	if err := c.tell(ctx, "CREATE TEMP TABLE "+k.name+" AS "+query); err != nil {
		return nil, err
	}
	return k, c.numbers(ctx, "SELECT 0, count(*) FROM "+k.name, 2, func(row []int64) error {
		k.rows = row[1]
		return nil
	})
}

// next names a table.
func (c *Counting) next() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept++
	return fmt.Sprintf("temp.main.weir_kept_%d", c.kept)
}

// Try implements relation.Session.
func (c *Counting) Try(ctx context.Context, of relation.Type, values []float64, list []relation.Expr) ([][]int64,
	error) {
	return c.dialect.Tries(of, values, list, c.asking(ctx))
}

// asking asks for numbers as one question after the other.
func (c *Counting) asking(ctx context.Context) sql.Ask {
	return func(statement string, cells int, add func([]int64) error) error {
		return c.numbers(ctx, statement, cells, add)
	}
}

// Close ends the process, and with it all that it kept.
func (c *Counting) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended == nil {
		c.ended = fmt.Errorf("%s: DuckDB is closed", c.name)
		c.process.stop()
	}
	return nil
}

// keptRows is a table in the memory of the process.
type keptRows struct {
	of   *Counting
	name string
	rows int64
}

// Count implements relation.Kept.
func (k *keptRows) Count(ctx context.Context, keys []relation.Key, use func(key int, counts []int64) error) error {
	return k.of.dialect.Counts(k.name, k.rows, keys, k.of.asking(ctx), use)
}

// Keep implements relation.Kept.
func (k *keptRows) Keep(ctx context.Context, columns []relation.Named) (relation.Kept, error) {
	query, err := k.of.dialect.Over(k.name, columns)
	if err != nil {
		return nil, err
	}
	return k.of.keep(ctx, query)
}
