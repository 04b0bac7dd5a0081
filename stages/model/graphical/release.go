package graphical

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"weir/internal/bitmath"
	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/stages/internal/columns"
	"weir/stages/model/artifact"
	"weir/train/graphical"
)

// released is a fitted model as it leaves, and as it is read back: public facts and
// what was released with noise, nothing else.
type released struct {
	Domain   *domain.Domain       `json:"domain"`            // of the rows that are drawn: the domain of the table
	Derived  []string             `json:"derived,omitempty"` // its columns that were not measured: they follow from others
	Columns  []coded              `json:"columns"`           // of those that were
	Size     float64              `json:"size"`              // max_model_size, in megabytes
	Model    graphical.Potentials `json:"model"`
	Measured []measured           `json:"measured"`          // every noisy marginal, with its noise
	Settled  bool                 `json:"settled,omitempty"` // counts of columns were estimated before the fit
	Scored   *pairBounds          `json:"scored,omitempty"`  // distances of pairs that were paid for

	layout
	model *graphical.Model
	grids []columns.Grid
}

const (
	format    = 1
	modelPart = "model.json"

	mostRows = 1e18 // of a model, as of a count
)

// release packs a fitted model.
func (f *front) release(kind string, h pipeline.Header, m *graphical.Model, size float64) (pipeline.Table, error) {
	if f.scored != nil {
		f.scored.measureModel(m)
	}
	description, err := json.Marshal(released{Domain: f.whole, Derived: f.names(), Columns: f.columns, Size: size,
		Model: m.Potentials(), Measured: f.measured, Settled: f.settled,
		Scored: f.scored})
	if err != nil {
		return pipeline.Table{}, err
	}
	out := modelHeader(h)
	out.Domain = f.whole
	return artifact.Pack(out, kind, format, []pipeline.File{{Name: modelPart, Data: description}})
}

func decode(parts map[string][]byte) (artifact.Model, error) {
	data, ok := parts[modelPart]
	if !ok || len(parts) != 1 {
		return nil, fmt.Errorf("model: has %d parts, must have %s alone", len(parts), modelPart)
	}
	m := &released{}
	if err := json.Unmarshal(data, m); err != nil {
		return nil, fmt.Errorf("model: %s: %w", modelPart, err)
	}
	if err := m.check(); err != nil {
		return nil, fmt.Errorf("model: %s: %w", modelPart, err)
	}
	return m, nil
}

// check judges what was read before anything of its size is made: it may come from
// anyone.
func (m *released) check() error {
	if m.Domain == nil {
		return fmt.Errorf("domain: is missing, must be the domain of the table")
	}
	if err := artifact.CheckDomain(m.Domain); err != nil {
		return err
	}
	if err := m.arrange(); err != nil {
		return err
	}
	if len(m.Columns) != len(m.core.Columns) {
		return fmt.Errorf("columns: are %d, must be one for each column of the domain that is not derived, %d",
			len(m.Columns), len(m.core.Columns))
	}
	grids, err := gridsOf(m.core)
	if err != nil {
		return err
	}
	sizes := make([]int, len(grids))
	for j := range m.Columns {
		if err := m.Columns[j].check(grids[j]); err != nil {
			return fmt.Errorf("columns[%d]: %w", j, err)
		}
		sizes[j], grids[j] = m.Columns[j].codes(), grids[j].Shared(m.Columns[j].Within)
	}
	if !(m.Size > 0 && m.Size <= mostSize) || !slices.Equal(sizes, m.Model.Domain) {
		return fmt.Errorf("size: is %g, must be above 0 and at most %d; model.Domain: must be the codes of the columns",
			m.Size, mostSize)
	}
	if !(m.Model.Total >= 1 && m.Model.Total < mostRows) {
		return fmt.Errorf("model.Total: is %g, must be a total of 1 row or more, below %g", m.Model.Total, mostRows)
	}
	m.grids = grids
	for i, x := range m.Measured {
		if err := m.checkMeasured(x); err != nil {
			return fmt.Errorf("measured[%d]: %w", i, err)
		}
	}
	if m.Scored != nil {
		if err := m.Scored.check(sizes); err != nil {
			return fmt.Errorf("scored: %w", err)
		}
	}
	if _, err := m.newKeeping(); err != nil {
		return err
	}
	m.model, err = graphical.FromPotentials(m.Model, Size{m.Size}.limits())
	return err
}

// arrange finds the columns that were measured, and how the others follow from them.
func (m *released) arrange() error {
	m.layout = layoutBut(m.Domain, func(column int) bool {
		return !slices.Contains(m.Derived,
			m.Domain.Columns[column].Name)
	})
	if !slices.Equal(m.names(), m.Derived) {
		return fmt.Errorf("derived: is %q, must be columns that follow from others by functions of the domain: %q", m.Derived,
			m.names())
	}
	return nil
}

// check judges leaves and bins against the grid of the column.
func (c *coded) check(g columns.Grid) error {
	places, pos := g.Values(), 0
	if g.Coded() {
		places = g.Cells()
	}
	if c.Cells != g.Cells() {
		return fmt.Errorf("cells: are %d, must be %d, the cells of the domain", c.Cells, g.Cells())
	}
	for i, l := range c.Leaves {
		if l.Lo != pos || l.Hi <= l.Lo || !(l.Count >= 0 && l.Count < 1e18) || !(l.Var >= 0 && l.Var < 1e30) {
			return fmt.Errorf("leaves[%d]: is %v, must begin at %d, end after it and have a count", i, l, pos)
		}
		pos = l.Hi
	}
	if pos != places {
		return fmt.Errorf("leaves: end at %d, must end at %d", pos, places)
	}
	if err := c.checkBins(); err != nil {
		return err
	}
	if err := c.checkWithin(g); err != nil {
		return err
	}
	return c.checkOrder(g.Coded(), places)
}

func (c *coded) checkWithin(g columns.Grid) error {
	for cell, counts := range c.Within {
		if g.Coded() || cell < 0 || cell >= g.Values() || len(counts) != g.PointsIn(cell) {
			return fmt.Errorf("within: has %d points of cell %d, must have all of a cell of numbers", len(counts), cell)
		}
		sum := 0.0
		for _, n := range counts {
			if !(n >= 0 && n < 1e18) {
				return fmt.Errorf("within[%d]: has a count of %g, must be at least 0", cell, n)
			}
			sum += n
		}
		if !(sum > 0) {
			return fmt.Errorf("within[%d]: has no count above 0", cell)
		}
	}
	return nil
}

func (c *coded) checkBins() error {
	pos := 0
	for i, b := range c.Bins {
		if b[0] != pos || b[1] <= b[0] {
			return fmt.Errorf("bins[%d]: is %v, must begin at %d and end behind it", i, b, pos)
		}
		pos = b[1]
	}
	if pos != len(c.Leaves) {
		return fmt.Errorf("bins: end at leaf %d, must end at %d", pos, len(c.Leaves))
	}
	return nil
}

// checkOrder wants each category once; numbers have an order of their own.
func (c *coded) checkOrder(categories bool, places int) error {
	if !categories && c.Order != nil || categories && len(c.Order) != places {
		return fmt.Errorf("order: has %d places, must have each category once, of a number none", len(c.Order))
	}
	seen := make([]bool, places)
	for i, cell := range c.Order {
		if cell < 0 || cell >= places || seen[cell] {
			return fmt.Errorf("order[%d]: is %d, must be each category once", i, cell)
		}
		seen[cell] = true
	}
	return nil
}

// checkMeasured judges a marginal that came with a model.
func (m *released) checkMeasured(x measured) error {
	sizes := m.Model.Domain
	for a, j := range x.Columns {
		if j < 0 || j >= len(sizes) || a > 0 && j <= x.Columns[a-1] {
			return fmt.Errorf("columns: are %v, must be ascending, each one of the %d", x.Columns, len(sizes))
		}
	}
	want := -1
	switch {
	case len(x.Columns) == 0, x.Within != nil && (x.Cells != nil || len(x.Columns) > 1):
	case x.Within != nil:
		want = pointsWithin(m.grids[x.Columns[0]], x.Within)
	case x.Cells != nil && len(x.Columns) == 1:
		want = len(x.Cells)
	case len(x.Columns) == 1 && len(x.Y) == m.Columns[x.Columns[0]].Cells:
		want = len(x.Y)
	case x.Cells == nil:
		want = cellsWithin(sizes, x.Columns, len(x.Y))
	}
	if want != len(x.Y) || !(x.Sigma > 0 && x.Sigma < 1e15) || slices.ContainsFunc(x.Y,
		func(y float64) bool { return !(math.Abs(y) < 1e18) }) {
		return fmt.Errorf("has %d counts of sigma %g over columns %v, must have one a cell, below 1e18, and a sigma above 0",
			len(x.Y), x.Sigma, x.Columns)
	}
	for _, r := range x.Cells {
		if r[0] < 0 || r[1] <= r[0] || r[1] > m.Columns[x.Columns[0]].Cells {
			return fmt.Errorf("cells: one is %v, must be a range of the column's cells", r)
		}
	}
	return nil
}

// pointsWithin returns the number of points of cells whose points are counted, or -1 where one
// of them is not a cell of values, or of values that are not told apart.
func pointsWithin(g columns.Grid, cells []int) (points int) {
	for _, cell := range cells {
		if cell < 0 || cell >= g.Values() || !g.HasInnerCounts() {
			return -1
		}
		points += g.PointsIn(cell)
	}
	return points
}

// cellsWithin returns the cells of a marginal by code, or -1 where they are more than most.
func cellsWithin(sizes, columns []int, most int) int {
	cells := 1
	for _, j := range columns {
		if cells *= sizes[j]; cells > most {
			return -1
		}
	}
	return cells
}

// front returns what a released model was fitted to. A tree of a number's cells left its
// leaves; every other release is there as it was.
func (m *released) front() *front {
	f := &front{layout: m.layout, columns: m.Columns, rows: m.Model.Total, measured: m.Measured, masks: m.Model.Masks,
		settled: m.Settled}
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

// ofCells returns the table by code of a column whose cells were counted one by one.
func (m *released) ofCells(j int, x measured) graphical.Table {
	c := &m.Columns[j]
	t := graphical.Table{Vars: graphical.Set{j}, Y: make([]float64, c.codes()), Var: make([]float64, c.codes())}
	for cell, code := range c.codeOf() {
		t.Y[code] += x.Y[cell]
		t.Var[code] += squared(x.Sigma)
	}
	return t
}

// ofLeaves returns the table by code of a number whose leaves were counted: by a tree, or by
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

// missing returns the mean of all released counts of missing values of a number, by precision.
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

// Copy fits the model again to bootstrap tables: the model's own counts wherever it was
// fitted to a marginal, with fresh noise of the same standard deviations. The noise is
// public, since all that it is added to was released; it protects nothing. Copies
// differ as models do that were paid for anew, but none knows a structure that was
// never measured. Codes, and values inside them, follow the model in every copy.
// Reference: parametric bootstrap (Efron and Tibshirani 1993, section 6.5); coverage in
// docs/measured.md.
func (m *released) Copy(ctx context.Context, rng *rand.Rand, workers int) (artifact.Model, error) {
	f := m.front()
	for i, t := range f.tables {
		y, err := m.model.Marginal(t.Vars)
		if err != nil {
			return nil, err
		}
		for k := range y {
			y[k] += float64(math.Sqrt(t.Var[k]) * bitmath.Normal(rng))
		}
		f.tables[i] = graphical.Table{Vars: t.Vars, Y: y, Var: t.Var}
	}
	fitted, err := f.fit(ctx, Size{m.Size}.limits(), workers)
	if err != nil {
		return nil, err
	}
	other := *m
	other.Scored = nil // it bounds the model that was paid for
	other.model, other.Model, other.Measured = fitted, fitted.Potentials(), slices.Clone(m.Measured)
	return &other, nil
}
