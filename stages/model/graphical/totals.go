package graphical

import (
	"math"
	"slices"

	"weir/internal/bitmath"
	"weir/pipeline/domain"
	"weir/train/graphical"
)

const (
	totalRounds = 100  // of scaling: totals that share columns move each other
	totalExact  = 1e-7 // of the rows, by which a cell may be off
)

// scaling brings a model to the public totals of its domain: the model nearest to it, by
// relative entropy, whose cells have the declared shares (iterative proportional fitting,
// Deming and Stephan 1940). It looks at released numbers and public facts alone.
type scaling struct {
	rule  *domain.Rule
	vars  graphical.Set
	cells []int // of the total, by combination of codes; -1: of none
}

// scaled is the model with the public totals. Bins are cut where cells begin; one that
// lies in two cells all the same counts where its least value does.
func (f *front) scaled(m *graphical.Model, limits graphical.Limits) (*graphical.Model, error) {
	var all []scaling
	p := m.Potentials()
	first := len(p.Factors)
	for i := range f.rules {
		if f.rules[i].Total != nil {
			one := f.scaling(&f.rules[i])
			all = append(all, one)
			p.Factors = append(p.Factors, graphical.Factor{Vars: one.vars, Log: make([]float64, len(one.cells))})
		}
	}
	for range totalRounds {
		off := 0.0
		for i, one := range all {
			by, err := one.step(m, p.Factors[first+i].Log)
			if err != nil {
				return nil, err
			}
			off = max(off, by)
			if m, err = graphical.FromPotentials(p, limits); err != nil {
				return nil, err
			}
		}
		if off <= totalExact {
			break
		}
	}
	return m, nil
}

func (f *front) scaling(r *domain.Rule) scaling {
	s := scaling{rule: r, vars: slices.Sorted(slices.Values(r.Columns))}
	sizes := f.sizes()
	s.cells = make([]int, cellsIn(sizes, s.vars))
	code, values := make([]int, len(sizes)), make([]float64, len(r.Columns))
	for cell := range s.cells {
		rest := cell
		for i := len(s.vars) - 1; i >= 0; i-- {
			code[s.vars[i]], rest = rest%sizes[s.vars[i]], rest/sizes[s.vars[i]]
		}
		for i, j := range r.Columns {
			values[i] = math.NaN()
			if list := f.bins[j][code[j]].Ranges; len(list) > 0 {
				values[i] = list[0].Lo
			}
		}
		s.cells[cell] = r.Cell(values)
	}
	return s
}

// step multiplies the combinations of each cell, by logarithms, so that the cell has its
// share, and says by how much of the rows one was off.
func (s *scaling) step(m *graphical.Model, log []float64) (off float64, err error) {
	table, err := m.Marginal(s.vars)
	if err != nil {
		return 0, err
	}
	have := make([]float64, len(s.rule.Total))
	for i, cell := range s.cells {
		if cell >= 0 {
			have[cell] += table[i] / m.Total()
		}
	}
	for i, cell := range s.cells {
		if cell < 0 || have[cell] == 0 || s.rule.Total[cell].Rows == 0 {
			continue
		}
		want := float64(s.rule.Total[cell].Rows) / float64(s.rule.Rows())
		log[i] += bitmath.Log(want / have[cell])
		off = max(off, math.Abs(want-have[cell]))
	}
	return off, nil
}
