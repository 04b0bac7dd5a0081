package mixture

import (
	"math"

	"weir/internal/bitmath"
	"weir/pipeline/domain"
	"weir/stages/internal/columns"
	"weir/train/posterior"
)

// placed is a row as a mixture meets it: the value and the cell of each column, and how many
// points the cell has.
type placed struct {
	of     *model
	values []float64 // a code where the column is coded; NaN where it is missing
	cells  []int
	points []float64 // logarithms
	spans  []posterior.Span
}

func newPlaced(m *model) *placed {
	n := len(m.layout.grids)
	return &placed{of: m, values: make([]float64, n), cells: make([]int, n), points: make([]float64, n)}
}

// read takes row i of columns that stand as those of the model; false for a row that the model
// never draws.
func (p *placed) read(of []*columns.Column, i int) bool {
	for j, from := range of {
		c, g := &p.of.Domain.Columns[j], p.of.layout.grids[j]
		switch {
		case from.Absent(i):
			p.values[j] = math.NaN()
		case from.Coded():
			p.values[j] = float64(from.Codes[i])
		default:
			p.values[j] = from.Numbers[i]
		}
		p.cells[j] = g.Cell(p.values[j])
		if p.cells[j] >= g.Cells() || !c.Type.Coded() && (p.values[j] < c.Bounds[0] || p.values[j] > c.Bounds[1]) {
			return false
		}
		if p.points[j] = 0; g.Points() > 1 && p.cells[j] < g.Values() && !(c.Step == 0 && c.Type == domain.Numeric) {
			p.points[j] = bitmath.Log(float64(g.PointsIn(p.cells[j])))
		}
	}
	return true
}

// allows tells whether a row has the values that its stratum fixes.
func (s *stratum) allows(row *placed) bool {
	for j, f := range s.fixed {
		missing := f.cell >= row.of.layout.grids[j].Values()
		if row.cells[j] != f.cell || !missing && row.values[j] != f.value {
			return false
		}
	}
	return true
}

// stratum is the number of that of a row of cells: the last column of stratify counts up first.
func (l *layout) stratum(cells []int) (at int) {
	for _, j := range l.stratify {
		at = at*l.grids[j].Cells() + cells[j]
	}
	return at
}

// span is where a row of cells lies in a part: the inverse of what draws cells (layout.cell), so that
// the first and the last cell have what lies beyond.
func (l *layout) span(p part, cells []int) posterior.Span {
	cell, values := cells[p.column], l.grids[p.column].Values()
	switch {
	case p.absent && cell >= values:
		return posterior.Span{Lo: 1}
	case p.absent:
		return posterior.Span{}
	case p.of.Family == posterior.Bernoulli || p.of.Family == posterior.Categorical:
		return posterior.Span{Lo: float64(cell)}
	case cell >= values:
		return posterior.Span{Any: true}
	}
	s := posterior.Span{Lo: float64(cell), Hi: float64(cell + 1)}
	switch p.of.Family {
	case posterior.Beta:
		s = posterior.Span{Lo: s.Lo / float64(values), Hi: s.Hi / float64(values)}
	case posterior.Normal:
		s = posterior.Span{Lo: 2*s.Lo/float64(values) - 1, Hi: 2*s.Hi/float64(values) - 1}
	}
	if cell == 0 && p.of.Family == posterior.Normal {
		s.Lo = math.Inf(-1)
	}
	if cell == values-1 {
		s.Hi = math.Inf(1)
	}
	return s
}

// flat is minus the logarithm of the chance of a part where nothing was learned: all codes or
// cells alike.
func (l *layout) flat(p part, cells []int) float64 {
	switch g := l.grids[p.column]; {
	case p.absent:
		return math.Ln2
	case g.Coded():
		return bitmath.Log(float64(g.Cells()))
	case cells[p.column] >= g.Values():
		return 0
	default:
		return bitmath.Log(float64(g.Values()))
	}
}
