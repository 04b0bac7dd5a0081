package duckdb

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"math/big"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/decimal128"
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

// errBroken is output that DuckDB does not write.
var errBroken = errors.New("the output of DuckDB: ends early or has other columns than were asked for")

// copied returns the statement that writes the rows of a query as cells reads them: every value in double quotes, a
// missing one nothing at all.
func copied(query string) string {
	return "COPY (" + query + ") TO '/dev/stdout' " +
		"(FORMAT csv, HEADER false, DELIMITER ',', QUOTE '\"', ESCAPE '\"', FORCE_QUOTE *, NULLSTR '')"
}

// cell is a value; a missing one has none.
type cell struct {
	text    []byte // valid until the next row is read
	missing bool
}

// cells reads what copied writes.
type cells struct {
	in   *bufio.Reader
	buf  []byte
	ends []int
}

func newCells(r io.Reader) *cells { return &cells{in: bufio.NewReaderSize(r, 1<<18)} }

// row reads a row of n cells; io.EOF behind the last one.
func (c *cells) row(row []cell, n int) ([]cell, error) {
	row, c.buf, c.ends = row[:0], c.buf[:0], c.ends[:0]
	for i := range n {
		missing, last, err := c.value()
		if err == io.EOF && i == 0 {
			return nil, io.EOF
		}
		if err == io.EOF || err == nil && last != (i == n-1) {
			err = errBroken
		}
		if err != nil {
			return nil, err
		}
		row, c.ends = append(row, cell{missing: missing}), append(c.ends, len(c.buf))
	}
	from := 0
	for i, end := range c.ends {
		row[i].text, from = c.buf[from:end], end
	}
	return row, nil
}

// value appends a value to the buffer; last says that a line ends behind it.
func (c *cells) value() (missing, last bool, err error) {
	b, err := c.in.ReadByte()
	if err != nil {
		return false, false, err
	}
	if b != '"' {
		last, err = endsLine(b)
		return true, last, err
	}
	for {
		part, err := c.in.ReadSlice('"')
		c.buf = append(c.buf, part...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil {
			return false, false, errBroken
		}
		if b, err = c.in.ReadByte(); err != nil {
			return false, false, errBroken
		}
		if b != '"' { // else a quote of the value, which is written twice
			c.buf = c.buf[:len(c.buf)-1]
			last, err = endsLine(b)
			return false, last, err
		}
	}
}

// endsLine reports whether what stands behind a value ends the line.
func endsLine(b byte) (last bool, err error) {
	if b != ',' && b != '\n' {
		return false, errBroken
	}
	return b == '\n', nil
}

// errInfinite is a value that no file can hold.
var errInfinite = errors.New("holds an infinite date or timestamp, must hold none; " +
	"make it missing in the table, or in a view of it")

// adder returns how the spelling of a value is appended to a column of a type that storedAs names.
func adder(b array.Builder) func([]byte) error {
	switch b := b.(type) {
	case *array.StringBuilder:
		return func(v []byte) error { b.Append(string(v)); return nil }
	case *array.BooleanBuilder:
		return func(v []byte) error { b.Append(string(v) == "true"); return nil }
	case *array.Float64Builder:
		return func(v []byte) error {
			x, err := strconv.ParseFloat(string(v), 64)
			b.Append(x)
			return broken(err)
		}
	case *array.Uint64Builder:
		return func(v []byte) error {
			x, err := strconv.ParseUint(string(v), 10, 64)
			b.Append(x)
			return broken(err)
		}
	case *array.Decimal128Builder:
		return func(v []byte) error { return addDecimal(b, v) }
	}
	return wholeAdder(b)
}

// wholeAdder returns the adder of what crosses as a whole number.
func wholeAdder(b array.Builder) func([]byte) error {
	put := func(int64) {}
	switch b := b.(type) {
	case *array.Int64Builder:
		put = b.Append
	case *array.Date32Builder:
		put = func(x int64) { b.Append(arrow.Date32(x)) }
	case *array.TimestampBuilder:
		put = func(x int64) { b.Append(arrow.Timestamp(x)) }
	case *array.Time64Builder:
		put = func(x int64) { b.Append(arrow.Time64(x)) }
	default: // a type that is not read, which nobody asks for
		return func([]byte) error { return errBroken }
	}
	return func(v []byte) error {
		if string(v) == infinite {
			return errInfinite
		}
		x, err := strconv.ParseInt(string(v), 10, 64)
		put(x)
		return broken(err)
	}
}

// broken hides an error that quotes a cell.
func broken(err error) error {
	if err != nil {
		return errBroken
	}
	return nil
}

// addDecimal appends a number that is spelled with all digits of its scale.
func addDecimal(b *array.Decimal128Builder, v []byte) error {
	digits, ok := new(big.Int).SetString(strings.Replace(string(v), ".", "", 1), 10)
	if !ok {
		return errBroken
	}
	b.Append(decimal128.FromBigInt(digits))
	return nil
}
