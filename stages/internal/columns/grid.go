package columns

import (
	"fmt"
	"math"

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
