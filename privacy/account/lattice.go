package account

import (
	"math"

	"weir/internal/bitmath"
)

// lattice sums a positive function over x = k*h. For an analytic function that
// decays at both ends h times the sum is its integral up to exp(-2 pi d/h), d
// being the distance of the nearest singularity from the real line (the
// trapezoidal rule; Trefethen, Weideman 2014). For a distribution on the
// integers (h = 1) the sum is exact.
type lattice struct {
	h, width   float64
	logF       func(x float64) float64
	first      bool
	low, high  int // indices summed so far, inclusive
	peak, mass float64
}

// cutoff is how many nats below the largest term the sum stops: e^-42 is below
// half a unit in the last place of a double even for thousands of terms.
const cutoff = 42

// logSum returns ln of the sum of exp(logF). starts are points near the modes, the
// one that may be the highest by far first; width is the scale over which the
// function varies around a mode.
func logSum(h, width float64, logF func(float64) float64, starts ...float64) float64 {
	l := &lattice{h: h, width: width, logF: logF, first: true, peak: math.Inf(-1)}
	top := math.Inf(-1)
	for _, s := range starts {
		top = math.Max(top, l.near(int(math.Round(s/h))))
	}
	for _, s := range starts {
		k := int(math.Round(s / h))
		if !l.first && k >= l.low && k <= l.high {
			continue
		}
		if l.near(k) >= top-3*cutoff { // from a mode far below another, the walk up to that could be endless
			l.from(k)
		}
	}
	if l.mass == 0 {
		return math.Inf(-1)
	}
	return l.peak + bitmath.Log(l.mass)
}

// near is the largest logF at index k and its neighbours; k itself may be a zero.
func (l *lattice) near(k int) float64 {
	best := math.Inf(-1)
	for i := k - 1; i <= k+1; i++ {
		if v := l.logF(float64(i) * l.h); v > best {
			best = v
		}
	}
	return best
}

// from walks from index k both ways, never over what has been summed.
func (l *lattice) from(k int) {
	lowWall, highWall := math.MinInt, math.MaxInt
	if !l.first && k > l.high {
		lowWall = l.high
	}
	if !l.first && k < l.low {
		highWall = l.low
	}
	high := l.walk(k, +1, highWall)
	low := l.walk(k-1, -1, lowWall)
	if l.first {
		l.low, l.high, l.first = low, high, false
		return
	}
	l.low, l.high = min(l.low, low), max(l.high, high)
}

// walk adds terms until two in a row are negligible, at least six widths away from
// the start, or until it meets the wall; one alone may be a zero of the function
// within the mass (the excess vanishes where the loss is 0). The first walks go on
// while terms rise, for their start may lie beside the mode; later ones must not,
// for they would climb all the way to a distant mode that has been summed: what is
// negligible between two modes is part of neither. walk returns the last index.
func (l *lattice) walk(k, dir, wall int) int {
	least := int(math.Ceil(6 * l.width / l.h))
	previous := math.Inf(1)
	for n := 0; k != wall; n++ {
		v := l.logF(float64(k) * l.h)
		l.add(v)
		negligible := math.Max(v, previous) < l.peak-cutoff
		if n > least && negligible && (v <= previous || !l.first) {
			return k
		}
		previous = v
		k += dir
	}
	return k - dir
}

func (l *lattice) add(v float64) {
	switch {
	case math.IsInf(v, -1):
	case v > l.peak:
		l.mass = float64(l.mass*bitmath.Exp(l.peak-v)) + 1
		l.peak = v
	default:
		l.mass += bitmath.Exp(v - l.peak)
	}
}
