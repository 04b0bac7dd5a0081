package mechanism

import (
	"fmt"
	"maps"
	"math"
	"slices"

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
// them: each passes with probability at most Delta/PerUnit. Reference:
// Korolova, Kenthapadi, Mishra, Ntoulas 2009; Desfontaines, Voss, Gipson,
// Mandayam 2022.
type Partitions struct {
	Epsilon, Delta float64
	PerUnit        int
	Adjacency      privacy.Adjacency
}

// Partition is a released category and its noisy count.
type Partition struct {
	Name  string
	Count int64
}

// Event describes one Release.
func (m Partitions) Event() privacy.Event {
	return privacy.Approximate{Epsilon: m.Epsilon, Delta: m.Delta}
}

// law returns the noise, at least as wide as the guarantee needs.
func (m Partitions) law() (law noise.DiscreteLaplace, scale float64, err error) {
	if _, err := privacy.ParseAdjacency(string(m.Adjacency)); err != nil {
		return law, 0, fmt.Errorf("partitions: %w", err)
	}
	if !(m.Epsilon > 0) || !(m.Delta > 0 && m.Delta < 1) || m.PerUnit < 1 {
		return law, 0, fmt.Errorf("partitions: epsilon: is %g, must be positive; delta: is %g, must be in (0, 1); per_unit: is %d, must be at least 1", m.Epsilon, m.Delta, m.PerUnit)
	}
	sensitivity := float64(m.PerUnit)
	if m.Adjacency == privacy.ReplaceOne {
		sensitivity *= 2
	}
	r, err := noise.RationalAbove(math.Nextafter(sensitivity/m.Epsilon, math.Inf(1)))
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
	k := b * (math.Log(float64(m.PerUnit)/m.Delta) - math.Log1p(math.Exp(-1/b)))
	return 1 + max(1, int64(math.Ceil(k*(1+0x1p-40)))), nil
}

// Release returns the categories that pass, by name. Counts below 1 are taken
// for absent categories.
func (m Partitions) Release(src *noise.Source, units map[string]int64) ([]Partition, error) {
	law, _, err := m.law()
	if err != nil {
		return nil, err
	}
	threshold, err := m.Threshold()
	if err != nil {
		return nil, err
	}
	st := src.Stream("partitions", 0)
	var out []Partition
	for _, name := range slices.Sorted(maps.Keys(units)) {
		count := []int64{units[name]}
		if count[0] < 1 {
			continue
		}
		if addNoise(st, count, law.Draw); count[0] >= threshold {
			out = append(out, Partition{name, count[0]})
		}
	}
	return out, nil
}
