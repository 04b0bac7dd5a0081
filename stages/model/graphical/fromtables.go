package graphical

import (
	"fmt"
	"slices"

	"weir/pipeline/domain"
	"weir/stages/internal/columns"
	"weir/train/graphical"
)

// frontOf makes marginals of a file what a model is fitted to. rows is public, or 0.
func frontOf(d *domain.Domain, list []tabled, rows float64) (*front, error) {
	l := layoutBut(withoutMissing(d, list), func(column int) bool { return inMarginal(list, column) })
	grids, err := gridsOf(l.core)
	if err != nil {
		return nil, err
	}
	l.place(list)
	f := &front{layout: l, rows: rows, published: true}
	f.rules, _ = domain.ReadRules(l.core) // the plan has held them
	if rows == 0 {
		if f.rows, err = rowsOf(list, grids); err != nil {
			return nil, err
		}
	}
	for j := range grids {
		c, err := newGathering(j, grids[j], list).column(f)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", l.core.Columns[j].Name, err)
		}
		f.columns = append(f.columns, c)
	}
	for i := range list {
		if err := f.take(&list[i], grids); err != nil {
			return nil, err
		}
	}
	_, err = f.obey(grids)
	return f, err
}

// inMarginal tells whether a column is in a marginal. One that follows from another need not
// be: what is counted is measured.
func inMarginal(list []tabled, column int) bool {
	return slices.ContainsFunc(list, func(t tabled) bool { return slices.Contains(t.columns, column) })
}

// place brings marginals of the whole to the columns of the core, which have all that
// they are over.
func (l layout) place(list []tabled) {
	for i := range list {
		for a, column := range list[i].columns {
			list[i].columns[a] = slices.Index(l.places, column)
		}
	}
}

// withoutMissing is the domain in which columns miss values only where a marginal
// counts them.
func withoutMissing(d *domain.Domain, list []tabled) *domain.Domain {
	d = d.Clone()
	for j := range d.Columns {
		if !d.Columns[j].Nullable || !inMarginal(list, j) {
			continue
		}
		d.Columns[j].Nullable = slices.ContainsFunc(list, func(t tabled) bool {
			a := slices.Index(t.columns, j)
			return a >= 0 && slices.ContainsFunc(t.axes[a], func(g group) bool { return g.missing(d.Columns[j]) })
		})
	}
	return d
}

func (g group) missing(c domain.Column) bool {
	grid, err := columns.GridOf(c)
	return err == nil && (g.lo == grid.Values() && g.hi > 0 || slices.Contains(g.list, grid.Values()))
}

// rowsOf is the mean of what marginals over all rows count, weighted by the precision
// of their sums.
func rowsOf(list []tabled, grids []columns.Grid) (float64, error) {
	sum, weight := 0.0, 0.0
	for _, t := range list {
		whole := true
		for a, j := range t.columns {
			whole = whole && cellsOfGroups(t.axes[a]) == grids[j].Cells()
		}
		if whole {
			w := 1 / (squared(t.sigma) * float64(len(t.y)))
			sum, weight = sum+float64(w*total(t.y)), weight+w
		}
	}
	if weight == 0 {
		return 0, fmt.Errorf("has no marginal over all values of its columns, must have one, or rows must be given")
	}
	return max(sum/weight, 1), nil
}

func cellsOfGroups(axis []group) (cells int) {
	for _, g := range axis {
		cells += g.size()
	}
	return cells
}

// take adds a marginal over several columns to those that are fitted, by code. Those
// of one column went into its leaves.
func (f *front) take(t *tabled, grids []columns.Grid) error {
	if len(t.columns) == 1 {
		g := grids[t.columns[0]]
		one := t.alone(g)
		if one.Within != nil && pointsWithin(g, one.Within) != len(t.y) {
			return t.wrong("some of the values of a cell of the public grid", "of all of its values")
		}
		f.measured = append(f.measured, one)
		return nil
	}
	for a, j := range t.columns {
		if own := f.columns[j].groups(grids[j]); !slices.EqualFunc(sortedGroups(own), t.axes[a], func(x, y group) bool { return x.key() == y.key() }) {
			return t.wrong("cells of the column "+f.core.Columns[j].Name+" that other marginals of several columns do not have", "of the same cells")
		}
	}
	y := t.byCode(f, grids)
	f.tables = append(f.tables, graphical.Table{Vars: t.columns, Y: y, Var: repeated(squared(t.sigma), len(y))})
	f.measured = append(f.measured, measured{Columns: t.columns, Y: y, Sigma: t.sigma, Noise: t.noise})
	return nil
}

// byCode is a marginal's counts in the order of the codes of its columns.
func (t *tabled) byCode(f *front, grids []columns.Grid) []float64 {
	place := make([][]int, len(t.columns)) // of each code along the axis
	for a, j := range t.columns {
		for _, g := range f.columns[j].groups(grids[j]) {
			place[a] = append(place[a], slices.IndexFunc(t.axes[a], func(x group) bool { return x.key() == g.key() }))
		}
	}
	y, at := make([]float64, len(t.y)), make([]int, len(t.columns))
	for k := range y {
		from := 0
		for a := range at {
			from = from*len(t.axes[a]) + place[a][at[a]]
		}
		y[k] = t.y[from]
		for a := len(at) - 1; a >= 0; a-- {
			if at[a]++; at[a] < len(place[a]) {
				break
			}
			at[a] = 0
		}
	}
	return y
}

// alone is a marginal of one column as it leaves with the model.
func (t *tabled) alone(g columns.Grid) measured {
	m := measured{Columns: t.columns, Y: t.y, Sigma: t.sigma, Noise: t.noise}
	if t.axes[0][0].point > 0 {
		for _, one := range t.axes[0] {
			m.Within = append(m.Within, one.lo)
		}
		m.Within = slices.Compact(m.Within)
	} else if !g.Coded() {
		for _, one := range t.axes[0] {
			m.Cells = append(m.Cells, [2]int{one.lo, one.hi})
		}
	}
	return m
}

func sortedGroups(list []group) []group {
	list = slices.Clone(list)
	slices.SortFunc(list, func(x, y group) int { return x.first() - y.first() })
	return list
}
