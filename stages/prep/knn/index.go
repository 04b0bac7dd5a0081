package knn

import "math"

// Columns is a table column by column; NaN is a missing value.
type Columns [][]float64

// Options of an Index.
type Options struct {
	Neighbors  int       // donors averaged, at least 1
	ByDistance bool      // weight donors by 1/distance instead of equally
	Scale      []float64 // factor on the differences of each column; nil is 1
	Nominal    []bool    // columns whose difference is 0 or 1 and whose fill is the majority; nil is none
	Features   []bool    // columns that enter the distance; nil is all
	LeafRows   int       // greatest number of rows scanned without pruning; 0 is 16
	TreeRows   int       // rows of one pattern from which they get a tree; 0 is 24
}

// Index holds the donors of a table, ready to fill rows.
type Index struct {
	opt    Options
	data   Columns
	width  int       // p: columns that enter the distance
	order  []int     // features in the order of summation: numeric ones, then nominal ones
	plain  int       // how many of order are numeric
	fills  []float64 // what a cell becomes where no distance is defined
	groups []*group
	loose  loose
}

// New indexes the given rows of data as donors (nil: all rows). The data is
// kept, not copied; memory is about 8 bytes a cell more.
func New(data Columns, rows []int32, opt Options) *Index {
	x := &Index{opt: opt, data: data, fills: make([]float64, len(data))}
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

func allRows(data Columns) []int32 {
	if len(data) == 0 {
		return nil
	}
	rows := make([]int32, len(data[0]))
	for i := range rows {
		rows[i] = int32(i)
	}
	return rows
}

func (x *Index) orderFeatures() {
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

func (x *Index) isNominal(c int) bool { return x.opt.Nominal != nil && x.opt.Nominal[c] }

func (x *Index) scale(c int) float64 {
	if x.opt.Scale == nil {
		return 1
	}
	return x.opt.Scale[c]
}

// average is the mean (nominal: the most frequent value, the least of equals)
// of the observed values of column c; 0 where there is none.
func (x *Index) average(c int, rows []int32) float64 {
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

// winner is the value with most votes, the least of equals; 0 without votes.
func winner(votes map[float64]float64) float64 {
	best, most := 0.0, 0.0
	for v, n := range votes {
		if n > most || n == most && v < best {
			best, most = v, n
		}
	}
	return best
}
