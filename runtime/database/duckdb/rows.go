package duckdb

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/privacy"
)

// batchRows is how many rows a record has at most.
const batchRows = 1 << 16

// Rows is one reading of some columns, in the order of the files and of the rows in them.
type Rows struct {
	process *process
	cells   *cells
	sum     hash.Hash
	builder *array.RecordBuilder
	adders  []func([]byte) error
	row     []cell
	columns []Column
	done    bool
}

// Rows starts a reading of columns.
func (s *Session) Rows(ctx context.Context, columns []Column) (*Rows, error) {
	fields, spelled := make([]arrow.Field, len(columns)), make([]string, len(columns))
	for i, c := range columns {
		fields[i] = arrow.Field{Name: c.Name, Type: storedAs(c.Type).arrow, Nullable: true}
		spelled[i] = c.expression()
	}
	p, err := s.start(ctx, copied("SELECT "+strings.Join(spelled, ", ")+" FROM "+s.fromClause()))
	if err != nil {
		return nil, err
	}
	r := &Rows{process: p, sum: sha256.New(), columns: columns}
	r.cells = newCells(io.TeeReader(p.out, r.sum))
	r.builder = array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	for i := range columns {
		r.adders = append(r.adders, adder(r.builder.Field(i)))
	}
	return r, nil
}

// Next returns the next record; io.EOF behind the last, once the process has ended well.
func (r *Rows) Next() (arrow.Record, error) {
	if r.done {
		return nil, io.EOF
	}
	for n := range batchRows {
		row, err := r.cells.row(r.row, len(r.adders))
		if errors.Is(err, io.EOF) {
			return r.last(n)
		}
		if err != nil {
			return nil, r.failed(err)
		}
		if r.row, err = row, r.add(row); err != nil {
			return nil, err
		}
	}
	return r.builder.NewRecord(), nil
}

// last returns the record of the last n rows.
func (r *Rows) last(n int) (arrow.Record, error) {
	if err := r.process.end(); err != nil {
		return nil, err
	}
	if r.done = true; n == 0 {
		return nil, io.EOF
	}
	return r.builder.NewRecord(), nil
}

// failed says why the output is broken off, where the process knows.
func (r *Rows) failed(err error) error {
	if ended := r.process.end(); ended != nil {
		return ended
	}
	return fmt.Errorf("%s: %w", r.process.name, err)
}

func (r *Rows) add(row []cell) error {
	for i, c := range row {
		if c.missing {
			r.builder.Field(i).AppendNull()
		} else if err := r.adders[i](c.text); err != nil {
			return fmt.Errorf("%s: column %q: %w", r.process.name, r.columns[i].Name, err)
		}
	}
	return nil
}

// Sum returns a digest of all rows, behind the last one.
func (r *Rows) Sum() string { return privacy.DigestHash(r.sum) }

// Close ends the reading.
func (r *Rows) Close() {
	r.process.stop()
	r.builder.Release()
}

// Digest reads all rows of columns, and returns what Rows.Sum would.
func (s *Session) Digest(ctx context.Context, columns []Column) (string, error) {
	r, err := s.Rows(ctx, columns)
	if err != nil {
		return "", err
	}
	defer r.Close()
	if _, err := io.Copy(io.Discard, r.cells.in); err != nil {
		return "", r.failed(errBroken)
	}
	return r.Sum(), r.process.end()
}
