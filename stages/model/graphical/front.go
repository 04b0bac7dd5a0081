package graphical

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sort"

	"weir/internal/bitmath"
	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/stages/internal/columns"
	"weir/train/graphical"
	"weir/train/histogram"
)

// front is what every kind begins with: each column released on its own and, from
// that alone, made a few codes.
//
// Input: a private table of plain columns. Mechanism: for each column a histogram of
// all cells of its public grid, or of the levels of a tree of them. Sensitivity:
// mechanism.HistogramMoves for each histogram and each level, since a row is in one
// cell. Adjacency: either. Guarantee: the part of the stage's filter that they cost.
type front struct {
	layout
	grids    []columns.Grid
	columns  []coded
	tables   []graphical.Table // counts by code, as released
	measured []measured
	rows     float64 // public, or estimated from what was released
	public   bool

	published bool // by others: fitPublished
	settled   bool // counts of columns on their own are estimated before the fit (ones)

	rules []domain.Rule     // of the core
	masks []graphical.Mask  // what they forbid of codes
	bins  [][]domain.Values // of each code, by column

	scored *pairBounds // pairs' distances, where a kind has paid for them
	rowsSD float64     // of the noise of rows; 0: public

	counts columns.Counter // private: of the rows, by cell and later by code
	to     [][]uint16      // the code of each cell, by column
}

// measured is a release as it leaves with the model: counts of disjoint ranges of
// cells of one column, or of all combinations of codes of several.
type measured struct {
	Columns []int     `json:"columns"`
	Cells   [][2]int  `json:"cells,omitempty"`  // ranges of cells of the column's grid
	Within  []int     `json:"within,omitempty"` // cells of which every point is counted, one after the other
	Y       []float64 `json:"y"`
	Sigma   float64   `json:"sigma"`
	Noise   string    `json:"noise,omitempty"` // its law: rounded normal, or laplace
	Fixed   bool      `json:"fixed,omitempty"` // its columns were set by the spec, ahead of all noise
}

// begin counts a table, and then pays: what cannot be read costs nothing. stated is the rows that a spec states where
// their number is not public, or 0; they decide where the table is counted, which no result depends on.
func begin(ctx context.Context, env *pipeline.Env, t pipeline.Table, stated int64) (*front, *balance, error) {
	f := &front{layout: layoutOf(t.Domain), rows: publicRows(t.Header), settled: true}
	f.rules, _ = domain.ReadRules(f.core) // the plan has held them
	f.public = f.rows > 0
	grids, err := gridsOf(f.core)
	if err != nil {
		return nil, nil, err
	}
	if f.counts, err = columns.CounterOf(ctx, t, grids, cmp.Or(t.Header.Rows, stated), env); err != nil {
		return nil, nil, err
	}
	f.grids = grids
	p, err := openBalance(env)
	return f, p, err
}

// singles releases every column for its part of the given squares.
func (f *front) singles(ctx context.Context, p *balance, s Columns, squares float64) error {
	released := make([]oneWay, len(f.grids))
	for j, part := range shares(cellsOf(f.grids), f.columnsPerCore(), f.sharedCells(squares)) {
		released[j] = oneWay{grid: f.grids[j], rows: f.rows, cuts: cuts(f.grids[j], edgesOf(f.core, f.rules, j)),
			parts: partsOf(f.core, f.rules, j)}
		points := func(cells []int) ([]int64, error) { return f.counts.Points(ctx, j, cells) }
		if err := released[j].release(f.counts.Cells(j), points, p, squares*part); err != nil {
			return err
		}
	}
	f.estimateRows(released)
	for j := range released {
		f.code(j, &released[j], s, p)
	}
	forbidden, err := f.obey(f.grids)
	if err == nil {
		f.counts.Recode(columns.Coding{To: f.to, Sizes: f.sizes(), Forbidden: forbidden})
	}
	return err
}

// gridsOf reads bounds and categories, which nothing else does: from the domain of
// the table that comes, which a stage before may have released.
func gridsOf(d *domain.Domain) ([]columns.Grid, error) {
	grids := make([]columns.Grid, len(d.Columns))
	for i, c := range d.Columns {
		var err error
		if grids[i], err = columns.GridOf(c); err != nil {
			return nil, err
		}
	}
	return grids, nil
}

func cellsOf(grids []columns.Grid) []int {
	cells := make([]int, len(grids))
	for i, g := range grids {
		cells[i] = g.Cells()
	}
	return cells
}

// shares divides the budget of the columns: by (weight cells)^(2/3), which makes the sum of
// their weighted L1 errors least. No more than `most` cells of a column count: beyond, too
// many are empty, or noise hides what tells them apart.
func shares(cells []int, weights []float64, most float64) []float64 {
	parts := make([]float64, len(cells))
	for i, c := range cells {
		parts[i] = bitmath.Pow(weights[i]*min(float64(c), most), 2./3)
	}
	whole := total(parts)
	for i := range parts {
		parts[i] /= whole
	}
	return parts
}

const mostShared = 100

// sharedCells returns the most cells of a column that count for its share: where the rows are
// public, so many as their number over the noise of an equal share tells apart.
func (f *front) sharedCells(squares float64) float64 {
	return sharedBy(f.publicCount(), squares, len(f.core.Columns))
}

// publicCount returns the number of rows where it is public; 0 where it is not.
func (f *front) publicCount() float64 {
	if !f.public {
		return 0
	}
	return f.rows
}

// sharedBy returns sharedCells for a public number of rows; 0: it is not public.
func sharedBy(rows, squares float64, columns int) float64 {
	if rows == 0 {
		return mostShared
	}
	return min(mostShared, 4*math.Sqrt(rows*math.Sqrt(squares/2/float64(columns))))
}

// estimateRows says how many rows there are: as is public, or the mean of what each column
// counts, weighted by the precision of its sum.
func (f *front) estimateRows(released []oneWay) {
	if f.public {
		return
	}
	sum, weight := 0.0, 0.0
	for _, one := range released {
		w := 1 / one.sumVariance
		sum, weight = sum+float64(w*one.sum), weight+w
	}
	f.rows, f.rowsSD = max(sum/weight, 1), math.Sqrt(1/weight)
}

// code makes a released column codes.
func (f *front) code(j int, one *oneWay, s Columns, p *balance) {
	bins := cmp.Or(s.Bins, binsOf(f.rows, math.Sqrt(p.total()), numbers(f.core)))
	column, y, variances := one.coded(s, f.core.Columns[j].Name, f.rows, bins)
	f.columns = append(f.columns, column)
	f.tables = append(f.tables, graphical.Table{Vars: graphical.Set{j}, Y: y, Var: variances})
	for _, m := range one.measured {
		m.Columns = []int{j}
		f.measured = append(f.measured, m)
	}
	f.to = append(f.to, column.codeOf())
}

// counted leaves the counter, and the rows that it may hold, when all is counted: a fit needs memory too.
func (f *front) counted() { f.counts = nil }

// sizes returns the codes of each column.
func (f *front) sizes() []int {
	sizes := make([]int, len(f.columns))
	for j := range f.columns {
		sizes[j] = f.columns[j].codes()
	}
	return sizes
}

// oneWay is one column while it is released.
type oneWay struct {
	grid     columns.Grid
	rows     float64           // public; 0: not
	counts   noisy             // of each cell, of categories and of numbers of few cells
	counted  line              // other numbers
	tree     bool              // whose cells were not all counted
	missing  noisy             // of a counted number: one count
	within   map[int][]float64 // of its cells that are heaps: counts of their points
	measured []measured
	cuts     []int // cells at which rules want bins to begin
	parts    []int // of categories that rules tell apart

	sum, sumVariance float64 // of all rows
}

// pointing counts the rows at each point of cells, one cell after the other.
type pointing = func(cells []int) ([]int64, error)

// release releases a column, of whose cells these are the counts.
func (o *oneWay) release(counts []int64, points pointing, p *balance, cost float64) error {
	if o.grid.Coded() || o.grid.Values() <= fewCells {
		return o.releaseCells(counts, p, cost)
	}
	if o.flat(p.sigma(cost)) {
		return o.releaseLine(counts, p, cost, scout)
	}
	o.tree = true
	if !o.grid.HasInnerCounts() {
		return o.releaseLine(counts, p, cost, tree)
	}
	if err := o.releaseLine(counts, p, cost*(1-ofPoints), tree); err != nil {
		return err
	}
	return o.releasePoints(points, p, cost*ofPoints)
}

// flat tells whether the cells of a number are released one by one where rows are, and not
// found by a tree: few of them, unless the rows, where they are public, are too few for
// the noise of each.
func (o *oneWay) flat(sigma float64) bool {
	cells := float64(o.grid.Values())
	return cells <= mostFlat && (o.rows == 0 || o.rows >= flatRows*cells*sigma)
}

const (
	fewCells = 8   // of a number that are all released at once
	mostFlat = 256 // cells of a number that are released one by one
	flatRows = 0.5 // standard deviations of noise that the rows of a cell must be worth on average
	ofPoints = 0.2 // of a column's budget, for the points of cells that are heaps
)

func (o *oneWay) releaseCells(counts []int64, p *balance, cost float64) (err error) {
	if o.counts, err = p.histogram(counts, cost); err != nil {
		return err
	}
	o.sum, o.sumVariance = total(o.counts.Y), float64(len(counts))*o.counts.Variance
	o.measured = []measured{{Y: o.counts.Y, Sigma: o.counts.sd()}}
	return nil
}

// line is a number as releases counted it, which is estimated when the rows are known.
type line interface {
	Leaves(rows float64) []histogram.Leaf
}

// counting finds a line by releases of disjoint ranges of its cells (histogram.Line).
type counting func(histogram.Line, asking) (line, error)

// asking releases the counts of ranges for a part of the budget.
type asking = func(part float64, nodes [][2]int) (y []float64, variance float64, err error)

func scout(l histogram.Line, ask asking) (line, error) { return l.Scout(ask) }

func tree(l histogram.Line, ask asking) (line, error) { return l.Tree(ask) }

// releaseLine releases ranges of cells again and again, finer where many rows are, each
// time as a histogram over disjoint ranges of all cells. Missing values are a cell of
// each.
func (o *oneWay) releaseLine(counts []int64, p *balance, cost float64, count counting) error {
	before := make([]int64, len(counts)+1)
	for i, n := range counts {
		before[i+1] = before[i] + n
	}
	points := o.grid.Values()
	l := histogram.Line{Cells: points, Missing: len(counts) > points, Total: o.rows,
		SD: math.Sqrt(variance(p.sigma(cost)))}
	counted, err := count(l, func(part float64, nodes [][2]int) ([]float64, float64, error) {
		counts := make([]int64, len(nodes))
		for i, node := range nodes {
			counts[i] = before[node[1]] - before[node[0]]
		}
		y, err := p.histogram(counts, cost*part)
		if err == nil {
			o.take(nodes, y)
		}
		return y.Y, y.Variance, err
	})
	o.counted = counted
	return err
}

// take keeps a release of a line.
func (o *oneWay) take(nodes [][2]int, y noisy) {
	o.measured = append(o.measured, measured{Cells: nodes, Y: y.Y, Sigma: y.sd()})
	last := len(nodes) - 1
	if nodes[last][0] == o.grid.Values() {
		o.missing = mean(o.missing, noisy{y.Y[last:], y.Variance})
	}
	w, v := 1/o.sumVariance, float64(len(nodes))*y.Variance
	if o.sumVariance == 0 {
		w = 0
	}
	o.sumVariance = 1 / (w + 1/v)
	o.sum = (float64(o.sum*w) + total(y.Y)/v) * o.sumVariance
}

// coded makes a released column codes, with noisy counts of each and their variances.
func (o *oneWay) coded(s Columns, name string, rows float64, bins int) (c coded, y, variances []float64) {
	if o.grid.Coded() {
		c = ofCategories(o.counts).parted(o.parts)
	} else {
		c = o.binned(s, name, o.line(rows), rows, bins)
		c.Within = o.within
	}
	y, variances = make([]float64, c.codes()), make([]float64, c.codes())
	if o.counts.Y != nil {
		for cell, code := range c.codeOf() {
			y[code] += o.counts.Y[cell]
			variances[code] += o.counts.Variance
		}
		return c, y, variances
	}
	for b, bin := range c.Bins {
		for _, l := range c.Leaves[bin[0]:bin[1]] {
			y[b] += l.Count
			variances[b] += l.Var
		}
	}
	if o.grid.Cells() > o.grid.Values() {
		y[len(y)-1], variances[len(y)-1] = o.missing.Y[0], o.missing.Variance
	}
	return c, y, variances
}

// line returns the estimated histogram of a number.
func (o *oneWay) line(rows float64) []histogram.Leaf {
	if o.counted != nil {
		return o.counted.Leaves(rows)
	}
	points := o.grid.Values()
	present := rows - total(o.counts.Y[points:])
	leaves := make([]histogram.Leaf, points)
	for i, n := range histogram.Haar(o.counts.Y[:points], o.counts.sd(), max(present, 0)) {
		leaves[i] = histogram.Leaf{Lo: i, Hi: i + 1, Count: n, Var: o.counts.Variance}
	}
	return leaves
}

// cuts returns the cells at which bins begin whose lower edges are given: the first with
// no value below the edge. Edges before which no cell lies divide nothing.
func cuts(g columns.Grid, edges []float64) []int {
	var places []int
	for _, edge := range edges {
		cell := sort.Search(g.Values(), func(cell int) bool {
			least, _ := g.Interval(cell)
			return least >= edge
		})
		if cell > 0 && cell < g.Values() {
			places = append(places, cell)
		}
	}
	return slices.Compact(places)
}

func (o *oneWay) binned(s Columns, name string, leaves []histogram.Leaf, rows float64, bins int) coded {
	if edges, declared := s.Edges[name]; declared {
		cuts := slices.Sorted(slices.Values(slices.Concat(cuts(o.grid, edges[1:len(edges)-1]), o.cuts)))
		leaves = splitAt(leaves, cuts)
		return ofNumber(o.grid.Cells(), leaves, cutAt(leaves, cuts))
	}
	found := ranges(leaves, rows, bins)
	if !o.tree {
		found = rounded(leaves, found, o.least)
	}
	leaves, found = divide(leaves, found, o.cuts)
	return ofNumber(o.grid.Cells(), leaves, found)
}

// least returns the least value of a cell.
func (o *oneWay) least(cell int) float64 {
	least, _ := o.grid.Interval(cell)
	return least
}

// heap is how many standard deviations of a level a single cell of several points has
// to show before its points are counted one by one.
const heap = 5

// releasePoints releases one level more of a tree, where a cell has several points: the
// points of the cells that hold a heap, such as the 0 of a capital gain, which would
// else come back as any point of its cell. It is a histogram over disjoint cells like
// every level. Without such a cell nothing is released.
func (o *oneWay) releasePoints(points pointing, p *balance, cost float64) error {
	cells := o.heaps()
	if len(cells) == 0 {
		return nil
	}
	counts, err := points(cells)
	if err != nil {
		return err
	}
	y, err := p.histogram(counts, cost)
	if err != nil {
		return err
	}
	o.measured = append(o.measured, measured{Within: cells, Y: y.Y, Sigma: y.sd()})
	o.within = map[int][]float64{}
	left := y.Y
	for _, cell := range cells {
		own := left[:o.grid.PointsIn(cell)]
		o.within[cell], left = histogram.Simplex(own, max(total(own), 1)), left[len(own):]
	}
	return nil
}

// heaps lists the cells that hold one.
func (o *oneWay) heaps() (cells []int) {
	for _, l := range o.counted.Leaves(o.rows) {
		if l.Hi-l.Lo == 1 && l.Count >= heap*math.Sqrt(l.Var) && o.grid.PointsIn(l.Lo) > 1 {
			cells = append(cells, l.Lo)
		}
	}
	return cells
}
