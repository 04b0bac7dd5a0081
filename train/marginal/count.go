package marginal

import (
	"fmt"

	"weir/train/parallel"
)

// MostCells is the most cells of a marginal that is counted in an array.
const MostCells = denseCells

// Tally counts many marginals of one table that comes in parts, in one pass. The counts of a set are the rows in every
// cell, row-major, the last column of the set fastest: 8 bytes a cell. They do not depend on parts or workers.
type Tally struct {
	sizes  []int
	sets   [][]int
	counts [][]int64
	pieces []piece
}

// NewTally returns a tally of no rows. Codes of column j are below sizes[j]; each set lists the columns of a marginal. An
// error names a set of no column, or of more than MostCells cells.
func NewTally(sizes []int, sets [][]int) (*Tally, error) {
	t := &Tally{sizes: sizes, sets: sets, counts: make([][]int64, len(sets))}
	for i, set := range sets {
		cells, err := Cells(sizes, set)
		if err != nil {
			return nil, err
		}
		t.counts[i] = make([]int64, cells)
	}
	t.pieces = piecesOf(sets)
	return t, nil
}

// Cells returns how many combinations of codes a set of columns has. An error names a set of no column, or of more than
// MostCells cells.
func Cells(sizes, set []int) (int, error) {
	cells := int64(1)
	for _, j := range set {
		cells = min(cells*int64(sizes[j]), MostCells+1)
	}
	if len(set) == 0 || cells > MostCells {
		return 0, fmt.Errorf("marginal of columns %v: has %d cells or more, must have columns and at most %d cells", set, cells, MostCells)
	}
	return int(cells), nil
}

// Add counts further rows: columns has those of every column.
func (t *Tally) Add(columns [][]uint16, workers int) {
	parallel.Do(workers, len(t.pieces), func(_, i int) { t.count(columns, t.pieces[i]) })
}

// Counts is what was counted so far, by set.
func (t *Tally) Counts() [][]int64 { return t.counts }
