package prep

import (
	"math"

	"weir/train"
)

// knnColumns is a table column by column; NaN is a missing value.
type knnColumns [][]float64

// knnOptions are the settings of a knnIndex.
type knnOptions struct {
	Neighbors  int       // donors averaged, at least 1
	ByDistance bool      // weight donors by 1/distance instead of equally
	Scale      []float64 // factor on the differences of each column; nil is 1
	Nominal    []bool    // columns whose difference is 0 or 1 and whose fill is the majority; nil is none
	Features   []bool    // columns that enter the distance; nil is all
	LeafRows   int       // greatest number of rows scanned without pruning; 0 is 16
	TreeRows   int       // rows of one pattern from which they get a tree; 0 is 24
}

// knnIndex holds the donors of a table, ready to fill rows from the nearest ones, as
// sklearn.impute.KNNImputer (metric nan_euclidean) defines it:
//
//	d(a,b) = sqrt(p/|C| * sum over C of (a_j-b_j)^2)
//
// with p columns and C those observed in both rows. A missing cell of column c
// takes the mean, or the mean weighted by 1/d, of c over the nearest donors,
// the rows of the fitted table that observe c. Distances use the original
// values, never imputed ones. Where scikit-learn leaves a choice open: of
// equally near donors the lower row comes first; a donor without a common
// column is not a neighbour (its rule since pull request 29135); a column without
// any donor becomes 0 (keep_empty_features).
//
// Donors are grouped by their pattern of missing values; within a group the
// factor p/|C| is one number for each receiver, so that each group is a k-d
// tree whose boxes bound the distance from below; rows of rare patterns are
// scanned. All distances and box bounds are summed in one order, and every
// rounding is monotone, so pruning never changes the result: it equals a full
// scan bit for bit, on any number of workers.
type knnIndex struct {
	opt    knnOptions
	data   knnColumns
	width  int       // p: columns that enter the distance
	order  []int     // features in the order of summation: numeric ones, then nominal ones
	plain  int       // how many of order are numeric
	fills  []float64 // what a cell becomes where no distance is defined
	groups []*group
	loose  loose
}

// newKNNIndex indexes the given rows of data as donors (nil: all rows). The data is
// kept, not copied; memory is about 8 bytes a cell more.
func newKNNIndex(data knnColumns, rows []int32, opt knnOptions) *knnIndex {
	x := &knnIndex{opt: opt, data: data, fills: make([]float64, len(data))}
	if x.opt.LeafRows == 0 {
		x.opt.LeafRows = 16
	}
	if x.opt.TreeRows == 0 {
		x.opt.TreeRows = rare
	}
	if rows == nil {
		rows = allRows(data)
	}
	x.orderFeatures()
	for c := range data {
		x.fills[c] = x.average(c, rows)
	}
	var few []int32
	for _, g := range x.byPattern(rows) {
		if len(g.rows) < x.opt.TreeRows {
			few = append(few, g.rows...)
		} else {
			x.groups = append(x.groups, x.plant(g))
		}
	}
	x.loose = loose{rows: few, points: x.gather(few)}
	return x
}

func allRows(data knnColumns) []int32 {
	if len(data) == 0 {
		return nil
	}
	rows := make([]int32, len(data[0]))
	for i := range rows {
		rows[i] = int32(i)
	}
	return rows
}

func (x *knnIndex) orderFeatures() {
	for _, nominal := range []bool{false, true} {
		for c := range x.data {
			if x.isNominal(c) == nominal && (x.opt.Features == nil || x.opt.Features[c]) {
				x.order = append(x.order, c)
			}
		}
		if !nominal {
			x.plain = len(x.order)
		}
	}
	x.width = len(x.order)
}

func (x *knnIndex) isNominal(c int) bool { return x.opt.Nominal != nil && x.opt.Nominal[c] }

func (x *knnIndex) scale(c int) float64 {
	if x.opt.Scale == nil {
		return 1
	}
	return x.opt.Scale[c]
}

// average returns the mean (nominal: the most frequent value, the least of equals)
// of the observed values of column c; 0 where there is none.
func (x *knnIndex) average(c int, rows []int32) float64 {
	if x.isNominal(c) {
		return majority(x.data[c], rows)
	}
	sum, n := 0.0, 0
	for _, r := range rows {
		if v := x.data[c][r]; !math.IsNaN(v) {
			sum, n = sum+v, n+1
		}
	}
	if n == 0 {
		return 0
	}
	return sum / float64(n)
}

func majority(column []float64, rows []int32) float64 {
	votes := map[float64]float64{}
	for _, r := range rows {
		if v := column[r]; !math.IsNaN(v) {
			votes[v]++
		}
	}
	return winner(votes)
}

// winner returns the value with most votes, the least of equals; 0 without votes.
func winner(votes map[float64]float64) float64 {
	best, most := 0.0, 0.0
	for v, n := range votes {
		if n > most || n == most && v < best {
			best, most = v, n
		}
	}
	return best
}

// pattern is the set of donors that observe the same columns.
type pattern struct {
	mask string // one byte a column: 1 where it is observed
	rows []int32
}

// byPattern splits rows by their missing values, in order of first appearance.
func (x *knnIndex) byPattern(rows []int32) []*pattern {
	found := map[string]*pattern{}
	var list []*pattern
	mask := make([]byte, len(x.data))
	for _, r := range rows {
		for c := range x.data {
			mask[c] = 1
			if math.IsNaN(x.data[c][r]) {
				mask[c] = 0
			}
		}
		g := found[string(mask)]
		if g == nil {
			g = &pattern{mask: string(mask)}
			found[g.mask] = g
			list = append(list, g)
		}
		g.rows = append(g.rows, r)
	}
	return list
}

// group is the tree of one pattern.
type group struct {
	mask string
	tree *train.NearestTree
}

func (x *knnIndex) plant(p *pattern) *group {
	gap := func(_ int, gap float64) float64 { return gap }
	return &group{p.mask, train.NewNearestTree(x.gather(p.rows), x.width, p.rows, x.opt.LeafRows, gap)}
}

// gather lists the scaled features of rows, NaN where missing, in the order of
// summation.
func (x *knnIndex) gather(rows []int32) []float64 {
	points := make([]float64, len(rows)*x.width)
	for j, c := range x.order {
		column, scale := x.data[c], x.scale(c)
		for i, r := range rows {
			points[i*x.width+j] = column[r] * scale
		}
	}
	return points
}

// loose holds the donors whose pattern of missing values is rare: a tree for a
// handful of rows costs more than it saves. They are scanned, and a distance is
// given up as soon as its partial sum is beyond every column's worst neighbour
// (the factor p/|C| is at least 1, so the sum alone is a lower bound).
type loose struct {
	rows   []int32
	points []float64 // as gathered
}

// rare is the number of rows of a pattern from which a tree is planted.
const rare = 24

// stride is how many features are summed between two looks at the bound.
const stride = 8

// scanLoose offers every loose donor to the wanted columns that it observes.
func (s *searcher) scanLoose() {
	x := s.index
	for i, r := range x.loose.rows {
		d := s.partial(x.loose.points[i*x.width:(i+1)*x.width], s.worst())
		if math.IsInf(d, 1) {
			continue
		}
		for w := range s.wants {
			if want := &s.wants[w]; !math.IsNaN(x.data[want.column][r]) {
				want.best.Offer(d, r)
			}
		}
	}
}

// worst returns the greatest distance at which a donor can still enter some column.
func (s *searcher) worst() float64 {
	worst := 0.0
	for i := range s.wants {
		worst = max(worst, s.wants[i].best.Limit())
	}
	return worst
}

// partial returns the distance to a donor with missing features: +Inf where there is
// no common one, or where it is beyond worst.
func (s *searcher) partial(donor []float64, worst float64) float64 {
	sum, common := 0.0, 0
	for at := 0; at < len(s.observed); at += stride {
		for _, j := range s.observed[at:min(at+stride, len(s.observed))] {
			d := s.point[j] - donor[j]
			if d != d {
				continue
			}
			if common++; j < s.index.plain {
				sum += float64(d * d)
			} else if d != 0 {
				sum++
			}
		}
		if sum > worst {
			return math.Inf(1)
		}
	}
	if common == 0 {
		return math.Inf(1)
	}
	return sum * (float64(s.index.width) / float64(common))
}
