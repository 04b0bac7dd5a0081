package metric

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"weir/internal/bitmath"
	"weir/stages/internal/learn"
)

// Pearson returns the product-moment correlation; NaN where a side is constant or
// there are fewer than two pairs.
func Pearson(x, y []float64) float64 {
	n := float64(len(x))
	if len(x) < 2 || constant(x) || constant(y) {
		return math.NaN()
	}
	mx, my := sumOf(x)/n, sumOf(y)/n
	var xx, yy, xy float64
	for i, v := range x {
		a, b := v-mx, y[i]-my
		xx, yy, xy = xx+float64(a*a), yy+float64(b*b), xy+float64(a*b)
	}
	return clipRatio(xy / math.Sqrt(xx) / math.Sqrt(yy))
}

// CorrelationP returns the two-sided p-value of a Pearson or Spearman correlation r
// of n pairs: t with n-2 degrees of freedom. Exact for Pearson on normal data,
// an approximation for Spearman.
func CorrelationP(r float64, n int) float64 {
	switch {
	case math.IsNaN(r) || n < 2:
		return math.NaN()
	case n == 2:
		return 1
	case math.Abs(r) >= 1:
		return 0
	}
	dof := float64(n - 2)
	t := math.Abs(r) * math.Sqrt(dof/((1-r)*(1+r)))
	return 2 * bitmath.StudentTail(dof, t)
}

func constant(x []float64) bool {
	for _, v := range x {
		if v != x[0] {
			return false
		}
	}
	return true
}

func clipRatio(r float64) float64 { return max(-1, min(1, r)) }

func sumOf(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v
	}
	return s
}

// Ordered is a column with the order of its present values, so that ranks among
// any subset of rows take one pass.
type Ordered struct {
	Values []float64
	Order  []int32 // rows that have a value, by rising value
	ranks  []float64
}

// NewOrdered sorts a column; NaN is missing.
func NewOrdered(x []float64) *Ordered {
	o := &Ordered{Values: x}
	type cell struct {
		v   float64
		row int32
	}
	cells := make([]cell, 0, len(x))
	for i, v := range x {
		if !math.IsNaN(v) {
			cells = append(cells, cell{v, int32(i)})
		}
	}
	slices.SortFunc(cells, func(a, b cell) int {
		switch {
		case a.v < b.v:
			return -1
		case a.v > b.v:
			return 1
		}
		return int(a.row - b.row)
	})
	o.Order = make([]int32, len(cells))
	for i, c := range cells {
		o.Order[i] = c.row
	}
	o.ranks = o.among(nil)
	return o
}

// among returns the average rank of every row among the rows where other is present
// (nil: all); NaN for the rest.
func (o *Ordered) among(other []float64) []float64 {
	ranks := make([]float64, len(o.Values))
	for i := range ranks {
		ranks[i] = math.NaN()
	}
	retained := o.Order
	if other != nil {
		retained = make([]int32, 0, len(o.Order))
		for _, i := range o.Order {
			if !math.IsNaN(other[i]) {
				retained = append(retained, i)
			}
		}
	}
	for lo := 0; lo < len(retained); {
		hi := lo + 1
		for hi < len(retained) && o.Values[retained[hi]] == o.Values[retained[lo]] {
			hi++
		}
		for _, i := range retained[lo:hi] {
			ranks[i] = float64(lo+hi+1) / 2
		}
		lo = hi
	}
	return ranks
}

// Spearman returns the correlation of average ranks over the n rows where both
// columns have values.
func Spearman(a, b *Ordered) (r float64, n int) {
	x, y := a.ranks, b.ranks
	if len(a.Order) < len(a.Values) || len(b.Order) < len(b.Values) {
		x, y = CompletePairs(a.among(b.Values), b.among(a.Values))
	}
	return Pearson(x, y), len(x)
}

// CompletePairs keeps the rows where neither is missing.
func CompletePairs(x, y []float64) (a, b []float64) {
	a, b = make([]float64, 0, len(x)), make([]float64, 0, len(y))
	for i, v := range x {
		if !math.IsNaN(v) && !math.IsNaN(y[i]) {
			a, b = append(a, v), append(b, y[i])
		}
	}
	return a, b
}

// KendallTauB returns Kendall's tau-b with its two-sided p-value, over pairs without
// missing values, in n log n steps (Knight 1966). As scipy's kendalltau, p is
// exact without ties for up to 33 pairs or at most one discordant (or
// concordant) pair, and normal with the variance of ties else.
func KendallTauB(x, y []float64) (tau, p float64) {
	n := len(x)
	if n < 2 || constant(x) || constant(y) {
		return math.NaN(), math.NaN()
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		if c := compare(x[a], x[b]); c != 0 {
			return c
		}
		return compare(y[a], y[b])
	})
	sx, sy := make([]float64, n), make([]float64, n)
	for k, i := range order {
		sx[k], sy[k] = x[i], y[i]
	}
	both := tiesOf(n, func(i int) bool { return sx[i] == sx[i-1] && sy[i] == sy[i-1] })
	tx := tiesOf(n, func(i int) bool { return sx[i] == sx[i-1] })
	discordant := inversions(sy, make([]float64, n)) // sorts sy
	ty := tiesOf(n, func(i int) bool { return sy[i] == sy[i-1] })
	all := ofGroup(n)
	// Of ordered pairs, those in order less those against it.
	score := all.pairs - tx.pairs - ty.pairs + both.pairs - float64(4*discordant)
	tau = clipRatio(score / math.Sqrt(float64((all.pairs-tx.pairs)*(all.pairs-ty.pairs))))
	if fewer := min(discordant, float64(all.pairs/2)-discordant); tx.pairs == 0 && ty.pairs == 0 &&
		(n <= 33 || fewer <= 1) {
		return tau, kendallExact(n, fewer)
	}
	return tau, 2 * bitmath.NormalTail(math.Abs(score)/2/math.Sqrt(kendallVariance(all, tx, ty)))
}

func compare(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// ties counts ordered pairs and triples of values inside groups of equal ones.
type ties struct{ pairs, triples float64 }

func ofGroup(size int) ties {
	t := float64(size)
	return ties{float64(t * (t - 1)), float64(t * (t - 1) * (t - 2))}
}

func tiesOf(n int, same func(i int) bool) (s ties) {
	for first, i := 0, 1; i <= n; i++ {
		if i == n || !same(i) {
			group := ofGroup(i - first)
			s.pairs, s.triples, first = s.pairs+group.pairs, s.triples+group.triples, i
		}
	}
	return s
}

// inversions sorts y and counts pairs that were strictly out of order.
func inversions(y, spare []float64) float64 {
	if len(y) < 2 {
		return 0
	}
	mid := len(y) / 2
	count := inversions(y[:mid], spare[:mid]) + inversions(y[mid:], spare[mid:])
	i, j := 0, mid
	for k := range spare[:len(y)] {
		if j == len(y) || i < mid && y[i] <= y[j] {
			spare[k] = y[i]
			i++
			continue
		}
		spare[k] = y[j]
		count += float64(mid - i)
		j++
	}
	copy(y, spare[:len(y)])
	return count
}

// kendallVariance returns the variance of half of Kendall's score where the order of one side is drawn at random
// (Kendall 1970, chapter 4). His sums of t(t-1)(2t+5) are twice the triples and nine times the pairs, so that it is two
// products, of what is not tied.
func kendallVariance(all, tx, ty ties) float64 {
	v := float64((all.pairs-tx.pairs)*(all.pairs-ty.pairs)) / (2 * all.pairs)
	if all.triples > 0 {
		v += float64((all.triples-tx.triples)*(all.triples-ty.triples)) / (9 * all.triples)
	}
	return v
}

// kendallExact returns twice the share of the orders of n values with at most c
// inversions (Kendall 1970, chapter 5).
func kendallExact(n int, c float64) float64 {
	share := make([]float64, int(c)+1)
	share[0] = 1
	for k := 2; k <= n; k++ {
		next := make([]float64, len(share))
		for i := range next {
			for j := max(0, i-k+1); j <= i; j++ {
				next[i] += share[j] / float64(k)
			}
		}
		share = next
	}
	return min(1, 2*sumOf(share))
}

// MatrixDifference sums up real minus synthetic over pairs of columns. Pairs where
// either is NaN are left out and counted; all figures are NaN where none is left.
type MatrixDifference struct {
	MeanAbsolute, RMS, MaxAbsolute float64 // over the pairs: the strict upper triangle of a symmetric matrix
	Frobenius                      float64 // of the whole matrix of differences, its diagonal 0
	Undefined                      int
}

// CompareMatrices compares the figures of pairs; mirrored says that each pair stands for
// two places of a symmetric matrix.
func CompareMatrices(real, synth []float64, mirrored bool) MatrixDifference {
	d := MatrixDifference{MaxAbsolute: math.NaN()}
	n, squares := 0.0, 0.0
	for i, v := range real {
		gap := math.Abs(v - synth[i])
		if math.IsNaN(gap) {
			d.Undefined++
			continue
		}
		n++
		d.MeanAbsolute += gap
		squares += float64(gap * gap)
		if !(gap <= d.MaxAbsolute) {
			d.MaxAbsolute = gap
		}
	}
	d.MeanAbsolute, d.RMS, d.Frobenius = d.MeanAbsolute/n, math.Sqrt(squares/n), math.Sqrt(squares)
	if mirrored {
		d.Frobenius *= math.Sqrt2
	}
	if n == 0 {
		d.Frobenius = math.NaN()
	}
	return d
}

// CovarianceDistance is how far two covariance matrices are apart.
type CovarianceDistance struct {
	Frobenius, Relative float64 // relative: over the norm of the real one, NaN where that is 0
	Spectral            float64 // greatest singular value of the difference
	MaxAbsolute         float64
}

// CompareCovariances compares covariance matrices of one size, at least 1.
func CompareCovariances(real, synth *mat.SymDense) (CovarianceDistance, bool) {
	n := real.SymmetricDim()
	gap := mat.NewSymDense(n, nil)
	var d CovarianceDistance
	norm := 0.0
	for i := range n {
		for j := range n {
			v := real.At(i, j) - synth.At(i, j)
			gap.SetSym(i, j, v)
			d.Frobenius += float64(v * v)
			norm += float64(real.At(i, j) * real.At(i, j))
			d.MaxAbsolute = max(d.MaxAbsolute, math.Abs(v))
		}
	}
	d.Frobenius = math.Sqrt(d.Frobenius)
	d.Relative = ratio(d.Frobenius, math.Sqrt(norm))
	columns := make([][]float64, n)
	for j := range columns {
		columns[j] = mat.Col(nil, j, gap)
	}
	values, _, ok := bitmath.SymmetricEigen(columns)
	for _, v := range values {
		d.Spectral = max(d.Spectral, math.Abs(v))
	}
	return d, ok
}

// Scatter gathers the mean and the covariance of rows that come in blocks. The
// first block's mean is taken off all rows first, so that no digits are lost to
// a mean far from zero.
type Scatter struct {
	n      float64
	origin []float64 // nil until the first block
	sums   []float64 // of the rows minus origin
	cross  *mat.SymDense
}

// NewScatter returns empty, for rows of the given width.
func NewScatter(width int) *Scatter {
	return &Scatter{sums: make([]float64, width), cross: mat.NewSymDense(max(width, 1), nil)}
}

// Add takes the rows of a block.
func (s *Scatter) Add(m learn.Matrix) {
	if m.Rows == 0 || len(m.Cols) == 0 {
		return
	}
	m = m.Dense()
	if s.origin == nil {
		s.origin = make([]float64, len(m.Cols))
		for j, c := range m.Cols {
			s.origin[j] = sumOf(c) / float64(m.Rows)
		}
	}
	x := learn.NewMatrix(m.Rows, len(m.Cols))
	for j, c := range m.Cols {
		row := x.Cols[j]
		for i, v := range c {
			row[i] = v - s.origin[j]
		}
		s.sums[j] += sumOf(row)
	}
	for i, a := range x.Cols {
		for j, b := range x.Cols[i:] {
			s.cross.SetSym(i, i+j, s.cross.At(i, i+j)+bitmath.Dot(a, b))
		}
	}
	s.n += float64(m.Rows)
}

// Rows returns the number of rows so far.
func (s *Scatter) Rows() int { return int(s.n) }

// Mean returns the mean row, nil without rows.
func (s *Scatter) Mean() []float64 {
	if s.n == 0 {
		return nil
	}
	m := make([]float64, len(s.sums))
	for j, v := range s.sums {
		m[j] = s.origin[j] + v/s.n
	}
	return m
}

// Covariance divides by n-1; it needs two rows and one column.
func (s *Scatter) Covariance() *mat.SymDense {
	k := len(s.sums)
	c := mat.NewSymDense(k, nil)
	for i := range k {
		for j := i; j < k; j++ {
			c.SetSym(i, j, (s.cross.At(i, j)-s.sums[i]*s.sums[j]/s.n)/(s.n-1))
		}
	}
	return c
}
