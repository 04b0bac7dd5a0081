package mechanism

import (
	"fmt"
	"math"

	"weir/internal/bitmath"
	"weir/privacy"
	"weir/privacy/noise"
)

// counter is a mechanism on integers.
type counter interface {
	privacy.Mechanism
	// add adds noise in place.
	add(st *noise.Stream, counts []int64) error
}

// ReleaseCounts returns counts with the noise of the planned LaplaceCounts,
// LaplaceTotal or GaussianHistogram: one use. Counts are clamped to +-2^61, so
// that no sum overflows; the clamp moves no two counts apart.
func ReleaseCounts(h *privacy.Handle, counts []int64) ([]int64, error) {
	m, err := planned[counter](h)
	if err != nil {
		return nil, err
	}
	u, err := h.Next()
	if err != nil {
		return nil, err
	}
	out := clamped(counts)
	if err := m.add(u.Stream("counts", 0), out); err != nil {
		return nil, err
	}
	return privacy.Release(u, inputFor(u, counts), out), nil
}

func clamped(counts []int64) []int64 {
	out := make([]int64, len(counts))
	for i, c := range counts {
		out[i] = min(max(c, -1<<61), 1<<61)
	}
	return out
}

// addNoise adds noise to counts that are clamped.
func addNoise(st *noise.Stream, counts []int64, draw func(*noise.Stream) int64) {
	for i := range counts {
		counts[i] += min(max(draw(st), -1<<61), 1<<61)
	}
}

// LaplaceCounts adds discrete Laplace noise to counts.
//
// Input: integers of which one unit's presence changes one by 1 (L1 bound 1 on a
// contribution). Release: all counts with noise of scale NoiseMultiplier.
// Guarantee: 1/NoiseMultiplier-DP under add_remove, twice that under
// replace_one, where a unit leaves one count and joins another; the accountant
// applies the factor. Reference: Ghosh, Roughgarden, Sundararajan 2009.
type LaplaceCounts struct {
	NoiseMultiplier float64
	Releases        int64
}

func (m LaplaceCounts) Check() error {
	if _, err := m.law(); err != nil {
		return err
	}
	return checkUses("releases", m.Releases)
}

func (m LaplaceCounts) Event(privacy.Adjacency) privacy.Event {
	return repeated(m.Releases, privacy.DiscreteLaplace{NoiseMultiplier: m.NoiseMultiplier})
}

func (m LaplaceCounts) Sensitivity(a privacy.Adjacency) privacy.Sensitivity {
	return privacy.Sensitivity{Norm: privacy.L1, Bound: Moves{1, 2}.Under(a)}
}

// Deviation returns the standard deviation of discrete Laplace noise: variance 2a/(1-a)^2, a = exp(-1/b).
func (m LaplaceCounts) Deviation() float64 {
	rate := 1 / m.NoiseMultiplier
	return math.Sqrt2 * bitmath.Exp(-rate/2) / -bitmath.Expm1(-rate)
}

func (m LaplaceCounts) Uses() int64 { return m.Releases }

// law returns the noise; its scale is NoiseMultiplier rounded up.
func (m LaplaceCounts) law() (noise.DiscreteLaplace, error) {
	scale, err := noise.RationalAbove(m.NoiseMultiplier)
	if err != nil {
		return noise.DiscreteLaplace{}, fmt.Errorf("noise multiplier: %w", err)
	}
	return noise.NewDiscreteLaplace(scale)
}

func (m LaplaceCounts) add(st *noise.Stream, counts []int64) error {
	law, err := m.law()
	if err == nil {
		addNoise(st, counts, law.Draw)
	}
	return err
}

// LaplaceTotal adds discrete Laplace noise to the number of all units.
//
// Input: one count of all units. Release: the count with noise of scale NoiseMultiplier.
// Sensitivity: 1 under both adjacencies: a replaced unit, which can have been counted
// before and not after or the other way round, moves it no further than one that comes
// or goes. Guarantee: 1/NoiseMultiplier-DP under both. Under replace_one accountants take
// two for the sensitivity of a discrete_laplace event, and no such event is this release:
// twice the scale moved by 2 has the same epsilon, but a total variation of 1-e^(-1/2b)
// where the scale b moved by 1 has tanh(1/2b), which is more. So the event there is pure,
// the worst pair of its epsilon, which for one unit is this very release.
// Reference: Ghosh, Roughgarden, Sundararajan 2009.
type LaplaceTotal struct {
	NoiseMultiplier float64
	Releases        int64
}

func (m LaplaceTotal) counts() LaplaceCounts { return LaplaceCounts(m) }

func (m LaplaceTotal) Check() error { return m.counts().Check() }

func (m LaplaceTotal) Event(a privacy.Adjacency) privacy.Event {
	if a == privacy.AddRemove {
		return m.counts().Event(a)
	}
	return repeated(m.Releases, privacy.Pure{Epsilon: math.Nextafter(1/m.NoiseMultiplier, math.Inf(1))})
}

func (m LaplaceTotal) Sensitivity(privacy.Adjacency) privacy.Sensitivity {
	return privacy.Sensitivity{Norm: privacy.L1, Bound: 1}
}

func (m LaplaceTotal) Deviation() float64 { return m.counts().Deviation() }

func (m LaplaceTotal) Uses() int64 { return m.Releases }

func (m LaplaceTotal) add(st *noise.Stream, counts []int64) error {
	if len(counts) != 1 {
		return fmt.Errorf("total: are %d counts, must be one", len(counts))
	}
	return m.counts().add(st, counts)
}
