package columns

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"weir/pipeline/domain"
)

const (
	// mostCells is the most cells of a grid, so that codes have two bytes.
	mostCells = 1 << 16
	// lineCells is how many equal cells a number without a step has.
	lineCells = 1 << 12
)

// Grid is the public fine cells of a column, all that a marginal model knows of its
// values. Categories are a cell each. Whole numbers, dates and numbers with a step are
// points counted from the lower bound, a cell each, or more than one a cell where a
// cell each would be more than 65,536. A number without a step has 4,096 equal cells
// between its bounds. A column that may be missing has one cell more, the last.
type Grid struct {
	column domain.Column
	values int // cells of values
	line   line
	shares map[int][]float64 // of some cells: running sums over their points
}

// GridOf returns the grid of a declared column. It is a function of the domain alone. An
// error names the column and what the domain lacks: bounds, categories, a type with a
// closed set of values.
func GridOf(c domain.Column) (Grid, error) {
	g := Grid{column: c}
	most := int64(mostCells)
	if c.Nullable {
		most--
	}
	switch {
	case c.Encoding != nil:
		return g, g.refuse("encoded", "a column as it is before the stage encode")
	case c.Type == domain.Text:
		return g, g.refuse("text", "of a type with a closed set of values")
	case c.Type.Coded():
		g.values = categories(c)
		if g.values == 0 || int64(g.values) > most {
			return g, g.refuse(fmt.Sprintf("a list of %d categories", g.values), fmt.Sprintf("1 to %d", most))
		}
		return g, nil
	case c.Bounds == nil:
		return g, g.refuse("a number without bounds", "one whose domain has bounds")
	case !(c.Bounds[0] <= c.Bounds[1]) || math.IsInf(c.Bounds[0], 0) || math.IsInf(c.Bounds[1], 0):
		return g, g.refuse(fmt.Sprintf("bounded by [%g, %g]", c.Bounds[0], c.Bounds[1]), "[least, greatest], both finite")
	}
	g.line = lineOf(c)
	if g.line.points < 1 {
		return g, g.refuse(fmt.Sprintf("bounded by [%g, %g], where no value lies", c.Bounds[0], c.Bounds[1]),
			"[least, greatest] with a value between")
	}
	g.line.width = (g.line.points + most - 1) / most
	g.values = int((g.line.points + g.line.width - 1) / g.line.width)
	return g, nil
}

func (g Grid) refuse(found, accepted string) error {
	return fmt.Errorf("column %s: is %s, must be %s", g.column.Name, found, accepted)
}

// categories returns how many values a coded column has; the values of a boolean are 0 and 1 by
// default.
func categories(c domain.Column) int {
	if c.Type == domain.Boolean && len(c.Categories) == 0 {
		return 2
	}
	return len(c.Categories)
}

// Name returns the name of the column.
func (g Grid) Name() string { return g.column.Name }

// Cells returns how many cells there are, the one of missing values included.
func (g Grid) Cells() int {
	if g.column.Nullable {
		return g.values + 1
	}
	return g.values
}

// Values returns how many cells hold values. Missing values are cell Values() where the
// column may be missing; no cell else.
func (g Grid) Values() int { return g.values }

// Coded reports whether cells are categories, which have no order to rely on.
func (g Grid) Coded() bool { return g.column.Type.Coded() }

// Cell returns the cell of a value, a number or the code of a category: the nearest one
// where the value is outside the bounds or off the grid, a public rule that looks at
// that value alone. NaN is missing, and cell Values() whether the column has it or not.
func (g Grid) Cell(x float64) int {
	switch {
	case math.IsNaN(x):
		return g.values
	case g.Coded():
		return int(min(max(math.RoundToEven(x), 0), float64(g.values-1)))
	}
	return g.line.cell(x)
}

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

// mostWithin is the most points of a cell that are told apart.
const mostWithin = 1 << 8

// Points returns how many points of the column a cell has: more than 1 only where a cell
// each would be too many.
func (g Grid) Points() int {
	if g.Coded() {
		return 1
	}
	return int(g.line.width)
}

// HasInnerCounts reports whether ReadCodes says which point of its cell a value is.
func (g Grid) HasInnerCounts() bool { return g.Points() > 1 && g.Points() <= mostWithin }

// PointsIn returns how many points a cell has; the last has fewer.
func (g Grid) PointsIn(cell int) int {
	return int(min(g.line.width, g.line.points-int64(cell)*g.line.width))
}

// Point returns the value of a point of a cell of numbers, counted from 0.
func (g Grid) Point(cell, point int) float64 {
	return g.line.point(int64(cell)*g.line.width + int64(point))
}

// PointOf returns the point nearest to a number in its cell; 0 where cells have one.
func (g Grid) PointOf(x float64) int {
	if g.Points() == 1 || math.IsNaN(x) {
		return 0
	}
	return int(g.line.place(x) % g.line.width)
}

// Shared returns the grid with known shares of the points of some cells, by which Value and
// Append choose among them. Shares are not negative, one a point, and not all 0.
func (g Grid) Shared(shares map[int][]float64) Grid {
	g.shares = maps.Clone(shares)
	for cell, of := range g.shares {
		prefix, sum := make([]float64, len(of)), 0.0
		for i, x := range of {
			sum += x
			prefix[i] = sum
		}
		g.shares[cell] = prefix
	}
	return g
}

// appendWithin adds the place of each value in its cell; 0 where it is missing.
func (g *Grid) appendWithin(dst []uint8, a arrow.Array) []uint8 {
	switch a := a.(type) {
	case *array.Int64:
		for _, v := range a.Int64Values() {
			dst = append(dst, uint8(g.line.wholePlace(v)%g.line.width))
		}
	case *array.Float64:
		for _, x := range a.Float64Values() {
			pos := int64(0)
			if !math.IsNaN(x) {
				pos = g.line.place(x) % g.line.width
			}
			dst = append(dst, uint8(pos))
		}
	}
	return dst
}
