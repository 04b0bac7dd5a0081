package metric

import (
	"context"
	"math"
	"math/rand/v2"
	"sync"

	"weir/internal/bitmath"
	"weir/stages/internal/columns"
	"weir/train/histogram"
	"weir/train/marginal"
	"weir/train/parallel"
)

// CodedTables is two tables in codes, over the same columns.
type CodedTables struct {
	Columns     []CodedColumn
	Real, Synth int // rows
	Skipped     []columns.Drop
}

// CodeAll codes all columns of two aligned frames. Memory is two bytes a value.
func (b Binning) CodeAll(real, synth *columns.Frame, workers int) *CodedTables {
	t := &CodedTables{Real: real.Rows, Synth: synth.Rows}
	coded, ok := make([]CodedColumn, len(real.Columns)), make([]bool, len(real.Columns))
	parallel.Do(workers, len(coded), func(_, i int) {
		coded[i], ok[i] = b.Code(&real.Columns[i], &synth.Columns[i])
	})
	for i, c := range coded {
		if ok[i] {
			t.Columns = append(t.Columns, c)
			continue
		}
		t.Skipped = append(t.Skipped, columns.Drop{Column: real.Columns[i].Name,
			Reason: "has more categories than a marginal can hold (65534)"})
	}
	return t
}

// Queries lists the sets of k columns, or `most` of them drawn by rng where there are
// more.
func (t *CodedTables) Queries(k, most int, rng *rand.Rand) (list [][]int, drawn bool) {
	return marginal.Queries(len(t.Columns), k, most, rng)
}

// Compare counts and compares each query, a list of places of columns, on up to
// `workers` goroutines. Results are in the order of queries and do not depend on
// workers. done is called, from one goroutine at a time, with the finished
// number; it stops early with the context's error.
func (t *CodedTables) Compare(ctx context.Context, queries [][]int, workers int, done func(int)) ([]MarginalComparison,
	error) {
	out := make([]MarginalComparison, len(queries))
	counters := sync.Pool{New: func() any { return &comparer{} }}
	var finished int
	var mu sync.Mutex
	parallel.Do(workers, len(queries), func(_, i int) {
		if ctx.Err() != nil {
			return
		}
		c := counters.Get().(*comparer)
		out[i] = t.compare(c, queries[i])
		counters.Put(c)
		mu.Lock()
		finished++
		done(finished)
		mu.Unlock()
	})
	return out, ctx.Err()
}

// CodedColumn is one coded column of two tables.
type CodedColumn struct {
	Name        string
	Real, Synth []uint16
	Size        int // codes are below it; the last one is "missing"
	Cells       int // categories or bins, without the codes for missing and outside values
	Labels      []string
	Outside     int // synthetic values outside the edges
}

// Binning says how numbers become codes.
type Binning struct {
	Bins     int
	Declared bool // edges between declared bounds where a column has them, else between the real extremes
	OwnBins  bool // values outside the edges get a bin below and one above; else they go to the end bins
}

// UsualBinning returns the binning of the kind marginals where nothing else is said.
func UsualBinning() Binning { return Binning{Bins: 100, Declared: true} }

// maxCodes is the most codes of a column.
const maxCodes = math.MaxUint16

// Code codes a column of two aligned frames. ok is false where it has more than
// maxCodes categories.
func (b Binning) Code(real, synth *columns.Column) (c CodedColumn, ok bool) {
	if !real.Coded() {
		e := b.edges(real)
		c = CodedColumn{Name: real.Name, Size: b.Bins + 3, Cells: b.Bins}
		c.Real, _ = e.code(real.Numbers)
		c.Synth, c.Outside = e.code(synth.Numbers)
		return c, true
	}
	k := len(real.Categories)
	if k >= maxCodes {
		return CodedColumn{}, false
	}
	c = CodedColumn{Name: real.Name, Size: k + 1, Cells: k, Labels: real.Categories}
	c.Real, c.Synth = codes(real.Codes, k), codes(synth.Codes, k)
	return c, true
}

// Codes codes a column in the bins of the real one, with -1 for missing, below
// size. Categories keep their codes.
func (b Binning) Codes(real, c *columns.Column) (codes []int32, size int) {
	if c.Coded() {
		return c.Codes, len(c.Categories)
	}
	e := b.edges(real)
	codes = make([]int32, len(c.Numbers))
	for i, v := range c.Numbers {
		codes[i] = -1
		if !math.IsNaN(v) {
			codes[i] = int32(BinOf(v, e.lower, e.upper, b.Bins))
		}
	}
	return codes, b.Bins
}

func codes(from []int32, missing int) []uint16 {
	dst := make([]uint16, len(from))
	for i, v := range from {
		if v < 0 {
			v = int32(missing)
		}
		dst[i] = uint16(v)
	}
	return dst
}

type edges struct {
	lower, upper float64
	Binning
}

func (b Binning) edges(real *columns.Column) edges {
	if b.Declared && real.Bounds != nil {
		return edges{real.Bounds[0], real.Bounds[1], b}
	}
	lower, upper := real.Extremes()
	return edges{lower, upper, b}
}

// code gives bins 0..Bins-1, then below, above and missing.
func (e edges) code(x []float64) (dst []uint16, outside int) {
	dst = make([]uint16, len(x))
	for i, v := range x {
		if math.IsNaN(v) {
			dst[i] = uint16(e.Bins + 2)
			continue
		}
		lower, higher := v < e.lower, v > e.upper
		if lower || higher {
			outside++
		}
		switch {
		case lower && e.OwnBins:
			dst[i] = uint16(e.Bins)
		case higher && e.OwnBins:
			dst[i] = uint16(e.Bins + 1)
		default:
			dst[i] = uint16(BinOf(v, e.lower, e.upper, e.Bins))
		}
	}
	return dst, outside
}

// BinOf returns the place of x among equal-width bins from lower to upper: right-open,
// the last one closed; values outside go to the end bins, and all are in bin 0
// where lower is not below upper. A relative 1e-9 holds values that stand on an
// edge in decimal notation in the bin above it (testdata/golden/METRICS.md
// section 12, item 5).
func BinOf(x, lower, upper float64, bins int) int {
	if !(upper > lower) || x <= lower {
		return 0
	}
	// Halves keep the width finite for any two bounds.
	point := float64((float64(x/2) - float64(lower/2)) / (float64(upper/2) - float64(lower/2)) * float64(bins))
	point += float64(1e-9 * point)
	if point >= float64(bins) {
		return bins - 1
	}
	return int(point)
}

// Counts counts the codes of the column, in code order.
func (c *CodedColumn) Counts() (real, synth []int64) {
	return count(c.Real, c.Size), count(c.Synth, c.Size)
}

// TotalVariation returns half the sum of the differences between the shares of each code,
// missing being one: 0 where they are equal, 1 where they are disjoint. It is the
// total_variation of this column; NaN where a table has no rows.
func (c *CodedColumn) TotalVariation() float64 {
	t := &CodedTables{Columns: []CodedColumn{*c}, Real: len(c.Real), Synth: len(c.Synth)}
	return t.compare(&comparer{}, []int{0}).TotalVariation
}

func count(codes []uint16, size int) []int64 {
	n := make([]int64, size)
	for _, v := range codes {
		n[v]++
	}
	return n
}

// MarginalComparison is one marginal of both tables.
type MarginalComparison struct {
	// Distances of the shares, over the union of occupied cells; NaN where a
	// table has no rows.
	DiscreteDistances
	Occupied int     // cells that hold a row of either table
	Cells    float64 // cells of the domain: product of CodedColumn.Cells
	MaxCell  float64 // greatest |share real - share synthetic| of a cell
}

// comparer compares one query at a time and keeps its memory for the next one.
type comparer struct {
	marginal.Counter
	sizes       []int
	real, synth [][]uint16
	p, q        []float64
}

// compare counts one query. L1 and MaxCell are summed in whole numbers, so that
// they are exact and no order of summation shows.
func (t *CodedTables) compare(c *comparer, query []int) MarginalComparison {
	c.sizes, c.real, c.synth = c.sizes[:0], c.real[:0], c.synth[:0]
	for _, q := range query {
		col := &t.Columns[q]
		c.sizes, c.real, c.synth = append(c.sizes, col.Size), append(c.real, col.Real), append(c.synth, col.Synth)
	}
	c.Reset(c.sizes)
	c.Add(0, c.real...)
	c.Add(1, c.synth...)
	r := MarginalComparison{Cells: 1}
	for _, q := range query {
		r.Cells *= float64(t.Columns[q].Cells)
	}
	n, m := int64(t.Real), int64(t.Synth)
	c.p, c.q = c.p[:0], c.q[:0]
	sum, worst := int64(0), int64(0)
	c.Each(func(_ uint64, rows [2]int64) {
		a, b := rows[0], rows[1]
		gap := a*m - b*n
		if gap < 0 {
			gap = -gap
		}
		sum, worst = sum+gap, max(worst, gap)
		c.p, c.q = append(c.p, float64(a)/float64(n)), append(c.q, float64(b)/float64(m))
	})
	r.Occupied = len(c.p)
	if n == 0 || m == 0 {
		r.DiscreteDistances, r.MaxCell = NewDiscreteDistances(nil, nil), math.NaN()
		return r
	}
	r.DiscreteDistances = NewDiscreteDistances(c.p, c.q)
	r.L1 = float64(sum) / float64(n) / float64(m)
	r.TotalVariation, r.MaxCell = r.L1/2, float64(worst)/float64(n)/float64(m)
	return r
}

// WorkloadSummary is a workload as a whole; all are NaN where it has no queries.
type WorkloadSummary struct {
	MeanL1, MaxL1 float64
	MaxCell       float64 // greatest error of a cell of any query
	MeanCellError float64 // mean over queries of L1 / number of domain cells
	Worst         int     // place of the query with MaxL1
}

// SummariseWorkload sums up comparisons.
func SummariseWorkload(list []MarginalComparison) WorkloadSummary {
	s := WorkloadSummary{MaxL1: math.NaN(), MaxCell: math.NaN()}
	for i, c := range list {
		s.MeanL1 += c.L1
		s.MeanCellError += c.L1 / c.Cells
		if !(c.L1 <= s.MaxL1) {
			s.MaxL1, s.Worst = c.L1, i
		}
		if !(c.MaxCell <= s.MaxCell) {
			s.MaxCell = c.MaxCell
		}
	}
	s.MeanL1, s.MeanCellError = s.MeanL1/float64(len(list)), s.MeanCellError/float64(len(list))
	return s
}

// Score returns 1 - mean(L1)/2: one for equal tables, zero for disjoint ones. Times
// a million it is the score of the 2018 NIST challenge for 3-way marginals in
// 100 bins between the real extremes (NIST TN 2151).
func (s WorkloadSummary) Score() float64 { return 1 - float64(s.MeanL1/2) }

// Probability is the title of the scatter of dimension-wise probability.
const Probability = "probability"

// Probabilities sums up dimension-wise probability (Choi et al. 2017): how far
// the points (share real, share synthetic) are from the line y = x.
type Probabilities struct {
	MeanAbsolute, RMSE, SumOfSquares, MaxAbsolute float64
	FromDiagonal                                  float64 // mean Euclidean distance of the points from y = x
	Pearson                                       float64 // NaN where either side is constant
	Absent, AbsentOther                           float64 // indicators that no row has, of p and of q
}

// CompareProbabilities compares the shares of each indicator; all are NaN where
// there are none.
func CompareProbabilities(p, q []float64) Probabilities {
	var d Probabilities
	for i, a := range p {
		gap := math.Abs(a - q[i])
		d.MeanAbsolute += gap
		d.SumOfSquares += float64(gap * gap)
		d.MaxAbsolute = max(d.MaxAbsolute, gap)
		if a == 0 {
			d.Absent++
		}
		if q[i] == 0 {
			d.AbsentOther++
		}
	}
	n := float64(len(p))
	d.MeanAbsolute, d.RMSE, d.Pearson = d.MeanAbsolute/n, math.Sqrt(d.SumOfSquares/n), Pearson(p, q)
	d.FromDiagonal = d.MeanAbsolute / math.Sqrt2
	if len(p) == 0 {
		d.SumOfSquares, d.MaxAbsolute, d.Absent, d.AbsentOther = math.NaN(), math.NaN(), math.NaN(), math.NaN()
	}
	return d
}

// FirstIndicator returns the first category that has an indicator: a column of two
// has one, of the second.
func FirstIndicator(categories int) int {
	if categories == 2 {
		return 1
	}
	return 0
}

// Swapped returns the table whose synthetic rows are the real ones too.
func (t *CodedTables) Swapped() *CodedTables {
	s := &CodedTables{Real: t.Real, Synth: t.Real, Columns: append([]CodedColumn(nil), t.Columns...)}
	for i := range s.Columns {
		s.Columns[i].Synth = s.Columns[i].Real
	}
	return s
}

// Independent returns the table whose synthetic rows, as many as the rows of like, are
// drawn column by column, with replacement, from the synthetic rows of t, which
// has some: every 1-way marginal is kept, every association is lost.
func (t *CodedTables) Independent(like *CodedTables, rng *rand.Rand) *CodedTables {
	out := &CodedTables{Real: t.Real, Synth: like.Synth, Columns: append([]CodedColumn(nil), t.Columns...)}
	for i := range out.Columns {
		src := t.Columns[i].Synth
		sample := make([]uint16, like.Synth)
		for k := range sample {
			sample[k] = src[rng.Uint64N(uint64(t.Synth))]
		}
		out.Columns[i].Synth = sample
	}
	return out
}

// Noisy returns Independent with Gaussian noise of the given standard deviation on the
// counts that its columns are drawn from: what a release of single columns leaves.
// Counts become the nearest shares that are not negative.
func (t *CodedTables) Noisy(like *CodedTables, sd float64, rng *rand.Rand) *CodedTables {
	out := &CodedTables{Real: t.Real, Synth: like.Synth, Columns: append([]CodedColumn(nil), t.Columns...)}
	for i := range out.Columns {
		shares := histogram.Simplex(t.Columns[i].released(sd, rng), 1)
		out.Columns[i].Synth = spread(shares, like.Synth, rng)
	}
	return out
}

// released returns the noisy shares of the cells and, where values are missing, of these;
// -Inf for codes that nothing can have.
func (c *CodedColumn) released(sd float64, rng *rand.Rand) []float64 {
	shares := make([]float64, c.Size)
	for _, v := range c.Synth {
		shares[v]++
	}
	for k := range shares {
		if k >= c.Cells && shares[k] == 0 {
			shares[k] = math.Inf(-1)
			continue
		}
		shares[k] = (shares[k] + float64(sd*bitmath.Normal(rng))) / float64(len(c.Synth))
	}
	return shares
}

// spread returns n codes in random order, each as often as its share says.
func spread(shares []float64, n int, rng *rand.Rand) []uint16 {
	codes := make([]uint16, n)
	pos, below, u := 0, shares[0], float64(rng.Float64())
	for i := range codes {
		for place := (float64(i) + u) / float64(n); place >= below && pos+1 < len(shares); below += shares[pos] {
			pos++
		}
		codes[i] = uint16(pos)
	}
	rng.Shuffle(n, func(i, j int) { codes[i], codes[j] = codes[j], codes[i] })
	return codes
}

// Sample returns the table whose synthetic rows are the rows of t at the given places.
func (t *CodedTables) Sample(places []int) *CodedTables {
	out := &CodedTables{Real: t.Real, Synth: len(places), Columns: append([]CodedColumn(nil), t.Columns...)}
	for i := range out.Columns {
		sample := make([]uint16, len(places))
		for k, at := range places {
			sample[k] = t.Columns[i].Synth[at]
		}
		out.Columns[i].Synth = sample
	}
	return out
}
