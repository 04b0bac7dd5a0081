package duckdb

import (
	"bufio"
	"errors"
	"io"
)

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
