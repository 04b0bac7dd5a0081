package table

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"weir/pipeline/domain"
)

// pow10 are the powers of ten that a float64 holds exactly.
var pow10 = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// digits reads an optional sign and up to 15 digits with at most one point:
// such a mantissa is exact in a float64, and so is its quotient by a power of
// ten up to 22 once rounded (Clinger 1990, the fast case). ok is false where
// the text is anything else, which need not be wrong.
func digits(v []byte) (mantissa int64, decimals int, ok bool) {
	i, point := 0, -1
	neg := len(v) > 0 && v[0] == '-'
	if neg {
		i = 1
	}
	if i == len(v) || len(v)-i > 16 {
		return 0, 0, false
	}
	first := i
	for ; i < len(v); i++ {
		switch c := v[i]; {
		case c-'0' <= 9:
			mantissa = mantissa*10 + int64(c-'0')
		case c == '.' && point < 0:
			point = i
		default:
			return 0, 0, false
		}
	}
	count := len(v) - first
	if point >= 0 {
		count--
		decimals = len(v) - 1 - point
	}
	if neg {
		mantissa = -mantissa
	}
	return mantissa, decimals, count > 0 && count <= 15
}

// parseFloat reads a finite decimal number.
func parseFloat(v []byte) (float64, bool) {
	if m, d, ok := digits(v); ok && !(m == 0 && v[0] == '-') {
		return float64(m) / pow10[d], true
	}
	if !decimal(v) {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(v), 64)
	return f, err == nil && !math.IsInf(f, 0)
}

// parseInt reads a whole number, exactly; 4.0 and 1e+05 are whole.
func parseInt(v []byte) (int64, bool) {
	m, d, ok := digits(v)
	if ok && d == 0 {
		return m, true
	}
	if !decimal(v) {
		return 0, false
	}
	if n, err := strconv.ParseInt(string(v), 10, 64); err == nil {
		return n, true
	}
	n, ok := exactNumber(v)
	if !ok {
		return 0, false
	}
	return n.whole()
}

// exact is a decimal number, sign digits * 10^power, in the one form that begins and ends
// with a digit other than 0; zero has no digits. Two spellings give equal values exactly if
// they are one number, however many digits they have: a float64 would make one of two.
type exact struct {
	minus  bool
	digits string
	power  int
}

// exactNumber reads any decimal number.
func exactNumber(v []byte) (n exact, ok bool) {
	if len(v) > 0 && (v[0] == '-' || v[0] == '+') {
		n.minus, v = v[0] == '-', v[1:]
	}
	if e := bytes.IndexAny(v, "eE"); e >= 0 {
		power, err := strconv.ParseInt(string(v[e+1:]), 10, 32)
		if err != nil {
			return exact{}, false
		}
		n.power, v = int(power), v[:e]
	}
	whole, part, _ := bytes.Cut(v, []byte{'.'})
	digits := string(whole) + string(part)
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return exact{}, false
	}
	n.digits = strings.TrimRight(digits, "0")
	n.power += len(digits) - len(n.digits) - len(part)
	if n.digits = strings.TrimLeft(n.digits, "0"); n.digits == "" {
		return exact{}, true // of both zeros
	}
	return n, true
}

// whole returns the number where it is a whole one of 64 bits.
func (n exact) whole() (int64, bool) {
	if n.power < 0 || n.power > 18 {
		return 0, false
	}
	i, err := strconv.ParseInt(n.decimal(), 10, 64)
	return i, err == nil
}

// key spells the number, and no other.
func (n exact) key() []byte { return fmt.Appendf(nil, "%t %s %d", n.minus, n.digits, n.power) }

// decimal spells a whole number.
func (n exact) decimal() string {
	text := n.digits + strings.Repeat("0", n.power)
	switch {
	case text == "":
		return "0"
	case n.minus:
		return "-" + text
	}
	return text
}

// decimal reports whether v is spelled with the characters of decimal numbers
// only: strconv would also take 0x10, 1_000, inf and nan.
func decimal(v []byte) bool {
	for _, c := range v {
		if c-'0' > 9 && c != '.' && c != '-' && c != '+' && c != 'e' && c != 'E' {
			return false
		}
	}
	return len(v) > 0
}

// notFinite reports whether v spells a number that is not finite.
func notFinite(v []byte) bool {
	if decimal(v) {
		return false
	}
	f, err := strconv.ParseFloat(string(v), 64)
	return err == nil && (math.IsInf(f, 0) || math.IsNaN(f))
}

// calendar reads the cells of a column of dates or times.
type calendar struct {
	column  *domain.Column
	days    domain.DayForm
	moments domain.MomentForm
	rule    string // that a cell of another form breaks
}

func newCalendar(c *domain.Column) *calendar {
	if c.Type == domain.Date {
		f := &calendar{column: c, days: c.DayForm(), rule: ruleDayForm}
		if f.days == domain.ISODay {
			f.rule = ruleDate
		}
		return f
	}
	f := &calendar{column: c, moments: c.ReadsMoments(), rule: ruleMoment}
	switch {
	case c.Format != "":
		f.rule = ruleTimeForm
	case c.Type == domain.Time:
		f.rule = ruleTime
	case c.Zone != "":
		f.rule = ruleZoned
	}
	return f
}

// parse reads a date as days, and a time as seconds of the whole step at or before it.
func (f *calendar) parse(v []byte) (int64, bool) {
	if f.column.Type == domain.Date {
		return f.days.Parse(string(v))
	}
	moment, ok := f.moments.Parse(v)
	if !ok {
		return 0, false
	}
	return f.column.Down(moment), true
}

// write spells a value of the column; ok is false where its form has no spelling of it.
func (f *calendar) write(b []byte, x int64) ([]byte, bool) {
	if f.column.Type == domain.Date {
		return f.days.Append(b, x)
	}
	return f.moments.Append(b, x)
}

// zoned reports whether a stored type is of instants: a timestamp with a zone.
func zoned(t arrow.DataType) bool {
	stamp, is := t.(*arrow.TimestampType)
	return is && stamp.TimeZone != ""
}

// storedSeconds returns the seconds of value i of a column of dates, timestamps or times, and nil where it is none of
// these. Fractions are dropped.
func storedSeconds(a arrow.Array) func(i int) int64 {
	switch v := a.(type) {
	case *array.Timestamp:
		per := perSecond(v.DataType().(*arrow.TimestampType).Unit)
		return func(i int) int64 { return floored(int64(v.Value(i)), per) }
	case *array.Time32:
		per := perSecond(v.DataType().(*arrow.Time32Type).Unit)
		return func(i int) int64 { return floored(int64(v.Value(i)), per) }
	case *array.Time64:
		per := perSecond(v.DataType().(*arrow.Time64Type).Unit)
		return func(i int) int64 { return floored(int64(v.Value(i)), per) }
	case *array.Date32:
		return func(i int) int64 { return int64(v.Value(i)) * secondsOfDay }
	case *array.Date64:
		return func(i int) int64 { return floored(int64(v.Value(i)), 1000) }
	}
	return nil
}

const secondsOfDay = 24 * 60 * 60

func perSecond(u arrow.TimeUnit) int64 {
	return map[arrow.TimeUnit]int64{arrow.Second: 1, arrow.Millisecond: 1e3, arrow.Microsecond: 1e6,
		arrow.Nanosecond: 1e9}[u]
}

// floored returns the whole quotient at or below x/by.
func floored(x, divisor int64) int64 {
	if x%divisor < 0 {
		return x/divisor - 1
	}
	return x / divisor
}

// momentAdder adds stored timestamps and times, each as the whole step at or before it.
func momentAdder(b *ints, a arrow.Array) func(i int) string {
	seconds := storedSeconds(a)
	if seconds == nil {
		return textAdder(b, a)
	}
	c := b.calendar.column
	least, greatest := c.Type.Span()
	return func(i int) string {
		second := seconds(i)
		if x := float64(second); x < least || x > greatest {
			return ruleSpan
		}
		return b.addInt(c.Down(second))
	}
}

// spelledMoment writes a stored timestamp or time as ISO 8601 with the digits of its fraction that are not zero; one
// with a zone is in UTC.
func spelledMoment(a arrow.Array) func(b []byte, i int) []byte {
	seconds, c := storedSeconds(a), domain.Column{Type: domain.Datetime, Step: 1}
	if id := a.DataType().ID(); id == arrow.TIME32 || id == arrow.TIME64 {
		c.Type = domain.Time
	}
	if zoned(a.DataType()) {
		c.Zone = "UTC"
	}
	form := c.MomentForm()
	return func(b []byte, i int) []byte {
		if out, ok := form.Append(b, seconds(i)); ok {
			return out
		}
		return append(b, a.ValueStr(i)...)
	}
}
