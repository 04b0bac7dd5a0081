package graphical

import (
	"errors"
	"fmt"
	"math/bits"
)

// Limits bounds the size of a junction tree, in cells of 8 bytes.
type Limits struct {
	Clique, Total int64 // of the largest clique, of all cliques together
}

// DefaultLimits is 10^6 cells a clique and 5*10^6 in all, which is 40 MB.
func DefaultLimits() Limits { return Limits{Clique: 1_000_000, Total: 5_000_000} }

// maxCells stands for every number of cells that does not fit 63 bits.
const maxCells = 1<<63 - 1

// maxCodes is the largest domain of a column: rows hold codes of 16 bits.
const maxCodes = 1 << 16

// maxColumns and maxParts bound the work that a model read from a file can cause.
const (
	maxColumns = 1 << 12
	maxParts   = 1 << 14 // factors, and masks
)

// cellsOf is the number of cells of a table over s; maxCells where it is more than
// can be counted.
func cellsOf(dom []int, s []int) int64 {
	cells := uint64(1)
	for _, c := range s {
		high, low := bits.Mul64(cells, uint64(dom[c]))
		if high > 0 || low >= maxCells {
			return maxCells
		}
		cells = low
	}
	return int64(cells)
}

// plus adds cells without passing maxCells.
func plus(a, b int64) int64 {
	if a > maxCells-b {
		return maxCells
	}
	return a + b
}

// check says which clique, or which total, exceeds the limits, or nil.
func (l Limits) check(dom []int, cliques []Set) error {
	total := int64(0)
	l.Clique = min(l.Clique, 1<<31-1) // places within a clique have 32 bits
	for _, c := range cliques {
		cells := cellsOf(dom, c)
		if total = plus(total, cells); cells > l.Clique {
			return fmt.Errorf("graphical: sets: the clique of columns %v has %d cells, must have at most %d", c, cells, l.Clique)
		}
	}
	if total > l.Total {
		return fmt.Errorf("graphical: sets: the junction tree has %d cells, must have at most %d", total, l.Total)
	}
	return nil
}

// checkDomain says what is wrong with a domain, or nil.
func checkDomain(dom []int) error {
	if len(dom) == 0 || len(dom) > maxColumns {
		return fmt.Errorf("graphical: domain: has %d columns, must have from 1 to %d", len(dom), maxColumns)
	}
	var errs []error
	for c, n := range dom {
		if n < 1 || n > maxCodes {
			errs = append(errs, fmt.Errorf("graphical: domain[%d]: is %d, must be from 1 to %d", c, n, maxCodes))
		}
	}
	return errors.Join(errs...)
}
