package graphical

import (
	"weir/pipeline/domain"
	"weir/train/graphical"
)

// front is what a released model was fitted to. A tree of a number's cells left its
// leaves; every other release is there as it was.
func (m *released) front() *front {
	f := &front{layout: m.layout, columns: m.Columns, rows: m.Model.Total, measured: m.Measured, masks: m.Model.Masks, settled: m.Settled}
	if m.Scored != nil {
		kept := *m.Scored // whose bounds are of another fit
		f.scored = &kept
	}
	f.rules, _ = domain.ReadRules(m.core)
	f.spread(m.grids)
	trees := map[int]bool{}
	for _, x := range m.Measured {
		j := x.Columns[0]
		switch {
		case x.Within != nil: // the points of single cells, in their column
		case x.Cells != nil && trees[j]:
		case x.Cells != nil:
			trees[j] = true
			if t, known := m.ofLeaves(j); known {
				f.tables = append(f.tables, t)
			}
		case len(x.Columns) == 1 && len(x.Y) == m.Columns[j].Cells:
			f.tables = append(f.tables, m.ofCells(j, x))
		default:
			f.tables = append(f.tables, graphical.Table{Vars: x.Columns, Y: x.Y, Var: repeated(squared(x.Sigma), len(x.Y))})
		}
	}
	return f
}

// ofCells is the table by code of a column whose cells were counted one by one.
func (m *released) ofCells(j int, x measured) graphical.Table {
	c := &m.Columns[j]
	t := graphical.Table{Vars: graphical.Set{j}, Y: make([]float64, c.codes()), Var: make([]float64, c.codes())}
	for cell, code := range c.codeOf() {
		t.Y[code] += x.Y[cell]
		t.Var[code] += squared(x.Sigma)
	}
	return t
}

// ofLeaves is the table by code of a number whose leaves were counted: by a tree, or by
// what a file has of it. Where they were not, or missing values were not, it is unknown.
func (m *released) ofLeaves(j int) (t graphical.Table, known bool) {
	c := &m.Columns[j]
	t = graphical.Table{Vars: graphical.Set{j}, Y: make([]float64, c.codes()), Var: make([]float64, c.codes())}
	for b, bin := range c.Bins {
		for _, l := range c.Leaves[bin[0]:bin[1]] {
			t.Y[b] += l.Count
			t.Var[b] += l.Var
		}
		if t.Var[b] == 0 && !m.Settled {
			return t, false
		}
		if t.Var[b] > 0 {
			t.Var[b] = max(t.Var[b], squared(0))
		}
	}
	if last := len(t.Y) - 1; last == len(c.Bins) {
		t.Y[last], t.Var[last], known = m.missing(j)
		return t, known
	}
	return t, true
}

// missing is the mean of all released counts of missing values of a number, by precision.
func (m *released) missing(j int) (y, variance float64, known bool) {
	var all noisy
	for _, x := range m.Measured {
		if n := len(x.Cells); len(x.Columns) == 1 && x.Columns[0] == j && n > 0 && x.Cells[n-1][0] == m.grids[j].Values() {
			all = mean(all, noisy{x.Y[n-1:], squared(x.Sigma)})
		}
	}
	if all.Y == nil {
		return 0, 0, false
	}
	return all.Y[0], all.Variance, true
}

// leastSpread is the least standard deviation that a fit takes a measurement for. Runs
// without privacy write less (of a Laplace law that is never drawn from), and so may
// whoever edits a model: squares of that are 0, which is what an exact table has.
const leastSpread = 0x1p-20

func squared(sigma float64) float64 {
	sigma = max(sigma, leastSpread)
	return float64(sigma * sigma)
}
