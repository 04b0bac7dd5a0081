package graphical

import (
	"cmp"
	"context"
	"math"

	"weir/internal/bitmath"
	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/stages/internal/columns"
	"weir/train/graphical"
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
func begin(ctx context.Context, env *pipeline.Env, t pipeline.Table, stated int64) (*front, *purse, error) {
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
	p, err := openPurse(env)
	return f, p, err
}

// singles releases every column for its part of the given squares.
func (f *front) singles(ctx context.Context, p *purse, s Columns, squares float64) error {
	released := make([]oneWay, len(f.grids))
	for j, part := range shares(cellsOf(f.grids), f.stands(), f.sharedCells(squares)) {
		released[j] = oneWay{grid: f.grids[j], rows: f.rows, cuts: cuts(f.grids[j], edgesOf(f.core, f.rules, j)), parts: partsOf(f.core, f.rules, j)}
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

// gridsOf is the one place where bounds and categories are read: from the domain of
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

// sharedCells is the most cells of a column that count for its share: where the rows are
// public, so many as their number over the noise of an equal share tells apart.
func (f *front) sharedCells(squares float64) float64 {
	return sharedBy(f.publicCount(), squares, len(f.core.Columns))
}

// publicCount is the number of rows where it is public; 0 where it is not.
func (f *front) publicCount() float64 {
	if !f.public {
		return 0
	}
	return f.rows
}

// sharedBy is sharedCells for a public number of rows; 0: it is not public.
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
func (f *front) code(j int, one *oneWay, s Columns, p *purse) {
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

// sizes are the codes of each column.
func (f *front) sizes() []int {
	sizes := make([]int, len(f.columns))
	for j := range f.columns {
		sizes[j] = f.columns[j].codes()
	}
	return sizes
}
