package table

import (
	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"weir/pipeline/domain"
)

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
	at, ok := f.moments.Parse(v)
	if !ok {
		return 0, false
	}
	return f.column.Down(at), true
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
	return map[arrow.TimeUnit]int64{arrow.Second: 1, arrow.Millisecond: 1e3, arrow.Microsecond: 1e6, arrow.Nanosecond: 1e9}[u]
}

// floored is the whole quotient at or below x/by.
func floored(x, by int64) int64 {
	if x%by < 0 {
		return x/by - 1
	}
	return x / by
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
		at := seconds(i)
		if x := float64(at); x < least || x > greatest {
			return ruleSpan
		}
		return b.addInt(c.Down(at))
	}
}

// spelledMoment writes a stored timestamp or time as ISO 8601 with the digits of its fraction that are not zero; one with a
// zone is in UTC.
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
