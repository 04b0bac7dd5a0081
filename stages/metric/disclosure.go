package metric

import (
	"encoding/binary"
	"math"
	"slices"

	"weir/internal/bitmath"
	"weir/stages/internal/columns"
	"weir/train"
	"weir/train/parallel"
)

// RowDistance is a distance of rows.
type RowDistance int

const (
	// EuclideanMixed is sqrt(sum of squared differences of numbers over their
	// range + number of differing categories).
	EuclideanMixed RowDistance = iota
	// Gower is the mean over columns of |a-b|/range or mismatch (Gower 1971).
	Gower
)

// Space turns frames of the same columns into points.
type Space struct {
	metric  RowDistance
	names   []string
	nominal []bool
	lower   []float64
	scale   []float64
}

// absentAt is where a missing value stands: beyond any other, so that a
// difference with it is recognised by size. Missing against present counts as a
// mismatch of 1, missing against missing as 0.
const absentAt = 1e12

// NewSpace scales numbers by their declared bounds, or by the extremes of f
// where none are declared; a constant column is not scaled. Categories of
// frames that are measured in one space are aligned.
func NewSpace(metric RowDistance, f *columns.Frame) *Space {
	s := &Space{metric: metric}
	for i := range f.Columns {
		c := &f.Columns[i]
		lo, hi := 0.0, 1.0
		if !c.Coded() {
			lo, hi = ColumnExtent(c)
		}
		if !(hi > lo) {
			hi = lo + 1
		}
		s.names, s.nominal = append(s.names, c.Name), append(s.nominal, c.Coded())
		s.lower, s.scale = append(s.lower, lo), append(s.scale, hi-lo)
	}
	return s
}

// ColumnExtent returns the declared bounds of a column of numbers, or its extremes; 0 and 1
// where it has neither.
func ColumnExtent(c *columns.Column) (lo, hi float64) {
	if c.Bounds != nil {
		return c.Bounds[0], c.Bounds[1]
	}
	if lo, hi = c.Extremes(); lo > hi {
		return 0, 1
	}
	return lo, hi
}

// Points returns the rows of f, one after the other.
func (s *Space) Points(f *columns.Frame) *Points {
	p := &Points{Rows: f.Rows, width: len(s.names), at: make([]float64, f.Rows*len(s.names))}
	for j, name := range s.names {
		c := f.Column(name)
		for i := range f.Rows {
			p.at[i*p.width+j] = s.place(c, i, j)
		}
	}
	return p
}

func (s *Space) place(c *columns.Column, i, j int) float64 {
	if c.Coded() {
		if c.Codes[i] < 0 {
			return absentAt
		}
		return float64(c.Codes[i])
	}
	if math.IsNaN(c.Numbers[i]) {
		return absentAt
	}
	return (c.Numbers[i] - s.lower[j]) / s.scale[j]
}

// Points are rows in a Space.
type Points struct {
	Rows, width int
	at          []float64
}

func (p *Points) row(i int) []float64 { return p.at[i*p.width : (i+1)*p.width] }

// part returns the contribution of column j to the sum of a distance.
func (s *Space) part(j int, gap float64) float64 {
	switch {
	case gap == 0:
		return 0
	case s.nominal[j], gap > absentAt/2, gap < -absentAt/2:
		return 1
	case s.metric == Gower:
		return math.Abs(gap)
	}
	return gap * gap
}

// sum returns a distance before final; it stops early above limit.
func (s *Space) sum(a, b []float64, limit float64) float64 {
	total := 0.0
	for j, v := range a {
		if total += s.part(j, v-b[j]); total > limit {
			return total
		}
	}
	return total
}

// final returns the distance of a sum of parts.
func (s *Space) final(sum float64) float64 {
	if s.metric == Gower {
		return sum / float64(len(s.names))
	}
	return math.Sqrt(sum)
}

// Matches looks rows up by equality in every column; missing equals missing.
type Matches struct {
	names []string
	count map[string]int
}

// NewMatches counts the rows of f.
func NewMatches(f *columns.Frame) *Matches {
	m := &Matches{names: f.Names(), count: make(map[string]int, f.Rows)}
	m.each(f, func(key []byte) { m.count[string(key)]++ })
	return m
}

// each yields a key for each row of an aligned frame.
func (m *Matches) each(f *columns.Frame, yield func(key []byte)) {
	columns := make([]*columns.Column, len(m.names))
	for j, name := range m.names {
		columns[j] = f.Column(name)
	}
	key := make([]byte, 0, 8*len(columns))
	for i := range f.Rows {
		key = key[:0]
		for _, c := range columns {
			if c.Coded() {
				key = binary.LittleEndian.AppendUint32(key, uint32(c.Codes[i]))
				continue
			}
			v := c.Numbers[i] + 0 // -0 equals 0
			if math.IsNaN(v) {
				v = math.NaN() // one bit pattern
			}
			key = binary.LittleEndian.AppendUint64(key, math.Float64bits(v))
		}
		yield(key)
	}
}

// Of counts the rows of f that equal some counted row.
func (m *Matches) Of(f *columns.Frame) int {
	n := 0
	m.each(f, func(key []byte) {
		if m.count[string(key)] > 0 {
			n++
		}
	})
	return n
}

// Unique returns the number of counted rows that no other one equals, and how many
// of them some row of f equals.
func (m *Matches) Unique(f *columns.Frame) (unique, matched int) {
	for _, n := range m.count {
		if n == 1 {
			unique++
		}
	}
	seen := map[string]bool{}
	m.each(f, func(key []byte) {
		if m.count[string(key)] == 1 && !seen[string(key)] {
			seen[string(key)] = true
			matched++
		}
	})
	return unique, matched
}

// tree finds nearest rows of a Space.
type tree struct {
	space *Space
	tree  *train.NearestTree
}

// leafRows is the most rows of a leaf.
const leafRows = 16

// newTree indexes the points. Memory is linear in the rows.
func newTree(s *Space, p *Points) *tree {
	rows := make([]int32, p.Rows)
	for i := range rows {
		rows[i] = int32(i)
	}
	return &tree{space: s, tree: train.NewNearestTree(p.at, p.width, rows, leafRows, s.part)}
}

// NearestTwo is the two nearest rows of a query.
type NearestTwo struct {
	Row           int     // the nearest, the first of equals; -1 where there is none
	First, Second float64 // distances; +Inf where there is none
}

// NNDR returns nearest over second nearest, 0 where both are 0; NaN without two rows.
func (n NearestTwo) NNDR() float64 {
	switch {
	case math.IsInf(n.Second, 1):
		return math.NaN()
	case n.Second == 0:
		return 0
	}
	return n.First / n.Second
}

// nearest finds the rows nearest to row i of q. Row `skip` of the tree is left
// out (-1: none), so that a table can be searched for its own rows.
func (t *tree) nearest(q *Points, i, skip int) NearestTwo {
	best := train.NearestRows{K: 2, List: make([]train.Neighbour, 0, 2)}
	t.tree.Search(query{t.space, q.row(i)}, int32(skip), &best)
	n := NearestTwo{Row: -1, First: math.Inf(1), Second: math.Inf(1)}
	if len(best.List) > 0 {
		n.Row, n.First = int(best.List[0].Row), t.space.final(best.List[0].Distance)
	}
	if len(best.List) > 1 {
		n.Second = t.space.final(best.List[1].Distance)
	}
	return n
}

// query measures sums of parts, not distances, to a row.
type query struct {
	*Space
	row []float64
}

// Distance returns a sum before final.
func (q query) Distance(point []float64, limit float64) float64 { return q.sum(q.row, point, limit) }

// Bound returns a lower bound of the sum to any row of a box.
func (q query) Bound(box []float64) float64 {
	total := 0.0
	for j, v := range q.row {
		lo, hi := box[2*j], box[2*j+1]
		switch {
		case v >= lo && v <= hi:
			continue
		case q.nominal[j]:
			total++ // no category of the box is a category of q
			continue
		}
		part := q.part(j, max(lo-v, v-hi))
		if hi > absentAt/2 {
			part = min(part, 1) // a missing value in the box counts 1
		}
		total += part
	}
	return total
}

// NearestAll finds for each row of `from` the nearest rows of `to`, aligned
// frames. A frame searched for its own rows leaves each row itself out.
func NearestAll(s *Space, source, target *columns.Frame, workers int) []NearestTwo {
	q := s.Points(source)
	tree := newTree(s, s.Points(target))
	out := make([]NearestTwo, source.Rows)
	const block = 256
	parallel.Do(workers, (source.Rows+block-1)/block, func(_, b int) {
		for i := b * block; i < min((b+1)*block, source.Rows); i++ {
			skip := -1
			if source == target {
				skip = i
			}
			out[i] = tree.nearest(q, i, skip)
		}
	})
	return out
}

// Rate is a share of n trials with its Clopper-Pearson interval of 95 %.
type Rate struct {
	Share, Low, High float64
	N                int
}

// NewRate returns k successes in n independent trials; NaN for none.
func NewRate(k, n int) Rate {
	if n == 0 {
		return Rate{math.NaN(), math.NaN(), math.NaN(), 0}
	}
	// Clopper, Pearson 1934: quantiles of the beta distribution.
	const tail = 0.025
	r := Rate{Share: float64(k) / float64(n), High: 1, N: n}
	if k > 0 {
		r.Low = bitmath.BetaQuantile(float64(k), float64(n-k+1), tail)
	}
	if k < n {
		r.High = bitmath.BetaQuantile(float64(k+1), float64(n-k), 1-tail)
	}
	return r
}

// Membership is how well a score tells members from others.
type Membership struct {
	// Power is the share of members above the threshold, FalsePositive the share of
	// others which did not set it.
	Power, FalsePositive Rate
}

// NewMembership attacks with scores that are higher for likely members. The
// threshold is set on the even places of others, so that at most `rate` of them
// are above it, and judged on the odd ones. All are NaN where a list is empty.
func NewMembership(members, others []float64, rate float64) Membership {
	var set, stored []float64
	for i, v := range others {
		if i%2 == 0 {
			set = append(set, v)
		} else {
			stored = append(stored, v)
		}
	}
	if len(members) == 0 || len(stored) == 0 {
		return Membership{NewRate(0, 0), NewRate(0, 0)}
	}
	slices.Sort(set)
	threshold := set[len(set)-1-int(rate*float64(len(set)))]
	return Membership{Power: rateAbove(members, threshold), FalsePositive: rateAbove(stored, threshold)}
}

func rateAbove(x []float64, threshold float64) Rate {
	k := 0
	for _, v := range x {
		if v > threshold {
			k++
		}
	}
	return NewRate(k, len(x))
}

// Percentile returns the q-th percentile of sorted values, by linear interpolation at
// place (n-1)q/100; NaN without values.
func Percentile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	point := float64(len(sorted)-1) * q / 100
	low := int(point)
	high := min(low+1, len(sorted)-1)
	return sorted[low] + float64((point-float64(low))*(sorted[high]-sorted[low]))
}

// DistanceSummary describes distances.
type DistanceSummary struct {
	P5, P25, Median, Mean, Min float64
	N                          int
}

// SummariseDistances leaves out NaN and infinite values.
func SummariseDistances(x []float64) DistanceSummary {
	var retained []float64
	total := 0.0
	for _, v := range x {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			retained, total = append(retained, v), total+v
		}
	}
	slices.Sort(retained)
	return DistanceSummary{Percentile(retained, 5), Percentile(retained, 25), Percentile(retained, 50),
		total / float64(len(retained)),
		Percentile(retained, 0), len(retained)}
}
