package mechanism

import (
	"fmt"
	"math"
	"slices"

	"weir/internal/bitmath"
	"weir/privacy"
	"weir/privacy/noise"
)

// Quantile releases, each time, a point of the grid Low, Low+Step, ..., High near the
// quantile Q of one number of each unit.
//
// Input: one number of each unit; numbers outside are moved to the ends, others down
// to the grid; NaN counts as a unit without a number. Release: a grid point c with
// probability proportional to exp(-Epsilon off(c) / (2 d)), off(c) being how far Q n is
// from the ranks of c, those from the numbers below c to the numbers up to c: so equal
// numbers hold all ranks between, and some point is off by 0. Sensitivity of the score:
// under add_remove either end moves by 0 or 1 and Q n by Q, so that both ends less
// Q n, hence off, move by d = max(Q, 1-Q) at most; under replace_one d = 1. Guarantee:
// Epsilon-DP, the exponential mechanism. Reference: Smith 2011, on gaps; here a
// gap is a number of grid points, so the release shows no low bits of a row.
// The choice of a stretch is noise.Stream.Race. Of two neighbours, its errors move the
// probability of a point by a factor within exp(+-2^-37) together, and the errors of the
// weights (weight) by one within exp(+-2^-37) again. The exponent of a rank is rounded
// three times, at most 2^10 of it to a relative 2^-51: another exp(+-2^-41). Together
// that is below exp(2^-35), however many units there are; 2^-34 of Epsilon pays for it.
type Quantile struct {
	Q, Low, High, Step float64
	Epsilon            float64 // of one release, under Adjacency
	Adjacency          privacy.Adjacency
	Releases           int64
	Charged            int64 // how many releases the event is of, where they are a share of what is charged; 0: Releases
}

// Event: under the adjacency that is not planned for the cost is in proportion to
// what the score moves there.
func (m Quantile) Event(a privacy.Adjacency) privacy.Event {
	epsilon := m.Epsilon
	if a != m.Adjacency {
		epsilon = float64(epsilon * (m.moves().Under(a) / m.moves().Under(m.Adjacency) * (1 + 0x1p-50)))
		epsilon += 0x1p-34
	}
	return repeated(max(m.Releases, m.Charged), privacy.Exponential{Epsilon: epsilon})
}

// moves returns what one unit moves the score of a point: see Quantile.
func (m Quantile) moves() Moves { return Moves{max(m.Q, 1-m.Q), 1} }

// Sensitivity returns the sensitivity of the scores -off(c).
func (m Quantile) Sensitivity(a privacy.Adjacency) privacy.Sensitivity {
	return privacy.Sensitivity{Norm: privacy.LInf, Bound: m.moves().Under(a)}
}

func (m Quantile) Uses() int64 { return m.Releases }

func (m Quantile) Check() error {
	if _, err := m.check(); err != nil {
		return err
	}
	return checkUses("releases", m.Releases)
}

func (m Quantile) check() (points float64, err error) {
	if _, err := privacy.ParseAdjacency(string(m.Adjacency)); err != nil {
		return 0, fmt.Errorf("quantile: %w", err)
	}
	if !(m.Q >= 0 && m.Q <= 1) || !(m.Epsilon >= 0x1p-20 && m.Epsilon <= 0x1p10) {
		return 0, fmt.Errorf("quantile: q: is %g, must be in [0, 1]; epsilon: is %g, must be in [2^-20, 1024]", m.Q,
			m.Epsilon)
	}
	points = math.Floor((m.High-m.Low)/m.Step) + 1
	if !(m.Low < m.High) || !(m.Step > 0) || !(points >= 2 && points <= 0x1p52) {
		return 0, fmt.Errorf("quantile: range [%g, %g] by %g must have from 2 to 2^52 points", m.Low, m.High, m.Step)
	}
	return points, nil
}

// Rate returns the exponent of one rank.
func (m Quantile) Rate() float64 {
	return (m.Epsilon - 0x1p-34) / (2 * m.moves().Under(m.Adjacency))
}

// ReleaseQuantile returns a grid point by the planned Quantile: one use. What it
// reports to have gone in are the scores of watched points, public ones, for a
// test to hold against Sensitivity.
func ReleaseQuantile(h *privacy.Handle, values []float64) (float64, error) {
	m, err := planned[Quantile](h)
	if err != nil {
		return 0, err
	}
	points, err := m.check()
	if err != nil {
		return 0, err
	}
	u, err := h.Next()
	if err != nil {
		return 0, err
	}
	cells := m.cells(values, points)
	c := m.choose(u.Stream("quantile", 0), cells, points)
	return privacy.Release(u, m.watched(u, cells, points), m.Low+float64(float64(c)*m.Step)), nil
}

// choose returns a grid point: first a stretch of points of one score, then a point in it.
func (m Quantile) choose(st *noise.Stream, cells []int64, points float64) int64 {
	list := m.stretches(cells, int64(points))
	weights, rate := make([]float64, len(list)), m.Rate()
	for i, s := range list {
		weights[i] = s.weight(rate)
	}
	s := list[st.Race(weights)]
	return s.first + int64(st.Uint64n(uint64(s.size)))
}

// weight returns the logarithm of the sum of the weights of the points, within 2^-39. off
// is within a relative 2^-52 and the product rounds once more: 3*2^-53 of at most 2^11, as
// what is above is cut there, in neighbours alike. The logarithm of at most 2^52 is within
// 2^-46, and the difference, at most 2^12, rounds by 2^-42. A probability has two weights
// in it, its own and the largest of the sum, so four of them stand between two neighbours.
func (s stretch) weight(rate float64) float64 {
	if s.size == 0 {
		return math.Inf(-1)
	}
	return bitmath.Log(float64(s.size)) - min(float64(s.off*rate), 0x1p11)
}

// stretch is grid points of one score, -off; size can be 0.
type stretch struct {
	first, size int64
	off         float64
}

// stretches returns each point that numbers lie at, and what is between two of them.
func (m Quantile) stretches(cells []int64, points int64) []stretch {
	sorted := slices.Sorted(slices.Values(cells))
	var list []stretch
	next, lower := int64(0), 0
	for lower < len(sorted) {
		pos, end := sorted[lower], lower+1
		for end < len(sorted) && sorted[end] == pos {
			end++
		}
		list = append(list, stretch{next, pos - next, m.off(lower, lower, len(sorted))},
			stretch{pos, 1, m.off(lower, end, len(sorted))})
		next, lower = pos+1, end
	}
	return append(list, stretch{next, points - next, m.off(lower, lower, len(sorted))})
}

// off returns how far Q n is from the ranks of a point, within a relative 2^-52. Q n itself
// would be rounded by up to 2^-23 near n = 2^31, and Epsilon of 2^10 makes 2^-13 of that.
// So the product is target+rest, without an error: near the target the difference of a rank
// and target, both multiples of the last place of target, is exact, and far from it, where
// it rounds, rest is nothing beside it. (Below 2^-1022 rest is rounded, to 2^-1074.)
func (m Quantile) off(lower, end, n int) float64 {
	target := float64(m.Q * float64(n))
	rest := math.FMA(m.Q, float64(n), -target)
	return max(0, float64(lower)-target-rest, target-float64(end)+rest)
}

// watched returns the scores of at most 65 points spread over the grid.
func (m Quantile) watched(u *privacy.Use, cells []int64, points float64) []float64 {
	if !u.Probed() {
		return nil
	}
	scores := make([]float64, int(min(points, 65)))
	for i := range scores {
		c, lower, end := int64(float64(i)*(points-1)/float64(len(scores)-1)), 0, 0
		for _, x := range cells {
			if x < c {
				lower++
			}
			if x <= c {
				end++
			}
		}
		scores[i] = -m.off(lower, end, len(cells))
	}
	return scores
}

// cells returns the grid cell of each number that is one.
func (m Quantile) cells(values []float64, points float64) []int64 {
	cells := make([]int64, 0, len(values))
	for _, x := range values {
		if !math.IsNaN(x) {
			cells = append(cells, int64(min(max(math.Floor((x-m.Low)/m.Step), 0), points-1)))
		}
	}
	return cells
}
