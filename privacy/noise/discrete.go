package noise

import (
	"fmt"
	"math"

	"weir/internal/portable"
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
	return portable.Tanh(0.5/b) * portable.Exp(-math.Abs(float64(x))/b)
}

// DiscreteGaussian is the law of an integer x with probability proportional to
// exp(-x^2 / (2 variance)). Adding it to each coordinate of an integer query of
// L2 sensitivity 1 is 1/(2 variance)-zCDP (Canonne, Kamath, Steinke 2020,
// theorem 4); the event is discrete_gaussian with noise_multiplier
// sqrt(variance). The variance proper is slightly smaller than the parameter.
// Draws are exact.
type DiscreteGaussian struct {
	variance Rational
	proposal DiscreteLaplace
}

// NewDiscreteGaussian returns the law with parameter variance, sigma squared,
// at most 2^40. Den must leave room for the exact test: Num + Den < 2^52.
func NewDiscreteGaussian(variance Rational) (DiscreteGaussian, error) {
	if err := variance.check("discrete Gaussian: variance"); err != nil {
		return DiscreteGaussian{}, err
	}
	if v := variance.Float64(); v > 0x1p40 || variance.Num+variance.Den >= 1<<52 {
		return DiscreteGaussian{}, fmt.Errorf("discrete Gaussian: variance: is %d/%d, must be at most 2^40 with at most 51 bits on each side", variance.Num, variance.Den)
	}
	// t = floor(sigma) + 1; any t >= 1 gives the right law, so the rounding of
	// this square root can only change the speed.
	t := uint64(math.Sqrt(variance.Float64())) + 1
	return DiscreteGaussian{variance, DiscreteLaplace{Rational{t, 1}}}, nil
}

// Draw returns one number (Canonne, Kamath, Steinke 2020, algorithm 3): a
// discrete Laplace number y of scale t is kept with probability
// exp(-(|y| - variance/t)^2 / (2 variance)). A y beyond 2^9 t is rejected
// outright, which changes the law by less than exp(-2^16).
func (g DiscreteGaussian) Draw(st *Stream) int64 {
	n, d, t := g.variance.Num, g.variance.Den, g.proposal.scale.Num
	for {
		y := g.proposal.Draw(st)
		size := uint64(max(y, -y))
		if size > t<<9 {
			continue
		}
		a := size * t * d // < 2^63, for t^2 d <= 4 max(n, d) < 2^54
		gap := max(a, n) - min(a, n)
		if st.bernoulliExp(product(gap, gap), product(2*n, t*t*d)) {
			return y
		}
	}
}

// PMF returns the probability of x to about 1e-15 in relation.
func (g DiscreteGaussian) PMF(x int64) float64 {
	v := g.variance.Float64()
	return portable.Exp(-float64(x)*float64(x)/(2*v)) / gaussianSum(v)
}

// gaussianSum returns the sum over all integers of exp(-x^2/2v): directly, or
// for large v by Poisson summation, whose second term is below 1e-33 there.
func gaussianSum(v float64) float64 {
	if v > 4 {
		return math.Sqrt(2 * math.Pi * v)
	}
	sum := 0.0
	for x := 80.0; x > 0; x-- {
		sum += portable.Exp(-x * x / (2 * v))
	}
	return 1 + float64(2*sum)
}
