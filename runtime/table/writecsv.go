package table

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	plaintext "weir/internal/plaintext"
	"weir/pipeline"
	"weir/pipeline/domain"
)

// Endings implements Writer.
func (textFormat) Endings() []string { return []string{".csv", ".tsv"} }

// Usual implements Writer.
func (textFormat) Usual() bool { return true }

// MediaType implements Writer.
func (textFormat) MediaType() string { return "text/csv" }

// Text implements Writer.
func (textFormat) Text() bool { return true }

// Write implements Writer: the source's names and category spellings, numbers with the decimals of their step (all
// decimals where a value is not a multiple of it), dates and times in the form of their column, else ISO 8601, missing
// cells as the column's first spelling of missing that no value has (domain.Column.Apart), or empty. Values are quoted
// where RFC 4180 needs it; lines end with \n.
func (textFormat) Write(ctx context.Context, w io.Writer, name string, t pipeline.Table, style Style) error {
	d, err := newDialect(name, style.CSV)
	if err != nil {
		return err
	}
	c := &csvWriter{w: w, dialect: d, domain: t.Domain, safe: style.Spreadsheet}
	if d.header {
		c.header()
	}
	for r, err := range t.Open(ctx) {
		if err != nil {
			return err
		}
		if err := c.record(r); err != nil {
			return err
		}
	}
	return c.flush()
}

type csvWriter struct {
	w       io.Writer
	dialect *dialect
	domain  *domain.Domain
	safe    bool // for spreadsheets
	buf     []byte
	cell    []byte
	known   []spelt // of each column
}

// flushBytes is when the buffer is handed to the writer.
const flushBytes = 1 << 18

func (c *csvWriter) header() {
	for i, col := range c.domain.Columns {
		c.separate(i)
		c.cell = append(c.cell[:0], col.Name...)
		c.disarm()
		c.put(i)
	}
	c.buf = append(c.buf, '\n')
}

// disarm makes text of what a spreadsheet would compute.
func (c *csvWriter) disarm() {
	if c.safe && plaintext.Formula(string(c.cell)) {
		c.cell = slices.Insert(c.cell, 0, '\'')
	}
}

func (c *csvWriter) separate(i int) {
	if i > 0 {
		c.buf = append(c.buf, c.dialect.delim)
	}
}

// put appends the cell, quoted if need be. A lone empty cell is quoted: an
// empty line would be no record.
func (c *csvWriter) put(i int) {
	q := c.dialect.quote
	if !c.mustQuote(i) {
		c.buf = append(c.buf, c.cell...)
		return
	}
	c.buf = append(c.buf, q)
	for _, b := range c.cell {
		if b == q {
			c.buf = append(c.buf, q)
		}
		c.buf = append(c.buf, b)
	}
	c.buf = append(c.buf, q)
}

func (c *csvWriter) mustQuote(i int) bool {
	v, d := c.cell, c.dialect
	if len(v) == 0 {
		return len(c.domain.Columns) == 1
	}
	if v[0] == ' ' || v[len(v)-1] == ' ' || i == 0 && len(d.comment) > 0 && bytes.HasPrefix(v, d.comment) {
		return true
	}
	for _, b := range v {
		if b == d.delim || b == d.quote || b == '\n' || b == '\r' {
			return true
		}
	}
	return false
}

func (c *csvWriter) record(r arrow.Record) error {
	columns := make([]speller, len(c.domain.Columns))
	if c.known == nil {
		c.known = make([]spelt, len(columns))
	}
	for i := range columns {
		s, err := newSpeller(&c.domain.Columns[i], r.Column(i), c.dialect)
		if err != nil {
			return err
		}
		columns[i] = s
	}
	for row := range int(r.NumRows()) {
		for i := range columns {
			c.separate(i)
			if err := c.spell(&columns[i], i, row); err != nil {
				return err
			}
		}
		c.buf = append(c.buf, '\n')
		if len(c.buf) >= flushBytes {
			if err := c.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// spell appends a cell, in the bytes that it had before where they are known.
func (c *csvWriter) spell(s *speller, column, row int) (err error) {
	known := c.known[column].place(s, row)
	if known != nil && known.size > 0 {
		c.buf = append(c.buf, known.text[:known.size-1]...)
		return nil
	}
	if c.cell, err = s.spell(c.cell[:0], row); err != nil {
		return err
	}
	if s.text {
		c.disarm()
	}
	from := len(c.buf)
	c.put(column)
	known.learn(c.buf[from:])
	return nil
}

func (c *csvWriter) flush() error {
	_, err := c.w.Write(c.buf)
	c.buf = c.buf[:0]
	return err
}

// speller writes the cells of one column of a record.
type speller struct {
	column  *domain.Column
	array   arrow.Array
	write   func(b []byte, i int) ([]byte, bool)
	missing string
	codes   missing
	text    bool               // categories and open text
	bits    func(i int) uint64 // which tell values apart; nil of text
}

func newSpeller(c *domain.Column, a arrow.Array, d *dialect) (speller, error) {
	column, unambiguous := *c, dialect{missing: c.Unambiguous(d.missing)}
	column.Missing = c.Unambiguous(c.Missing)
	s := speller{column: c, array: a, codes: newMissing(&column, &unambiguous), text: c.Type.Coded() ||
		c.Type == domain.Text}
	switch {
	case len(column.Missing) > 0:
		s.missing = column.Missing[0]
	case len(unambiguous.missing) > 0:
		s.missing = unambiguous.missing[0]
	}
	s.bits = bitsOf(a)
	if s.write = writerOf(c, a); s.write == nil {
		return s, fmt.Errorf("column %q: is %s in memory, which no column of type %s is", c.Name, a.DataType(), c.Type)
	}
	return s, nil
}

// spell refuses what would be read back as something else.
func (s *speller) spell(b []byte, i int) ([]byte, error) {
	if s.array.IsNull(i) || codesMissing(s.column, s.array, i) {
		return append(b, s.missing...), nil
	}
	b, ok := s.write(b, i)
	if !ok {
		return b, fmt.Errorf("column %q: holds a value that its domain cannot spell (a code without category, NaN, decimals "+
			"where its form has none, a date beyond year 9999, or a time outside its day)", s.column.Name)
	}
	if s.codes.has(b) && !s.column.Type.Coded() {
		return b, fmt.Errorf("column %q: holds a value that would be read back as missing, must have spellings of "+
			"missing outside its bounds", s.column.Name)
	}
	return b, nil
}

// codesMissing tells whether a value is the code that an encoded column has for missing ones,
// behind the codes of its categories.
func codesMissing(c *domain.Column, a arrow.Array, i int) bool {
	codes, is := a.(*array.Int32)
	return is && c.Encoding != nil && c.Encoding.Form == domain.OneHot && int(codes.Value(i)) == len(categories(c))
}

func writerOf(c *domain.Column, a arrow.Array) func(b []byte, i int) ([]byte, bool) {
	switch v := a.(type) {
	case *array.Int32:
		return categoryWriter(c, v)
	case *array.Int64:
		if c.Type.Calendar() {
			form := newCalendar(c)
			form.moments = c.MomentForm()
			return func(b []byte, i int) ([]byte, bool) { return form.write(b, v.Value(i)) }
		}
		return formed(c, func(b []byte, i int) ([]byte, bool) { return strconv.AppendInt(b, v.Value(i), 10), true })
	case *array.Float64:
		places := decimals(c.Step)
		return formed(c, func(b []byte, i int) ([]byte, bool) { return appendFloat(b, v.Value(i), places) })
	case *array.Float32:
		return func(b []byte, i int) ([]byte, bool) {
			x := float64(v.Value(i))
			return strconv.AppendFloat(b, x, 'g', -1, 32), !math.IsNaN(x) && !math.IsInf(x, 0)
		}
	case *array.String:
		return func(b []byte, i int) ([]byte, bool) { return append(b, v.Value(i)...), true }
	}
	return nil
}

// formed writes numbers in the form of their column. Exponents, which no form has, are for a column without one.
func formed(c *domain.Column, write func(b []byte, i int) ([]byte, bool)) func(b []byte, i int) ([]byte, bool) {
	form, has := c.NumberForm()
	if !has || c.Encoding != nil {
		return write
	}
	var plain []byte
	return func(b []byte, i int) ([]byte, bool) {
		ok := false
		plain, ok = write(plain[:0], i)
		if at := bytes.IndexByte(plain, 'e'); at >= 0 {
			x, _ := parseFloat(plain)
			plain = strconv.AppendFloat(plain[:0], x, 'f', -1, 64)
		}
		whole := form.Decimal != "" || bytes.IndexByte(plain, '.') < 0
		return form.Append(b, plain), ok && whole
	}
}

func categoryWriter(c *domain.Column, v *array.Int32) func(b []byte, i int) ([]byte, bool) {
	list := categories(c)
	return func(b []byte, i int) ([]byte, bool) {
		code := v.Value(i)
		if code < 0 || int(code) >= len(list) {
			return b, false
		}
		return append(b, list[code]...), true
	}
}

// categories returns the categories of a coded column; words of a boolean are 0 and 1 by default.
func categories(c *domain.Column) []string {
	if c.Type == domain.Boolean && len(c.Categories) == 0 {
		return []string{"0", "1"}
	}
	return c.Categories
}

// decimals returns how many digits after the point the multiples of step have; -1
// where there is no step, or none that is a decimal number of 9 digits.
func decimals(step float64) int {
	if step <= 0 {
		return -1
	}
	for places := range 10 {
		if x := float64(step * pow10[places]); math.Abs(x-math.Round(x)) < 1e-9*x {
			return places
		}
	}
	return -1
}

// appendFloat writes x with the given decimals if that is x, else with as many
// digits as tell it from its neighbours.
func appendFloat(b []byte, x float64, places int) ([]byte, bool) {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return b, false
	}
	if places >= 0 && math.Abs(x) < 1e15 && math.Round(x*pow10[places])/pow10[places] == x {
		return strconv.AppendFloat(b, x, 'f', places, 64), true
	}
	form := byte('f')
	if a := math.Abs(x); a != 0 && (a < 1e-6 || a >= 1e21) {
		form = 'e' // the range in which JSON and JavaScript write decimals
	}
	return strconv.AppendFloat(b, x, form, -1, 64), true
}

// spelt holds cells of one column as they stand in a file, by the bits of their values: most columns have few values,
// and to spell one takes longer than to copy it. Each value has one place, where the last value of that place is.
type spelt [1 << 10]speltCell

// speltCell is one cell; longer ones are spelled each time.
type speltCell struct {
	bits uint64
	size uint8 // of the text plus 1; 0: nothing is here
	text [23]byte
}

// place returns the place of a value, empty where another value was there; nil where values are not found by bits, or
// the cell is missing.
func (s *spelt) place(sp *speller, row int) *speltCell {
	if sp.bits == nil || sp.array.IsNull(row) {
		return nil
	}
	bits := sp.bits(row)
	cell := &s[bits*0x9e3779b97f4a7c15>>54] // the upper bits of a product with 2^64 over the golden ratio
	if cell.bits != bits {
		cell.bits, cell.size = bits, 0
	}
	return cell
}

// learn keeps the text of the value whose place this is.
func (c *speltCell) learn(text []byte) {
	if c != nil && len(text) <= len(c.text) {
		c.size = uint8(copy(c.text[:], text) + 1)
	}
}

// bitsOf tells the values of an array apart; nil where they have more than 64 bits.
func bitsOf(a arrow.Array) func(i int) uint64 {
	switch a := a.(type) {
	case *array.Int32:
		values := a.Int32Values()
		return func(i int) uint64 { return uint64(values[i]) }
	case *array.Int64:
		values := a.Int64Values()
		return func(i int) uint64 { return uint64(values[i]) }
	case *array.Float64:
		values := a.Float64Values()
		return func(i int) uint64 { return math.Float64bits(values[i]) }
	case *array.Float32:
		values := a.Float32Values()
		return func(i int) uint64 { return uint64(math.Float32bits(values[i])) }
	}
	return nil
}
