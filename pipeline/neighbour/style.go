package neighbour

import (
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/pipeline/domain"
)

// Style says what a changed row holds: values at an end of its domain, none where
// they may be missing, the values of another row, or values outside the bounds, which a
// domain declares and nobody has checked.
type Style string

// The styles of a changed row.
const (
	Kept    Style = ""
	Low     Style = "low"
	High    Style = "high"
	Absent  Style = "absent"
	Another Style = "another"
	Outside Style = "outside"
)

// Styles lists what a changed row may hold.
func Styles() []Style { return []Style{Low, High, Absent, Another, Outside} }

// Row returns a row of a domain that holds an end of every column, or nothing where it may, but for the column that
// names units and columns beyond the domain: these it takes from another row. Numbers alone lie outside of bounds: a
// file has no day or time that is none.
func Row(d *domain.Domain, unit string, like arrow.Record, style Style) arrow.Record {
	columns := make([]arrow.Array, like.NumCols())
	for j := range columns {
		columns[j] = like.Column(j)
		if j >= len(d.Columns) || d.Columns[j].Name == unit {
			continue
		}
		b, style := array.NewBuilder(memory.DefaultAllocator, like.Column(j).DataType()), style
		if t := d.Columns[j].Type; style == Outside && t != domain.Numeric && t != domain.Integer {
			style = High
		}
		if style == Low && d.Columns[j].Type == domain.Text {
			style = High // an empty cell is none
		}
		if style == Absent && d.Columns[j].Nullable {
			b.AppendNull()
		} else {
			AppendExtreme(b, d.Columns[j], style)
		}
		columns[j] = b.NewArray()
	}
	return array.NewRecord(like.Schema(), columns, 1)
}

// AppendExtreme appends an end of the domain of a column to an array of it.
func AppendExtreme(b array.Builder, c domain.Column, dest Style) {
	first := dest == Low
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

// encodedEnd returns how far a column that the stage encode wrote goes.
func encodedEnd(c domain.Column, first bool) float32 {
	if c.Encoding != nil && c.Encoding.Form == domain.MinMax {
		return float32(pick(first, -c.Encoding.Range[0], c.Encoding.Range[1]))
	}
	return 50 // of a standardised number: any
}

// end returns a number at or beyond the end of the bounds; 2^40 where there are none, and
// 2^52 beyond them, which an int64 and a float64 both hold.
func end(c domain.Column, dest Style) float64 {
	bounds := [2]float64{-0x1p40, 0x1p40}
	if c.Bounds != nil {
		bounds = *c.Bounds
	}
	switch dest {
	case Low:
		return bounds[0]
	case Outside:
		return 0x1p52
	}
	return bounds[1]
}
