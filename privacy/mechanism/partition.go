package mechanism

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"weir/internal/bitmath"
	"weir/privacy"
	"weir/privacy/noise"
)

// Partitions releases an open set of categories: those whose noisy number of
// units reaches a threshold.
//
// Input: for each category the number of units that have it; one unit has at
// most PerUnit categories. Release: the names at or above Threshold with their
// noisy counts. Adjacency: as set; a replaced unit leaves PerUnit categories and
// joins as many others, so replace_one doubles the noise. Guarantee:
// (Epsilon, Delta)-DP. Categories that both neighbours have are Epsilon-DP by
// discrete Laplace noise of scale (L1 sensitivity)/Epsilon. A category that one
// neighbour lacks has one unit in the other, and there are at most PerUnit of
// them: each passes with probability p of at most Delta/PerUnit. The other way round,
// that it does not pass costs -ln(1-p), which Check holds to the epsilon that its one
// unit has in the noise. Reference:
// Korolova, Kenthapadi, Mishra, Ntoulas 2009; Desfontaines, Voss, Gipson,
// Mandayam 2022.
type Partitions struct {
	Epsilon, Delta float64
	PerUnit        int
	Adjacency      privacy.Adjacency
	Releases       int64
}

// Partition is a released category and its noisy count.
type Partition struct {
	Name  string
	Count int64
}

// Event: the noise is made for Adjacency; under the other one epsilon is in
// proportion to what moves there, and delta, a matter of one table's singletons,
// stays.
func (m Partitions) Event(a privacy.Adjacency) privacy.Event {
	epsilon := m.Epsilon * m.moves().Under(a) / m.moves().Under(m.Adjacency)
	return repeated(m.Releases, privacy.Approximate{Epsilon: epsilon, Delta: m.Delta})
}

func (m Partitions) moves() Moves { return Moves{float64(m.PerUnit), 2 * float64(m.PerUnit)} }

// Sensitivity returns the sensitivity of the numbers of units, a category that is absent having 0.
func (m Partitions) Sensitivity(a privacy.Adjacency) privacy.Sensitivity {
	return privacy.Sensitivity{Norm: privacy.L1, Bound: m.moves().Under(a)}
}

func (m Partitions) Uses() int64 { return m.Releases }

func (m Partitions) Check() error {
	_, b, err := m.law()
	if err != nil {
		return err
	}
	if most := -bitmath.Expm1(-1/b) * float64(m.PerUnit); m.Delta > most {
		return fmt.Errorf("partitions: delta: is %g, must be at most %g at this epsilon", m.Delta, most)
	}
	return checkUses("releases", m.Releases)
}

// law returns the noise, at least as wide as the guarantee needs.
func (m Partitions) law() (law noise.DiscreteLaplace, scale float64, err error) {
	if err := checkAdjacency(m.Adjacency); err != nil {
		return law, 0, fmt.Errorf("partitions: %w", err)
	}
	if !(m.Epsilon > 0) || !(m.Delta > 0 && m.Delta < 1) || m.PerUnit < 1 {
		return law, 0, fmt.Errorf("partitions: epsilon: is %g, must be positive; delta: is %g, must be in (0, 1); "+
			"per_unit: is %d, must be at least 1", m.Epsilon, m.Delta, m.PerUnit)
	}
	r, err := noise.RationalAbove(math.Nextafter(m.moves().Under(m.Adjacency)/m.Epsilon, math.Inf(1)))
	if err != nil {
		return law, 0, fmt.Errorf("partitions: noise scale: %w", err)
	}
	law, err = noise.NewDiscreteLaplace(r)
	return law, r.Float64(), err
}

// Threshold returns the smallest noisy count that is released: 1 + k for the
// smallest k with Pr(noise >= k) = exp(-k/b) / (1 + exp(-1/b)) <= Delta/PerUnit,
// raised by one part in 2^40 for the rounding of this formula.
func (m Partitions) Threshold() (int64, error) {
	_, b, err := m.law()
	if err != nil {
		return 0, err
	}
	k := b * (bitmath.Log(float64(m.PerUnit)/m.Delta) - bitmath.Log1p(bitmath.Exp(-1/b)))
	return 1 + max(1, int64(math.Ceil(k*(1+0x1p-40)))), nil
}

// ReleasePartitions returns the categories that pass, by name, of the planned
// Partitions: one use. Counts below 1 are taken for absent categories.
func ReleasePartitions(h *privacy.Handle, units map[string]int64) ([]Partition, error) {
	m, err := planned[Partitions](h)
	if err != nil {
		return nil, err
	}
	u, err := h.Next()
	if err != nil {
		return nil, err
	}
	out, err := m.pass(u.Stream("partitions", 0), units)
	if err != nil {
		return nil, err
	}
	return byName(privacy.Release(u, present(units), out)), nil
}

// pass returns the noisy counts that reach the threshold. Noise is drawn in the
// order of names, so that it is the same each time.
func (m Partitions) pass(st *noise.Stream, units map[string]int64) (map[string]int64, error) {
	law, _, err := m.law()
	if err != nil {
		return nil, err
	}
	threshold, err := m.Threshold()
	if err != nil {
		return nil, err
	}
	units = present(units)
	out := map[string]int64{}
	for _, name := range slices.Sorted(maps.Keys(units)) {
		count := clamped([]int64{units[name]})
		if addNoise(st, count, law.Draw); count[0] >= threshold {
			out[name] = count[0]
		}
	}
	return out, nil
}

func present(units map[string]int64) map[string]int64 {
	out := maps.Clone(units)
	maps.DeleteFunc(out, func(_ string, n int64) bool { return n < 1 })
	return out
}

func byName(counts map[string]int64) []Partition {
	var out []Partition
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, Partition{name, counts[name]})
	}
	return out
}
