package mechanism

import (
	"fmt"
	"math"

	"weir/internal/bitmath"
	"weir/privacy"
)

// Bounds finds bounds for numbers that have no public ones.
//
// Input: one number of each unit, each time. Release: two powers of two (or 0) between
// which all but few numbers lie. It counts units in public bins, by sign and
// power of two from 2^LowExponent to 2^HighExponent, with a bin for what is
// smaller in size and one at each end for what is larger, adds discrete Laplace
// noise of scale NoiseMultiplier to every bin, and takes the outermost bins that
// reach Threshold. Sensitivity: one unit is in one bin. Guarantee: the guarantee of
// LaplaceCounts; what follows is post-processing. With probability at least 1 -
// Failure no empty bin is taken. NaN is counted nowhere. Reference: Wilson et
// al. 2020 (approximate bounds).
type Bounds struct {
	NoiseMultiplier           float64
	LowExponent, HighExponent int
	Failure                   float64
	Releases                  int64
}

func (m Bounds) Event(a privacy.Adjacency) privacy.Event { return m.counts().Event(a) }

// Sensitivity returns the sensitivity of the counts in the bins.
func (m Bounds) Sensitivity(a privacy.Adjacency) privacy.Sensitivity {
	return m.counts().Sensitivity(a)
}

func (m Bounds) Uses() int64 { return m.Releases }

func (m Bounds) counts() LaplaceCounts { return LaplaceCounts{m.NoiseMultiplier, m.Releases} }

func (m Bounds) Check() error {
	if err := m.counts().Check(); err != nil {
		return fmt.Errorf("bounds: %w", err)
	}
	if m.LowExponent < -1000 || m.HighExponent > 1000 || m.LowExponent >= m.HighExponent {
		return fmt.Errorf("bounds: exponents: are %d and %d, must rise within [-1000, 1000]", m.LowExponent, m.HighExponent)
	}
	if !(m.Failure > 0 && m.Failure < 1) {
		return fmt.Errorf("bounds: failure: is %g, must be in (0, 1)", m.Failure)
	}
	return nil
}

// bins returns the number of bins of one sign, the one of the smallest included.
func (m Bounds) bins() int { return m.HighExponent - m.LowExponent + 1 }

// Threshold returns the noisy count from which a bin is taken: all empty bins
// stay below it with probability at least 1 - Failure.
func (m Bounds) Threshold() int64 {
	b := m.NoiseMultiplier
	return 1 + int64(math.Ceil(b*bitmath.Log(float64(m.cells())/m.Failure)))
}

// ReleaseBounds returns noisy bounds of the values that Count has counted, in one use of the
// planned Bounds. Its error wraps ErrNoBounds where no bin reaches the threshold, which
// follows from the noisy counts alone.
func ReleaseBounds(h *privacy.Handle, counts []int64) (low, high float64, err error) {
	m, err := planned[Bounds](h)
	if err != nil {
		return 0, 0, err
	}
	if len(counts) != m.cells() {
		return 0, 0, fmt.Errorf("bounds: are %d counts, planned are %d", len(counts), m.cells())
	}
	u, err := h.Next()
	if err != nil {
		return 0, 0, err
	}
	noisy := clamped(counts)
	if err := m.counts().add(u.Stream("bounds", 0), noisy); err != nil {
		return 0, 0, fmt.Errorf("bounds: %w", err)
	}
	return m.outermost(privacy.Release(u, counts, noisy))
}

// Count adds numbers to the counts of their bins, which it makes where there are none.
func (m Bounds) Count(counts []int64, numbers []float64) []int64 {
	if counts == nil {
		counts = make([]int64, m.cells())
	}
	for _, x := range numbers {
		if !math.IsNaN(x) {
			counts[m.bin(x)]++
		}
	}
	return counts
}

// cells returns the number of bins of both signs.
func (m Bounds) cells() int { return 2*m.bins() + 1 }

func (m Bounds) outermost(counts []int64) (low, high float64, err error) {
	first, last := -1, -1
	for i, c := range counts {
		if c >= m.Threshold() {
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	if first < 0 {
		return 0, 0, fmt.Errorf("bounds: %w %d", ErrNoBounds, m.Threshold())
	}
	return m.edge(first, -1), m.edge(last, 1), nil
}

// bin returns the bin of x: the middle one for sizes below 2^LowExponent, then
// outwards [2^k, 2^(k+1)), the last of each sign without end.
func (m Bounds) bin(x float64) int {
	_, exp := math.Frexp(x) // 2^(exp-1) <= |x| < 2^exp
	if math.IsInf(x, 0) {
		exp = m.HighExponent + 1
	}
	k := min(max(exp-m.LowExponent, 0), m.bins())
	if x < 0 {
		return m.bins() - k
	}
	if x == 0 {
		k = 0
	}
	return m.bins() + k
}

// edge returns the outer edge of a bin towards the given side. Bins without end
// are taken to end at 2^HighExponent; callers clip there.
func (m Bounds) edge(bin, side int) float64 {
	k := bin - m.bins()
	switch {
	case k == 0:
		return float64(side) * math.Ldexp(1, m.LowExponent)
	case k > 0 && side > 0:
		return math.Ldexp(1, min(m.LowExponent+k, m.HighExponent))
	case k > 0:
		return math.Ldexp(1, m.LowExponent+k-1)
	case side < 0:
		return -math.Ldexp(1, min(m.LowExponent-k, m.HighExponent))
	}
	return -math.Ldexp(1, m.LowExponent-k-1)
}
