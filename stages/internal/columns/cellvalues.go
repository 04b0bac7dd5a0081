package columns

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/apache/arrow/go/v15/arrow/array"

	"weir/pipeline/domain"
)

// Value returns a value of a cell: the code of a category, NaN where it is the cell of missing
// values, else each point of the cell alike, on the step and inside the bounds.
func (g Grid) Value(cell int, rng *rand.Rand) float64 {
	switch {
	case cell >= g.values:
		return math.NaN()
	case g.Coded():
		return float64(cell)
	}
	return g.draw(cell, rng)
}

// Interval returns the least and the greatest value of a cell of numbers, or the code of a
// category twice.
func (g Grid) Interval(cell int) (least, greatest float64) {
	switch l := &g.line; {
	case g.Coded():
		return float64(cell), float64(cell)
	case l.open:
		return l.point(int64(cell) * l.width), l.point(min(int64(cell+1)*l.width, l.points))
	default:
		return l.point(int64(cell) * l.width), l.point(min(int64(cell+1)*l.width, l.points) - 1)
	}
}

// Append appends a value of each cell to a builder of the column's Arrow type; missing
// ones are null. An error names a builder of another type, or a cell that is none; then
// nothing is appended.
func (g Grid) Append(dst array.Builder, cells []uint16, rng *rand.Rand) error {
	for _, cell := range cells {
		if int(cell) >= g.Cells() {
			return fmt.Errorf("column %s: holds cell %d, must be below %d", g.Name(), cell, g.Cells())
		}
	}
	dst.Reserve(len(cells))
	switch b := dst.(type) {
	case *array.Int32Builder:
		if g.Coded() {
			appendEach(b, g, cells, func(cell int) int32 { return int32(cell) })
			return nil
		}
	case *array.Int64Builder:
		if !g.Coded() && g.column.Type != domain.Numeric {
			appendEach(b, g, cells, func(cell int) int64 { return int64(g.draw(cell, rng)) })
			return nil
		}
	case *array.Float64Builder:
		if g.column.Type == domain.Numeric {
			appendEach(b, g, cells, func(cell int) float64 { return g.draw(cell, rng) })
			return nil
		}
	}
	return fmt.Errorf("column %s: goes to a builder of Arrow type %s, must be %s", g.Name(), dst.Type(),
		g.column.ArrowType())
}

// builder is an Arrow builder of one type of values, with room for all of them.
type builder[T any] interface {
	UnsafeAppend(T)
	UnsafeAppendBoolToBitmap(bool)
}

func appendEach[T any](dst builder[T], g Grid, cells []uint16, value func(cell int) T) {
	for _, cell := range cells {
		if int(cell) >= g.values {
			dst.UnsafeAppendBoolToBitmap(false)
			continue
		}
		dst.UnsafeAppend(value(int(cell)))
	}
}
