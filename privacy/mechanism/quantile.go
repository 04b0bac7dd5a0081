package mechanism

import (
	"fmt"
	"math"
	"slices"

	"weir/privacy"
	"weir/privacy/noise"
)

// Quantile releases a point of the grid Low, Low+Step, ..., High near the
// quantile Q of one number of each unit.
//
// Input: one number of each unit; numbers outside are moved to the ends, NaN
// counts as a unit without a number. Release: a grid point c with probability
// proportional to exp(-Epsilon |rank(c) - Q n| / (2 d)), rank(c) being how many
// numbers lie below c. Sensitivity of the score: under add_remove rank moves by
// 0 or 1 and Q n by Q, so d = max(Q, 1-Q); under replace_one d = 1. Guarantee:
// Epsilon-DP, the exponential mechanism. Reference: Smith 2011, on gaps; here a
// gap is a number of grid points, so the release shows no low bits of a row.
// The choice of a gap is noise.Stream.Race: its errors, a factor within
// exp(+-2^-38) for each of two neighbours, and those of the weights are paid for
// by 2^-34 of Epsilon.
type Quantile struct {
	Q, Low, High, Step float64
	Epsilon            float64
	Adjacency          privacy.Adjacency
}

// Event describes one Release.
func (m Quantile) Event() privacy.Event { return privacy.Exponential{Epsilon: m.Epsilon} }

func (m Quantile) check() (points float64, err error) {
	if _, err := privacy.ParseAdjacency(string(m.Adjacency)); err != nil {
		return 0, fmt.Errorf("quantile: %w", err)
	}
	if !(m.Q >= 0 && m.Q <= 1) || !(m.Epsilon >= 0x1p-20 && m.Epsilon <= 0x1p10) {
		return 0, fmt.Errorf("quantile: q: is %g, must be in [0, 1]; epsilon: is %g, must be in [2^-20, 1024]", m.Q, m.Epsilon)
	}
	points = math.Floor((m.High-m.Low)/m.Step) + 1
	if !(m.Low < m.High) || !(m.Step > 0) || !(points <= 0x1p52) {
		return 0, fmt.Errorf("quantile: range [%g, %g] by %g must have from 2 to 2^52 points", m.Low, m.High, m.Step)
	}
	return points, nil
}

// rate is the exponent of one rank.
func (m Quantile) rate() float64 {
	d := 1.0
	if m.Adjacency == privacy.AddRemove {
		d = max(m.Q, 1-m.Q)
	}
	return (m.Epsilon - 0x1p-34) / (2 * d)
}

// Release returns a grid point.
func (m Quantile) Release(src *noise.Source, values []float64) (float64, error) {
	points, err := m.check()
	if err != nil {
		return 0, err
	}
	// Gap i holds the points c with edges[i] < c <= edges[i+1]: rank i.
	edges := append(m.cells(values, points), -1, int64(points)-1)
	slices.Sort(edges)
	weights := make([]float64, len(edges)-1)
	target, rate := m.Q*float64(len(weights)-1), m.rate()
	for i := range weights {
		weights[i] = math.Inf(-1)
		if size := edges[i+1] - edges[i]; size > 0 {
			weights[i] = noise.Ln(float64(size)) - min(float64(math.Abs(float64(i)-target)*rate), 0x1p11)
		}
	}
	st := src.Stream("quantile", 0)
	gap := st.Race(weights)
	c := edges[gap] + 1 + int64(st.Uint64n(uint64(edges[gap+1]-edges[gap])))
	return m.Low + float64(float64(c)*m.Step), nil
}

// cells returns the grid cell of each number that is one.
func (m Quantile) cells(values []float64, points float64) []int64 {
	cells := make([]int64, 0, len(values)+2)
	for _, x := range values {
		if !math.IsNaN(x) {
			cells = append(cells, int64(min(max(math.Floor((x-m.Low)/m.Step), -1), points-1)))
		}
	}
	return cells
}
