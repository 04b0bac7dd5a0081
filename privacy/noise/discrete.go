package noise

import (
	"fmt"
	"math"

	"weir/internal/bitmath"
)

// DiscreteLaplace is the law of an integer x with probability proportional to
// exp(-|x| / scale). Adding it to an integer query of sensitivity 1 (L1 over all
// coordinates) is 1/scale-DP (Ghosh, Roughgarden, Sundararajan 2009); the event
// is discrete_laplace with noise_multiplier scale. Draws are exact.
type DiscreteLaplace struct{ scale Rational }

// NewDiscreteLaplace returns the law for a scale of at most 2^40.
func NewDiscreteLaplace(scale Rational) (DiscreteLaplace, error) {
	if err := scale.check("discrete Laplace: scale"); err != nil {
		return DiscreteLaplace{}, err
	}
	if scale.Float64() > 0x1p40 {
		return DiscreteLaplace{}, fmt.Errorf("discrete Laplace: scale: is %g, must be at most 2^40", scale.Float64())
	}
	return DiscreteLaplace{scale}, nil
}

// Draw returns one number (Canonne, Kamath, Steinke 2020, algorithm 2, with s/t
// = 1/scale). Magnitudes stop at 2^62, a point reached with probability below
// exp(-2^22).
func (d DiscreteLaplace) Draw(st *Stream) int64 {
	for {
		negative := st.Uint64()&1 == 1
		size := d.magnitude(st)
		if negative && size == 0 {
			continue
		}
		if negative {
			return -size
		}
		return size
	}
}

// magnitude returns a geometric number: Pr(x) proportional to exp(-x/scale).
func (d DiscreteLaplace) magnitude(st *Stream) int64 {
	t, s := d.scale.Num, d.scale.Den
	u := st.Uint64n(t)
	for !st.bernoulliExpUnit(wide{lo: u}, wide{lo: t}) {
		u = st.Uint64n(t)
	}
	v, one := uint64(0), wide{lo: 1}
	for st.bernoulliExpUnit(one, one) {
		v++
	}
	if s == 1 && v <= 1<<21 {
		return int64(u + t*v)
	}
	return wideQuotient(product(t, v), u, s)
}

// PMF returns the probability of x: tanh(1/2b) exp(-|x|/b) for scale b.
func (d DiscreteLaplace) PMF(x int64) float64 {
	b := d.scale.Float64()
	return bitmath.Tanh(0.5/b) * bitmath.Exp(-math.Abs(float64(x))/b)
}
