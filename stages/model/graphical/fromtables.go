package graphical

import (
	"fmt"
	"math"
	"slices"

	"weir/pipeline/domain"
	"weir/stages/internal/columns"
	"weir/train/graphical"
	"weir/train/histogram"
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

// withoutMissing returns the domain in which columns miss values only where a marginal
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

// rowsOf returns the mean of what marginals over all rows count, weighted by the precision
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

// take adds a marginal over several columns to the fitted ones, by code. Marginals
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
		if own := f.columns[j].groups(grids[j]); !slices.EqualFunc(sortedGroups(own), t.axes[a],
			func(x, y group) bool { return x.key() == y.key() }) {
			return t.wrong("cells of the column "+f.core.Columns[j].Name+" that other marginals of several columns do not have",
				"of the same cells")
		}
	}
	y := t.byCode(f, grids)
	f.tables = append(f.tables, graphical.Table{Vars: t.columns, Y: y, Var: repeated(squared(t.sigma), len(y))})
	f.measured = append(f.measured, measured{Columns: t.columns, Y: y, Sigma: t.sigma, Noise: t.noise})
	return nil
}

// byCode returns a marginal's counts in the order of the codes of its columns.
func (t *tabled) byCode(f *front, grids []columns.Grid) []float64 {
	place := make([][]int, len(t.columns)) // of each code along the axis
	for a, j := range t.columns {
		for _, g := range f.columns[j].groups(grids[j]) {
			place[a] = append(place[a], slices.IndexFunc(t.axes[a], func(x group) bool { return x.key() == g.key() }))
		}
	}
	y, places := make([]float64, len(t.y)), make([]int, len(t.columns))
	for k := range y {
		first := 0
		for a := range places {
			first = first*len(t.axes[a]) + place[a][places[a]]
		}
		y[k] = t.y[first]
		for a := len(places) - 1; a >= 0; a-- {
			if places[a]++; places[a] < len(place[a]) {
				break
			}
			places[a] = 0
		}
	}
	return y
}

// alone returns a marginal of one column as it leaves with the model.
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

// gathering is what marginals of a file say of one column.
type gathering struct {
	at      int
	grid    columns.Grid
	singles []*tabled // of the column alone, of wide cells first
	points  []*tabled // of single points of its cells, where these have several
	shared  []group   // its cells in marginals of several columns; nil: none
}

func newGathering(j int, g columns.Grid, list []tabled) *gathering {
	c := &gathering{at: j, grid: g}
	for i := range list {
		a := slices.Index(list[i].columns, j)
		switch {
		case a < 0:
		case len(list[i].columns) == 1 && list[i].axes[a][0].point > 0:
			c.points = append(c.points, &list[i])
		case len(list[i].columns) == 1:
			c.singles = append(c.singles, &list[i])
		case c.shared == nil:
			c.shared = list[i].axes[a]
		}
	}
	slices.SortStableFunc(c.singles, func(x, y *tabled) int { return y.widest() - x.widest() })
	return c
}

// widest returns the largest cell along the first column.
func (t *tabled) widest() (cells int) {
	for _, g := range t.axes[0] {
		cells = max(cells, g.size())
	}
	return cells
}

// column makes the column codes, and its own marginals a table of them.
func (c *gathering) column(f *front) (coded, error) {
	if c.shared != nil && cellsOfGroups(c.shared) != c.grid.Cells() {
		return coded{}, fmt.Errorf("its cells do not hold all of its values, must hold each, and missing ones in all " +
			"marginals or in none")
	}
	if c.shared == nil && len(c.singles) == 0 {
		return coded{}, fmt.Errorf("is in no marginal, must be in one, or not in the table of like")
	}
	if c.grid.Coded() {
		return c.category(f)
	}
	return c.number(f)
}

// category returns a column of categories: a code for each cell of marginals of several
// columns; else for each category that noise does not drown.
func (c *gathering) category(f *front) (coded, error) {
	var counts noisy // of each category
	for _, t := range c.singles {
		if len(t.y) != c.grid.Cells() {
			return coded{}, t.wrong("groups of categories", "of every category for itself, or over several columns")
		}
		counts = mean(counts, noisy{t.y, squared(t.sigma)})
	}
	if c.shared == nil {
		out := ofCategories(counts)
		c.sum(f, &out, counts)
		return out, nil
	}
	out := coded{Cells: c.grid.Cells()}
	for _, g := range c.shared {
		out.Bins = append(out.Bins, [2]int{len(out.Order), len(out.Order) + len(g.list)})
		out.Order = append(out.Order, g.list...)
	}
	for place := range out.Order {
		out.Leaves = append(out.Leaves, histogram.Leaf{Lo: place, Hi: place + 1, Count: 1})
	}
	for _, bin := range out.Bins {
		if counts.Y != nil {
			out.divide(bin, counts)
		}
	}
	c.sum(f, &out, counts)
	return out, nil
}

// mean returns the mean of two releases of the same counts, by precision.
func mean(a, b noisy) noisy {
	if a.Y == nil {
		return b
	}
	v := 1 / (1/a.Variance + 1/b.Variance)
	y := make([]float64, len(a.Y))
	for i := range y {
		y[i] = v * (a.Y[i]/a.Variance + b.Y[i]/b.Variance)
	}
	return noisy{y, v}
}

// sum adds the table of a column of categories to those that are fitted.
func (c *gathering) sum(f *front, dst *coded, counts noisy) {
	if counts.Y == nil {
		return
	}
	y, variances := make([]float64, dst.codes()), make([]float64, dst.codes())
	for cell, code := range dst.codeOf() {
		y[code] += counts.Y[cell]
		variances[code] += counts.Variance
	}
	f.tables = append(f.tables, graphical.Table{Vars: graphical.Set{c.at}, Y: y, Var: variances})
}

// number returns a column of numbers. Its leaves are the finest cells that marginals of the
// column alone count; its codes the cells of marginals of several columns, or else
// neighbouring leaves together.
func (c *gathering) number(f *front) (coded, error) {
	leaves, missing := c.leaves()
	if leaves == nil && c.shared == nil {
		return coded{}, fmt.Errorf("no marginal of it holds all of its values, must one")
	}
	known := leaves != nil
	if !known {
		leaves = []histogram.Leaf{{Lo: 0, Hi: c.grid.Values()}}
	}
	var bins [][2]int
	if c.shared != nil {
		leaves, bins = c.cut(leaves)
	} else {
		sd := math.Sqrt(leaves[0].Var)
		bins = ranges(leaves, f.rows, binsOf(f.rows, 1/sd, numbers(f.core)))
	}
	out := ofNumber(c.grid.Cells(), leaves, bins)
	if out.Within = c.within(); slices.ContainsFunc(c.shared, func(g group) bool { return g.point > 0 }) {
		return coded{}, fmt.Errorf("is counted by single points in a marginal of several columns, must be by cells of its " +
			"public grid")
	}
	if known && (c.grid.Cells() == c.grid.Values() || missing.Y != nil) {
		c.sumLeaves(f, &out, missing)
	}
	for i := range leaves {
		leaves[i].Count = max(leaves[i].Count, 0)
	}
	return out, nil
}

// within returns the shares of points of the cells that marginals of points hold whole.
func (c *gathering) within() map[int][]float64 {
	counts := map[int][]float64{}
	for _, t := range c.points {
		for k, g := range t.axes[0] {
			counts[g.lo] = append(counts[g.lo], t.y[k])
		}
	}
	for cell, y := range counts {
		if len(y) != c.grid.PointsIn(cell) {
			delete(counts, cell)
			continue
		}
		counts[cell] = histogram.Simplex(y, max(total(y), 1))
	}
	return counts
}

// cut makes the cells of marginals of several columns bins of leaves.
func (c *gathering) cut(leaves []histogram.Leaf) ([]histogram.Leaf, [][2]int) {
	var cuts []int
	for _, g := range c.shared {
		if g.lo > 0 && g.lo < c.grid.Values() {
			cuts = append(cuts, g.lo)
		}
	}
	leaves = splitAt(leaves, cuts)
	return leaves, cutAt(leaves, cuts)
}

func (c *gathering) sumLeaves(f *front, dst *coded, missing noisy) {
	y, variances := make([]float64, dst.codes()), make([]float64, dst.codes())
	for b, bin := range dst.Bins {
		for _, l := range dst.Leaves[bin[0]:bin[1]] {
			y[b] += l.Count
			variances[b] += l.Var
		}
	}
	if missing.Y != nil {
		y[len(y)-1], variances[len(y)-1] = missing.Y[0], missing.Variance
	}
	f.tables = append(f.tables, graphical.Table{Vars: graphical.Set{c.at}, Y: y, Var: variances})
}

// leaves returns the finest cells that are counted, and the count of missing values: from
// a marginal over all values, whose cells are divided where a finer one divides them
// whole.
func (c *gathering) leaves() (leaves []histogram.Leaf, missing noisy) {
	for _, t := range c.singles {
		parts := c.parts(t)
		if n := len(t.axes[0]); t.axes[0][n-1].lo == c.grid.Values() {
			missing = mean(missing, noisy{t.y[n-1:], squared(t.sigma)})
		}
		switch {
		case leaves != nil:
			leaves = divided(leaves, parts)
		case cellsOfLeaves(parts) == c.grid.Values():
			leaves = parts
		}
	}
	return leaves, missing
}

// parts returns the cells of values of a marginal of the column.
func (c *gathering) parts(t *tabled) (list []histogram.Leaf) {
	for k, g := range t.axes[0] {
		if g.lo < c.grid.Values() {
			list = append(list, histogram.Leaf{Lo: g.lo, Hi: g.hi, Count: t.y[k], Var: squared(t.sigma)})
		}
	}
	return list
}

func cellsOfLeaves(list []histogram.Leaf) (cells int) {
	for _, l := range list {
		cells += l.Hi - l.Lo
	}
	return cells
}

// divided replaces each leaf by the finer ones that make it up, or by the mean with the one
// that is counted again. Finer ones share the mean of its count and their sum, by precision.
func divided(leaves, parts []histogram.Leaf) (out []histogram.Leaf) {
	for _, l := range leaves {
		for len(parts) > 0 && parts[0].Lo < l.Lo {
			parts = parts[1:]
		}
		n := 0
		for n < len(parts) && parts[n].Hi <= l.Hi {
			n++
		}
		inside := parts[:n]
		if cellsOfLeaves(inside) != l.Hi-l.Lo {
			out = append(out, l)
			continue
		}
		out = append(out, sharedOut(l, inside)...)
	}
	return out
}

func sharedOut(l histogram.Leaf, inside []histogram.Leaf) []histogram.Leaf {
	y, sum, variance := make([]float64, len(inside)), 0.0, 0.0
	for i, p := range inside {
		y[i] = p.Count
		sum, variance = sum+p.Count, variance+p.Var
	}
	all := (l.Count/l.Var + sum/variance) / (1/l.Var + 1/variance)
	out := slices.Clone(inside)
	if len(out) == 1 {
		out[0].Count, out[0].Var = all, 1/(1/l.Var+1/variance)
		return out
	}
	for i, count := range histogram.Simplex(y, max(all, 0)) {
		out[i].Count = count
	}
	return out
}
