// Package disclosure measures how near synthetic rows come to single real ones.
// None of its figures is evidence of privacy: an attack that fails shows that
// this attack failed.
package disclosure

import (
	"math"

	"weir/stages/internal/columns"
)

// Metric is a distance of rows.
type Metric int

const (
	// EuclideanMixed is sqrt(sum of squared differences of numbers over their
	// range + number of differing categories).
	EuclideanMixed Metric = iota
	// Gower is the mean over columns of |a-b|/range or mismatch (Gower 1971).
	Gower
)

// Space turns frames of the same columns into points.
type Space struct {
	metric  Metric
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
func NewSpace(metric Metric, f *columns.Frame) *Space {
	s := &Space{metric: metric}
	for i := range f.Columns {
		c := &f.Columns[i]
		lo, hi := 0.0, 1.0
		if !c.Coded() {
			lo, hi = Extent(c)
		}
		if !(hi > lo) {
			hi = lo + 1
		}
		s.names, s.nominal = append(s.names, c.Name), append(s.nominal, c.Coded())
		s.lower, s.scale = append(s.lower, lo), append(s.scale, hi-lo)
	}
	return s
}

// Extent is the declared bounds of a column of numbers, or its extremes; 0 and 1
// where it has neither.
func Extent(c *columns.Column) (lo, hi float64) {
	if c.Bounds != nil {
		return c.Bounds[0], c.Bounds[1]
	}
	if lo, hi = c.Extremes(); lo > hi {
		return 0, 1
	}
	return lo, hi
}

// Points is the rows of f, one after the other.
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

// part is the contribution of column j to the sum of a distance.
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

// sum is a distance before final; it stops early above limit.
func (s *Space) sum(a, b []float64, limit float64) float64 {
	total := 0.0
	for j, v := range a {
		if total += s.part(j, v-b[j]); total > limit {
			return total
		}
	}
	return total
}

// final is the distance of a sum of parts.
func (s *Space) final(sum float64) float64 {
	if s.metric == Gower {
		return sum / float64(len(s.names))
	}
	return math.Sqrt(sum)
}
