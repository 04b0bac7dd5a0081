package graphical

import (
	"fmt"
	"math"
	"slices"

	"weir/internal/bitmath"
	"weir/train/graphical"
)

// pairBounds are the distances of pairs of columns from independence that a stage paid for to choose by, and what they
// say of the model that was fitted in the end.
//
// Input: the noisy half-L1 distances u of step 4 (docs/marginals.md section 1), in rows, the counts by code that they
// are from, and the fitted model. Guarantee: all of it is in the transcript that is paid for (front.distances), or
// follows from it: nothing more is charged. What it says, by the triangle: with x the pair's histogram of n rows, T
// its table of independent columns, rounded to integers, q the model's table, N the rows that the model has, and m =
// |Nq - T|/2, |u - m| - noise <= |x - Nq|/2 <= u + m + noise.
type pairBounds struct {
	Ones  [][]float64 `json:"ones"`            // counts by code of each column, of which T is made
	Pairs [][2]int    `json:"pairs"`           // columns
	Y     []float64   `json:"y"`               // noisy distances, in rows
	Sigma float64     `json:"sigma"`           // standard deviation of their noise
	Rows  float64     `json:"rows,omitempty"`  // standard deviation of N; 0: public
	Model []float64   `json:"model,omitempty"` // m; -1: not known
}

// familyError is the probability by which one of all bounds of a release may fail.
const familyError = .05

// z is the quantile by which all bounds hold together (Bonferroni): of each pair, and of the rows where these are
// private.
func (s *pairBounds) z() float64 {
	bounds := len(s.Pairs)
	if s.Rows > 0 {
		bounds++
	}
	return bitmath.NormalQuantile(1 - familyError/float64(2*bounds))
}

// reach is what noise adds to each side of a pair's bounds, in rows. The doubled distance had a normal number added,
// which was rounded and so is at most a half further away than it; with private rows N = n + e, and |x/N - x/n| sums
// to |e|/N.
func (s *pairBounds) reach() float64 {
	doubled := math.Sqrt(max(float64(4*s.Sigma*s.Sigma)-1./12, 0))
	return float64((float64(s.z()*doubled)+.5)/2) + float64(float64(s.z()*s.Rows)/2)
}

// bounds hold the total variation of pair i between the counted table and the model; known is false where the model's
// table was not to be had.
func (s *pairBounds) bounds(i int, rows float64) (low, high float64, known bool) {
	if i >= len(s.Model) || s.Model[i] < 0 {
		return 0, 1, false
	}
	u, m, reach := s.Y[i], s.Model[i], s.reach()
	return max(0, math.Abs(u-m)-reach) / rows, min(1, max(0, u+m+reach)/rows), true
}

// against finds how far the model's pairs are from the independent tables.
func (s *pairBounds) against(m *graphical.Model) {
	s.Model = make([]float64, len(s.Pairs))
	place := map[[2]int]int{}
	for i, pair := range s.Pairs {
		s.Model[i], place[pair] = -1, i // a table that is too large is not to be had
	}
	m.EachPair(func(a, b int, table []float64) {
		if i, asked := place[[2]int{a, b}]; asked {
			s.Model[i] = apartBy(table, s.Ones[a], s.Ones[b])
		}
	})
}

// apartBy is half the L1 distance of a table from the independent one that distance compares counts with.
func apartBy(table, a, b []float64) (sum float64) {
	n := total(a)
	for i, x := range a {
		for j, y := range b {
			d := table[i*len(b)+j]
			if n > 0 {
				d -= math.Round(x * y / n)
			}
			sum += float64(math.Abs(d) / 2)
		}
	}
	return sum
}

// check judges what came with a model.
func (s *pairBounds) check(sizes []int) error {
	if len(s.Ones) != len(sizes) || len(s.Y) != len(s.Pairs) || len(s.Pairs) == 0 || len(s.Model) != len(s.Pairs) {
		return fmt.Errorf("has %d columns, %d pairs, %d distances and %d of the model, must have %d columns and one of each "+
			"a pair", len(s.Ones), len(s.Pairs), len(s.Y), len(s.Model), len(sizes))
	}
	for j, ones := range s.Ones {
		if len(ones) != sizes[j] || slices.ContainsFunc(ones, func(x float64) bool { return !(x >= 0 && x < mostRows) }) {
			return fmt.Errorf("ones[%d]: has %d counts, must have one a code, %d, from 0 to %g", j, len(ones), sizes[j], mostRows)
		}
	}
	for i, p := range s.Pairs {
		if p[0] < 0 || p[1] <= p[0] || p[1] >= len(sizes) || !(math.Abs(s.Y[i]) < mostRows) ||
			!(s.Model[i] >= -1 && s.Model[i] < mostRows) {
			return fmt.Errorf("pairs[%d]: is %v at %g and %g, must be two columns, ascending, at distances below %g", i, p, s.Y[i],
				s.Model[i], mostRows)
		}
	}
	if !(s.Sigma > 0 && s.Sigma < 1e15) || !(s.Rows >= 0 && s.Rows < 1e15) {
		return fmt.Errorf("sigma: is %g, and of the rows %g, must be above 0, and at least 0", s.Sigma, s.Rows)
	}
	return nil
}

// pairsList is the bounds of every scored pair as a CSV table, the greatest upper bound first.
func (m *released) pairsList() []byte {
	s, rows := m.Scored, m.Model.Total
	order := make([]int, len(s.Pairs))
	high := make([]float64, len(s.Pairs))
	for i := range order {
		order[i] = i
		_, high[i], _ = s.bounds(i, rows)
	}
	slices.SortStableFunc(order, func(a, b int) int { return descending(high[a], high[b]) })
	sheet := newSheet([]string{"first", "second", "measured", "distance_from_independence", "sd", "low", "high"})
	for _, i := range order {
		names := m.columnsOf(s.Pairs[i][:])
		low, high, known := s.bounds(i, rows)
		row := append(names, yes(m.holds(s.Pairs[i])), text(s.Y[i]/rows), text(s.Sigma/rows), "not known", "not known")
		if known {
			row[5], row[6] = text(low), text(high)
		}
		sheet.row(row)
	}
	return sheet.bytes()
}

// holds tells whether a measured marginal holds a pair.
func (m *released) holds(pair [2]int) bool {
	return slices.ContainsFunc(m.Measured, func(x measured) bool {
		return slices.Contains(x.Columns, pair[0]) && slices.Contains(x.Columns, pair[1])
	})
}
