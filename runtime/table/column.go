package table

import (
	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/pipeline/domain"
)

// Rules that a cell can break. They never say what the cell is.
const (
	ruleNumber = "is not a number; accepted: decimal numbers, or a declared spelling of missing"
	ruleComma  = "is not a number: it holds a comma; accepted: a decimal point and no thousands separators, or the " +
		"form that the column declares by format, such as 1.234,5"
	ruleFinite  = "is not a finite number; list its spelling under missing if that is what it means"
	ruleWhole   = "is not a whole number; accepted: integers (4.0 and 1e+05 are), or declare the column numeric"
	ruleRange   = "is a whole number outside the 64-bit range"
	ruleRounded = "is a float of 2^53 or more, where different whole numbers are one; accepted: an integer type, or " +
		"utf8 text of them"
	ruleWide = "is a whole number beyond 2^53, which numeric rounds; declare the column integer"
	ruleDate = "is not a date; accepted: YYYY-MM-DD, or the form that the column declares by format, such as " +
		"DD.MM.YYYY"
	ruleDayForm  = "is not a date in the column's format, or a declared spelling of missing"
	ruleTimeForm = "is not a date or time in the column's format, or a declared spelling of missing"
	ruleMoment   = "is not a date-time; accepted: YYYY-MM-DDTHH:mm with or without seconds and without an offset from " +
		"UTC, or the form that the column declares by format"
	ruleZoned = "is not a date-time with an offset from UTC, such as Z or +02:00; accepted: YYYY-MM-DDTHH:mm:ssZ, or " +
		"a form without Z, declared by format, of cells that are in UTC"
	ruleTime = "is not a time of day; accepted: HH:mm with or without seconds, or the form that the column declares " +
		"by format"
	ruleSpan     = "is a date-time outside the years 0 to 9999, or a time outside its day"
	ruleForm     = "is not a number in the column's format, or a declared spelling of missing"
	ruleCategory = "is outside the declared categories; declare it, or set csv.unknown: missing and, on the column, " +
		"nullable: true"
	ruleUnknown = "is outside the declared categories, and csv.unknown: missing needs a column with nullable: true; " +
		"declare that, or the category"
	ruleMissing = "is missing, which the domain does not allow here; accepted: a value, or declare nullable: true"
)

// builder collects the cells of one column of a batch.
type builder interface {
	add(v []byte) (rule string) // "" where v is a value or allowed to be missing
	finish() arrow.Array        // and starts the next batch
}

// newBuilder makes the builder of a declared column with room for rows cells.
func newBuilder(c *domain.Column, d *dialect, rows int) builder {
	n := nulls{missing: newMissing(c, d), allowed: c.Nullable || len(c.Missing) > 0}
	switch {
	case c.Type.Coded():
		return &codes{nulls: n, lookup: newLookup(c), unknownNull: d.unknownNull, room: rows}
	case c.Type == domain.Numeric:
		return &floats{nulls: n, form: newForm(c), room: rows}
	case c.Type == domain.Text:
		return &texts{nulls: n, room: rows}
	}
	if c.Type.Calendar() {
		return &ints{nulls: n, calendar: newCalendar(c), room: rows}
	}
	return &ints{nulls: n, form: newForm(c), room: rows}
}

// nulls remembers where cells are missing.
type nulls struct {
	missing
	allowed bool
	at      []int32
}

func (n *nulls) null(row int) string {
	if !n.allowed {
		return ruleMissing
	}
	n.at = append(n.at, int32(row))
	return ""
}

// bitmap returns nil where nothing is missing.
func (n *nulls) bitmap(rows int) (*memory.Buffer, int) {
	if len(n.at) == 0 {
		return nil, 0
	}
	bits := make([]byte, (rows+7)/8)
	for i := range bits {
		bits[i] = 0xff
	}
	if rows%8 > 0 {
		bits[len(bits)-1] = 1<<(rows%8) - 1
	}
	for _, i := range n.at {
		bits[i/8] &^= 1 << (i % 8)
	}
	count := len(n.at)
	n.at = nil
	return memory.NewBufferBytes(bits), count
}

func (n *nulls) fixed(t arrow.DataType, rows int, values []byte) arrow.Array {
	valid, count := n.bitmap(rows)
	data := array.NewData(t, rows, []*memory.Buffer{valid, memory.NewBufferBytes(values)}, nil, count, 0)
	defer data.Release()
	return array.MakeFromData(data)
}

// form turns cells that are spelled in the form of their column into decimal numbers; nil leaves them as they are.
type form struct {
	domain.NumberForm
	plain []byte
}

func newForm(c *domain.Column) *form {
	if f, ok := c.NumberForm(); ok {
		return &form{NumberForm: f}
	}
	return nil
}

// number returns a cell as a decimal number, which lives until the next call.
func (f *form) number(v []byte) ([]byte, bool) {
	if f == nil {
		return v, true
	}
	ok := false
	f.plain, ok = f.AppendDecimal(f.plain[:0], v)
	return f.plain, ok
}

type floats struct {
	nulls
	form   *form
	room   int
	values []float64
}

func (f *floats) add(v []byte) string {
	if f.values == nil {
		f.values = make([]float64, 0, f.room)
	}
	if f.has(v) {
		f.values = append(f.values, 0)
		return f.null(len(f.values) - 1)
	}
	v, formed := f.form.number(v)
	if !formed {
		return ruleForm
	}
	x, ok := parseFloat(v)
	if !ok {
		return numberRule(v)
	}
	return f.put(x)
}

func (f *floats) put(x float64) string {
	f.values = append(f.values, x)
	if f.hasNumber(x) {
		f.values[len(f.values)-1] = 0
		return f.null(len(f.values) - 1)
	}
	return ""
}

func (f *floats) finish() arrow.Array {
	a := f.fixed(arrow.PrimitiveTypes.Float64, len(f.values), arrow.Float64Traits.CastToBytes(f.values))
	f.values = nil
	return a
}

type ints struct {
	nulls
	form     *form
	calendar *calendar // of a column of dates or times
	room     int
	values   []int64
}

func (n *ints) add(v []byte) string {
	if n.values == nil {
		n.values = make([]int64, 0, n.room)
	}
	if n.has(v) {
		n.values = append(n.values, 0)
		return n.null(len(n.values) - 1)
	}
	v, formed := n.form.number(v)
	if !formed {
		return ruleForm
	}
	x, ok := n.parse(v)
	if !ok {
		return n.rule(v)
	}
	return n.addInt(x)
}

func (n *ints) parse(v []byte) (int64, bool) {
	if n.calendar != nil {
		return n.calendar.parse(v)
	}
	return parseInt(v)
}

func (n *ints) rule(v []byte) string {
	if n.calendar != nil {
		return n.calendar.rule
	}
	if x, ok := exactNumber(v); ok && x.power >= 0 {
		return ruleRange
	}
	if _, ok := parseFloat(v); ok {
		return ruleWhole
	}
	return numberRule(v)
}

func (n *ints) finish() arrow.Array {
	a := n.fixed(arrow.PrimitiveTypes.Int64, len(n.values), arrow.Int64Traits.CastToBytes(n.values))
	n.values = nil
	return a
}

type codes struct {
	nulls
	lookup
	unknownNull bool // a value outside the categories is missing
	room        int
	values      []int32
}

func (c *codes) add(v []byte) string {
	if c.values == nil {
		c.values = make([]int32, 0, c.room)
	}
	code, known := c.find(v)
	if known {
		c.values = append(c.values, code)
		return ""
	}
	switch {
	case c.has(v):
	case !c.unknownNull:
		return ruleCategory
	case !c.allowed:
		return ruleUnknown
	}
	c.values = append(c.values, 0)
	return c.null(len(c.values) - 1)
}

func (c *codes) finish() arrow.Array {
	a := c.fixed(arrow.PrimitiveTypes.Int32, len(c.values), arrow.Int32Traits.CastToBytes(c.values))
	c.values = nil
	return a
}

type texts struct {
	nulls
	room    int
	offsets []int32
	bytes   []byte
}

func (t *texts) add(v []byte) string {
	if t.offsets == nil {
		t.offsets = append(make([]int32, 0, t.room+1), 0)
	}
	t.bytes = append(t.bytes, v...)
	t.offsets = append(t.offsets, int32(len(t.bytes)))
	if t.has(v) {
		return t.null(len(t.offsets) - 2)
	}
	return ""
}

func (t *texts) finish() arrow.Array {
	if t.offsets == nil {
		t.offsets = []int32{0}
	}
	rows := len(t.offsets) - 1
	valid, count := t.bitmap(rows)
	data := array.NewData(arrow.BinaryTypes.String, rows, []*memory.Buffer{valid,
		memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(t.offsets)), memory.NewBufferBytes(t.bytes)}, nil, count, 0)
	defer data.Release()
	t.offsets, t.bytes = nil, nil
	return array.MakeFromData(data)
}

// Growing allocates the buffers of Arrow so that one that grows a little at a time is
// seldom copied: a quarter more than is asked for is kept in hand.
//
// Why: the Parquet writer of Arrow 15 asks for a buffer some bytes larger at each run
// of levels of a nullable column (encoding.PooledBufferWriter.Reserve adds its offset
// to the capacity every time), and Go's allocator copies all of it each time: two
// thirds of the time of a column with missing values. What is written is the same.
// The pool of those buffers knows no other allocator than memory.DefaultAllocator, so a
// program sets that before it starts anything. The kernels of arrow/compute take what is
// in hand for a part of the buffer and must have another allocator.
type Growing struct{ memory.Allocator }

// Reallocate gives b size bytes, with the old ones in front.
func (g Growing) Reallocate(size int, b []byte) []byte {
	if size <= cap(b) {
		return b[:size]
	}
	larger := g.Allocate(size + size/4)[:size]
	copy(larger, b)
	return larger
}
