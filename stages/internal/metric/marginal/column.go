// Package marginal compares k-way marginals of a real and a synthetic table: it packs
// columns into small codes, which weir/train/marginal counts.
package marginal

import (
	"math"

	"weir/stages/internal/columns"
)

// Column is one coded column of two tables.
type Column struct {
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

// Usual is the binning of the kind marginals where nothing else is said.
func Usual() Binning { return Binning{Bins: 100, Declared: true} }

// maxCodes is the most codes of a column.
const maxCodes = math.MaxUint16

// Code codes a column of two aligned frames. ok is false where it has more than
// maxCodes categories.
func (b Binning) Code(real, synth *columns.Column) (c Column, ok bool) {
	if !real.Coded() {
		e := b.edges(real)
		c = Column{Name: real.Name, Size: b.Bins + 3, Cells: b.Bins}
		c.Real, _ = e.code(real.Numbers)
		c.Synth, c.Outside = e.code(synth.Numbers)
		return c, true
	}
	k := len(real.Categories)
	if k >= maxCodes {
		return Column{}, false
	}
	c = Column{Name: real.Name, Size: k + 1, Cells: k, Labels: real.Categories}
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
			codes[i] = int32(Bin(v, e.lower, e.upper, b.Bins))
		}
	}
	return codes, b.Bins
}

func codes(from []int32, missing int) []uint16 {
	to := make([]uint16, len(from))
	for i, v := range from {
		if v < 0 {
			v = int32(missing)
		}
		to[i] = uint16(v)
	}
	return to
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
func (e edges) code(x []float64) (to []uint16, outside int) {
	to = make([]uint16, len(x))
	for i, v := range x {
		if math.IsNaN(v) {
			to[i] = uint16(e.Bins + 2)
			continue
		}
		below, above := v < e.lower, v > e.upper
		if below || above {
			outside++
		}
		switch {
		case below && e.OwnBins:
			to[i] = uint16(e.Bins)
		case above && e.OwnBins:
			to[i] = uint16(e.Bins + 1)
		default:
			to[i] = uint16(Bin(v, e.lower, e.upper, e.Bins))
		}
	}
	return to, outside
}

// Bin is the place of x among equal-width bins from lower to upper: right-open,
// the last one closed; values outside go to the end bins, and all are in bin 0
// where lower is not below upper. A relative 1e-9 holds values that stand on an
// edge in decimal notation in the bin above it (testdata/golden/METRICS.md
// section 12, item 5).
func Bin(x, lower, upper float64, bins int) int {
	if !(upper > lower) || x <= lower {
		return 0
	}
	// Halves keep the width finite for any two bounds.
	at := float64((float64(x/2) - float64(lower/2)) / (float64(upper/2) - float64(lower/2)) * float64(bins))
	at += float64(1e-9 * at)
	if at >= float64(bins) {
		return bins - 1
	}
	return int(at)
}

// Counts counts the codes of the column, in code order.
func (c *Column) Counts() (real, synth []int64) {
	return count(c.Real, c.Size), count(c.Synth, c.Size)
}

// TotalVariation is half the sum of the differences between the shares of each code,
// missing being one: 0 where they are equal, 1 where they are disjoint. It is the
// total_variation of this column; NaN where a table has no rows.
func (c *Column) TotalVariation() float64 {
	t := &Table{Columns: []Column{*c}, Real: len(c.Real), Synth: len(c.Synth)}
	return t.compare(&comparer{}, []int{0}).TotalVariation
}

func count(codes []uint16, size int) []int64 {
	n := make([]int64, size)
	for _, v := range codes {
		n[v]++
	}
	return n
}
