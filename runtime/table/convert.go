package table

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	plaintext "weir/internal/plaintext"
	"weir/pipeline/domain"
)

// accepted lists the Arrow types that a declared type is read from; only casts
// that cannot change a value are among them. Text is read as CSV is.
func accepted(c *domain.Column) string {
	switch {
	case c.Type == domain.Numeric:
		return "a float, integer or decimal type, or utf8 text of numbers"
	case c.Type == domain.Integer:
		return "an integer type, a float or decimal type of whole numbers, or utf8 text of them"
	case c.Type == domain.Date:
		return "date32, date64, or utf8 text of YYYY-MM-DD"
	case c.Type == domain.Datetime && c.Zone != "":
		return "a timestamp with a zone, or utf8 text of date-times; for one without a zone leave zone out"
	case c.Type == domain.Datetime:
		return "a timestamp without a zone, date32, date64, or utf8 text of date-times; for one with a zone declare zone: UTC"
	case c.Type == domain.Time:
		return "time32, time64, or utf8 text of times"
	case c.Type == domain.Text:
		return "utf8, or a dictionary of it"
	}
	return "utf8, a dictionary of it, bool, or numbers spelled as the categories"
}

func accepts(c *domain.Column, stored arrow.DataType) bool {
	id := stored.ID()
	number := arrow.IsInteger(id) || id == arrow.FLOAT32 || id == arrow.FLOAT64 || id == arrow.DECIMAL128
	day := id == arrow.DATE32 || id == arrow.DATE64
	switch {
	case ofText(stored), id == arrow.NULL: // all missing
		return true
	case c.Type == domain.Numeric || c.Type == domain.Integer:
		return number
	case c.Type == domain.Date:
		return day
	case c.Type == domain.Datetime:
		return id == arrow.TIMESTAMP && zoned(stored) == (c.Zone != "") || day && c.Zone == ""
	case c.Type == domain.Time:
		return id == arrow.TIME32 || id == arrow.TIME64
	case c.Type == domain.Text:
		return false
	}
	return number || id == arrow.BOOL
}

// readable reports whether columns of some declared type are read from a stored one.
func readable(from arrow.DataType) bool {
	_, is := declarable(from)
	return is
}

// declarable returns the plainest column that reads a stored type, whatever it holds; ok is false where none does.
func declarable(stored arrow.DataType) (c domain.Column, ok bool) {
	for _, c := range []domain.Column{{Type: domain.Text}, {Type: domain.Date}, {Type: domain.Datetime, Step: 1},
		{Type: domain.Datetime, Step: 1, Zone: "UTC"}, {Type: domain.Time, Step: 1},
		{Type: domain.Integer}, {Type: domain.Boolean}} {
		if accepts(&c, stored) {
			return c, true
		}
	}
	return domain.Column{}, false
}

// ofText reports a column of text, or of a dictionary of it.
func ofText(t arrow.DataType) bool {
	if d, ok := t.(*arrow.DictionaryType); ok {
		t = d.ValueType
	}
	return t.ID() == arrow.STRING || t.ID() == arrow.LARGE_STRING || t.ID() == arrow.STRING_VIEW
}

// checkTypes reports every column whose stored type cannot be the declared one.
func checkTypes(s *arrow.Schema, l layout, d *domain.Domain, csv *dialect, p *problems) {
	for i, column := range l {
		if column < 0 {
			continue
		}
		c := d.Columns[column]
		if f := s.Field(i); !accepts(&c, f.Type) {
			p.add(0, c.Name, fmt.Sprintf("is stored as %s, which is not %s; accepted: %s", f.Type, c.Type, accepted(&c)))
		} else if f.Type.ID() == arrow.BOOL && !csv.unknownNull && !spellsFlags(&c, csv) {
			p.add(0, c.Name, flagsUnspelled(&c))
		}
	}
}

// spellsFlags reports whether a column has a category that is spelled, or called by an alias, false or true.
func spellsFlags(c *domain.Column, csv *dialect) bool {
	b, ok := newBuilder(c, csv, 1).(*codes)
	if !ok {
		return true
	}
	_, no := b.find([]byte("false"))
	_, yes := b.find([]byte("true"))
	return no || yes
}

// flagsUnspelled says how the categories of a stored boolean are declared.
func flagsUnspelled(c *domain.Column) string {
	aliases := "such as {no: [\"false\"], yes: [\"true\"]}"
	if l := c.Categories; len(l) == 2 {
		aliases = fmt.Sprintf("such as {%s: [\"false\"], %s: [\"true\"]}, the right way round", plaintext.YAML(l[0]),
			plaintext.YAML(l[1]))
	}
	return "is stored as bool, whose values are false and true, and no category is spelled so; declare aliases, " + aliases
}

// converter turns records of a file into records of a domain.
type converter struct {
	domain   *domain.Domain
	schema   *arrow.Schema
	layout   layout
	builders []builder
}

func newConverter(dom *domain.Domain, d *dialect, l layout) *converter {
	return &converter{domain: dom, schema: recordSchema(dom, d), layout: l, builders: newBuilders(dom, d, 1<<10)}
}

// record converts r, whose first row is number row of the file, from 1. It is
// nil where problems were found.
func (c *converter) record(r arrow.Record, row int64, p *problems) arrow.Record {
	arrays, before := make([]arrow.Array, len(c.builders)), p.cells
	for i, at := range c.layout {
		if at >= 0 {
			arrays[at] = c.column(at, r.Column(i), row, p)
		}
	}
	for at := len(c.domain.Columns); at < len(arrays); at++ {
		arrays[at] = c.builders[at].finish() // what a column of the file filled beside its own
	}
	if p.cells > before {
		return nil
	}
	return array.NewRecord(c.schema, arrays, r.NumRows())
}

func (c *converter) column(place int, a arrow.Array, row int64, p *problems) arrow.Array {
	b, add := c.builders[place], c.adder(place, a)
	for i := range a.Len() {
		rule := ""
		if isMissing(a, i) {
			rule = b.add(nil)
		} else {
			rule = add(i)
		}
		if rule != "" {
			p.add(row+int64(i), c.domain.Columns[place].Name, rule)
		}
		if p.full() {
			break
		}
	}
	return b.finish()
}

// isMissing reports a missing value; a column of the type null has no other. Of times stored in 64 bits the least
// number is NaT, in every unit: fastparquet writes what pandas has in memory (pandas, "Working with missing data"), and
// as a time it would lie outside what pandas counts.
func isMissing(a arrow.Array, i int) bool {
	switch v := a.(type) {
	case *array.Null:
		return true
	case *array.Timestamp:
		return v.IsNull(i) || int64(v.Value(i)) == math.MinInt64
	case *array.Time64:
		return v.IsNull(i) || int64(v.Value(i)) == math.MinInt64
	}
	return a.IsNull(i)
}

// adder appends value i of a to the builder of a declared column.
func (c *converter) adder(column int, a arrow.Array) func(i int) string {
	if ofText(a.DataType()) {
		return textAdder(c.builders[column], a)
	}
	switch b := c.builders[column].(type) {
	case *floats:
		return floatAdder(b, a)
	case *ints:
		return intAdder(b, a)
	case *codes:
		if v, ok := a.(*array.Boolean); ok {
			return flagAdder(b, v)
		}
	}
	return textAdder(c.builders[column], a)
}

func textAdder(b builder, a arrow.Array) func(i int) string {
	text, buf := spelled(a), []byte(nil)
	return func(i int) string {
		buf = text(buf[:0], i)
		return b.add(buf)
	}
}

// flagAdder looks both words up once.
func flagAdder(b *codes, a *array.Boolean) func(i int) string {
	no, hasNo := b.find([]byte("false"))
	yes, hasYes := b.find([]byte("true"))
	if !hasNo || !hasYes {
		return textAdder(b, a)
	}
	return func(i int) string {
		code := no
		if a.Value(i) {
			code = yes
		}
		b.values = append(b.values, code)
		return ""
	}
}

func intAdder(b *ints, a arrow.Array) func(i int) string {
	if b.calendar != nil && b.calendar.column.Type.Moment() {
		return momentAdder(b, a)
	}
	switch v := a.(type) {
	case *array.Int64:
		return func(i int) string { return b.addInt(v.Value(i)) }
	case *array.Int32:
		return func(i int) string { return b.addInt(int64(v.Value(i))) }
	case *array.Date32:
		return func(i int) string { return b.addInt(int64(v.Value(i))) }
	case *array.Date64:
		return func(i int) string { return b.addInt(floored(int64(v.Value(i)), 1000*secondsOfDay)) }
	case *array.Float64:
		return func(i int) string { return b.addWhole(v.Value(i)) }
	case *array.Float32:
		return func(i int) string { return b.addWhole(float64(v.Value(i))) }
	}
	return textAdder(b, a)
}

// floatAdder refuses integers that a float64 does not hold: rounded, two become one.
func floatAdder(b *floats, a arrow.Array) func(i int) string {
	switch v := a.(type) {
	case *array.Float64:
		return func(i int) string { return b.addNumber(v.Value(i)) }
	case *array.Float32:
		return func(i int) string { return b.addNumber(float64(v.Value(i))) }
	case *array.Int64:
		return func(i int) string { return b.addInteger(v.Value(i)) }
	case *array.Decimal128:
		return textAdder(b, a)
	}
	text, buf := spelled(a), []byte(nil)
	return func(i int) string {
		buf = text(buf[:0], i)
		n, err := strconv.ParseInt(string(buf), 10, 64)
		if err != nil {
			return ruleWide
		}
		return b.addInteger(n)
	}
}

func (f *floats) addInteger(n int64) string {
	if n > maxExact || n < -maxExact {
		return ruleWide
	}
	return f.put(float64(n))
}

// maxExact bounds the integers of which a float64 holds each one.
const maxExact = 1 << 53

// spelled writes value i as a CSV file would.
func spelled(a arrow.Array) func(b []byte, i int) []byte {
	switch v := a.(type) {
	case *array.Dictionary:
		text := spelled(v.Dictionary())
		return func(b []byte, i int) []byte { return text(b, v.GetValueIndex(i)) }
	case *array.String:
		return func(b []byte, i int) []byte { return append(b, v.Value(i)...) }
	case *array.LargeString:
		return func(b []byte, i int) []byte { return append(b, v.Value(i)...) }
	case *array.StringView:
		return func(b []byte, i int) []byte { return append(b, v.Value(i)...) }
	case *array.Boolean:
		return func(b []byte, i int) []byte { return strconv.AppendBool(b, v.Value(i)) }
	case *array.Int64:
		return func(b []byte, i int) []byte { return strconv.AppendInt(b, v.Value(i), 10) }
	case *array.Float64:
		return func(b []byte, i int) []byte { return strconv.AppendFloat(b, v.Value(i), 'f', -1, 64) }
	case *array.Decimal128:
		return spelledDecimal(v)
	case *array.Timestamp, *array.Time32, *array.Time64:
		return spelledMoment(a)
	}
	return func(b []byte, i int) []byte { return append(b, a.ValueStr(i)...) }
}

// spelledDecimal writes all digits that the type has behind the point.
func spelledDecimal(a *array.Decimal128) func(b []byte, i int) []byte {
	scale := int(a.DataType().(*arrow.Decimal128Type).Scale)
	return func(b []byte, i int) []byte {
		digits, minus := strings.CutPrefix(a.Value(i).BigInt().String(), "-")
		if minus {
			b = append(b, '-')
		}
		if scale <= 0 {
			return append(append(b, digits...), strings.Repeat("0", -scale)...)
		}
		digits = strings.Repeat("0", max(0, scale+1-len(digits))) + digits
		point := len(digits) - scale
		return append(append(append(b, digits[:point]...), '.'), digits[point:]...)
	}
}

func (f *floats) addNumber(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return f.notFinite(x)
	}
	return f.put(x)
}

// notFinite takes NaN for missing where a spelling of it is declared.
func (f *floats) notFinite(x float64) string {
	if math.IsNaN(x) && (f.has([]byte("NaN")) || f.has([]byte("nan"))) {
		f.values = append(f.values, 0)
		return f.null(len(f.values) - 1)
	}
	return ruleFinite
}

func (n *ints) addInt(x int64) string {
	n.values = append(n.values, x)
	if n.calendar == nil && n.hasWhole(x) {
		n.values[len(n.values)-1] = 0
		return n.null(len(n.values) - 1)
	}
	return ""
}

func (n *ints) addWhole(x float64) string {
	switch {
	case math.IsNaN(x) && (n.has([]byte("NaN")) || n.has([]byte("nan"))):
		return n.add(nil)
	case math.IsNaN(x) || math.IsInf(x, 0):
		return ruleFinite
	case x != math.Trunc(x):
		return ruleWhole
	case math.Abs(x) >= maxExact: // 2^53 may have been 2^53 + 1
		return ruleRounded
	}
	return n.addInt(int64(x))
}
