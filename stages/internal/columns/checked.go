package columns

import (
	"fmt"
	"slices"

	"weir/pipeline"

	"weir/train/marginal"
)

// checked is what a Counter knows of its rows from the first round on, to which it holds every later one.
type checked struct {
	grids  []Grid
	number int64
	cells  [][]int64

	coding  Coding
	nearest *NearestAllowed
	tied    []int     // columns of Forbidden, whose codes go by each other
	ones    [][]int64 // the rows of each code; nil of tied columns
}

func checkedOf(grids []Grid) checked {
	return checked{grids: grids, cells: make([][]int64, len(grids))}
}

// errOther says that two rounds read two tables.
var errOther = fmt.Errorf("the table %w", pipeline.ErrChanged)

// Cells implements Counter.
func (k *checked) Cells(column int) []int64 { return k.cells[column] }

// Recode implements Countek.
func (k *checked) Recode(c Coding) {
	k.coding, k.nearest = c, NewNearestAllowed(c.Forbidden, c.Sizes)
	for _, m := range c.Forbidden {
		k.tied = append(k.tied, m.Vars...)
	}
	slices.Sort(k.tied)
	k.tied = slices.Compact(k.tied)
	k.ones = make([][]int64, len(c.To))
	for j, dst := range c.To {
		if slices.Contains(k.tied, j) {
			continue
		}
		k.ones[j] = make([]int64, c.Sizes[j])
		for cell, code := range dst {
			k.ones[j][code] += k.cells[j][cell]
		}
	}
}

// inOneRound returns how many of the sets, from the first on, are counted in one round.
func inOneRound(sizes []int, sets [][]int) int {
	n := 0
	for cells := 0; n < len(sets) && (n == 0 || cells < MostCounted); n++ {
		set := 1
		for _, column := range sets[n] {
			set = min(set*sizes[column], marginal.MostCells+1)
		}
		cells += set
	}
	return n
}

// agrees tells whether the counts of a set have the rows of each code that the first round found.
func (k *checked) agrees(set []int, counts []int64) bool {
	after := 1
	for i := len(set) - 1; i >= 0; i-- {
		size := k.coding.Sizes[set[i]]
		if k.ones[set[i]] != nil && !slices.Equal(margin(counts, size, after), k.ones[set[i]]) {
			return false
		}
		after *= size
	}
	return true
}

// placesOf tells where the points of each cell of a column begin in a list of the points of some cells, plus 1; 0: the
// cell is none of them. points is how long that list is.
func (k *checked) placesOf(column int, cells []int) (src []int64, points int64) {
	src = make([]int64, k.grids[column].Cells())
	for _, cell := range cells {
		src[cell] = points + 1
		points += int64(k.grids[column].PointsIn(cell))
	}
	return src, points
}

// agreesWithin tells whether the counts at the points of cells have the rows of each cell that the first round found.
func (k *checked) agreesWithin(column int, cells []int, counts []int64) bool {
	for _, cell := range cells {
		points := k.grids[column].PointsIn(cell)
		if sum(counts[:points]) != k.cells[column][cell] {
			return false
		}
		counts = counts[points:]
	}
	return true
}

func sum(counts []int64) (n int64) {
	for _, k := range counts {
		n += k
	}
	return n
}

// margin sums counts by the codes of a column behind which a cell has so many combinations of codes.
func margin(counts []int64, size, after int) []int64 {
	sums := make([]int64, size)
	for from := 0; from < len(counts); from += after {
		sums[from/after%size] += sum(counts[from : from+after])
	}
	return sums
}
