package pipelinetest

import (
	"fmt"
	"math"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/pipeline/domain"
)

// style says what a changed row holds: values at an end of its domain, none where
// they may be missing, the values of another row, or values outside the bounds, which a
// domain declares and nobody has checked.
type style string

const (
	kept    style = ""
	low     style = "low"
	high    style = "high"
	absent  style = "absent"
	another style = "another"
	outside style = "outside"
)

// styles lists what a changed row may hold.
func styles() []style { return []style{low, high, absent, another, outside} }

// line is a row of an edited table: row of the old one, changed to a style.
type line struct {
	row int
	to  style
}

func keepAll(n int) []line {
	lines := make([]line, n)
	for i := range lines {
		lines[i].row = i
	}
	return lines
}

// edited is a table of the given lines. Changed lines all belong to one new unit,
// and stay in their shard.
func edited(in Input, lines []line) arrow.Record {
	columns := make([]arrow.Array, in.Rows.NumCols())
	for j := range columns {
		b := array.NewBuilder(memory.DefaultAllocator, in.Rows.Column(j).DataType())
		for _, l := range lines {
			appendLine(b, in, j, l)
		}
		columns[j] = b.NewArray()
	}
	return array.NewRecord(in.Rows.Schema(), columns, int64(len(lines)))
}

func appendLine(b array.Builder, in Input, j int, l line) {
	a, d := in.Rows.Column(j), in.Header.Domain
	switch {
	case l.to == kept || j >= len(d.Columns): // beyond the domain: the shard
		appendValue(b, a, l.row)
	case d.Columns[j].Name == in.Header.Terms.Unit.Column:
		appendUnit(b, a, d.Columns[j])
	case l.to == another:
		appendValue(b, a, (l.row+1)%a.Len())
	case l.to == absent && d.Columns[j].Nullable:
		b.AppendNull()
	default:
		appendExtreme(b, d.Columns[j], l.to)
	}
}

// appendUnit names a unit that the table does not have, where the type allows it.
func appendUnit(b array.Builder, a arrow.Array, c domain.Column) {
	switch b := b.(type) {
	case *array.StringBuilder:
		b.Append("someone new")
	case *array.Int64Builder:
		most := int64(math.MinInt32)
		for i := range a.Len() {
			most = max(most, a.(*array.Int64).Value(i))
		}
		b.Append(most + 1)
	default:
		appendExtreme(b, c, high)
	}
}

// appendExtreme appends an end of the domain.
func appendExtreme(b array.Builder, c domain.Column, dest style) {
	first := dest == low
	switch b := b.(type) {
	case *array.Int32Builder:
		n := len(c.Categories)
		if c.Encoding != nil {
			n = c.Encoding.Width
		}
		b.Append(pick(first, 0, int32(max(0, n-1))))
	case *array.Float32Builder:
		b.Append(pick(first, -encodedEnd(c, true), encodedEnd(c, false)))
	case *array.Float64Builder:
		b.Append(end(c, dest))
	case *array.Int64Builder:
		b.Append(int64(end(c, dest)))
	case *array.StringBuilder:
		b.Append(pick(first, "", "someone else"))
	default:
		panic(fmt.Sprintf("no table has columns built by %T", b))
	}
}

func pick[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}

// encodedEnd is how far a column that the stage encode wrote goes.
func encodedEnd(c domain.Column, first bool) float32 {
	if c.Encoding != nil && c.Encoding.Form == domain.MinMax {
		return float32(pick(first, -c.Encoding.Range[0], c.Encoding.Range[1]))
	}
	return 50 // of a standardised number: any
}

// end is a number at or beyond the end of the bounds; 2^40 where there are none, and
// 2^52 beyond them, which an int64 and a float64 both hold.
func end(c domain.Column, dest style) float64 {
	bounds := [2]float64{-0x1p40, 0x1p40}
	if c.Bounds != nil {
		bounds = *c.Bounds
	}
	switch dest {
	case low:
		return bounds[0]
	case outside:
		return 0x1p52
	}
	return bounds[1]
}
