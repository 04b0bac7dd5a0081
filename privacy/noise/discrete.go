package noise

import (
	"fmt"
	"math"
	"math/bits"

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

// wide is an unsigned integer of 128 bits, hi*2^64 + lo.
type wide struct{ hi, lo uint64 }

func product(a, b uint64) wide {
	hi, lo := bits.Mul64(a, b)
	return wide{hi, lo}
}

func (a wide) less(b wide) bool { return a.hi < b.hi || a.hi == b.hi && a.lo < b.lo }

func (a wide) minus(b wide) wide {
	lo, borrow := bits.Sub64(a.lo, b.lo, 0)
	hi, _ := bits.Sub64(a.hi, b.hi, borrow)
	return wide{hi, lo}
}

func (a wide) twice() wide { return wide{a.hi<<1 | a.lo>>63, a.lo << 1} }

// Bernoulli returns true with probability exactly p, which must be in [0, 1]:
// above 1 is always true, a denominator of 0 always false.
func (st *Stream) Bernoulli(p Rational) bool { return st.bernoulli(wide{lo: p.Num}, wide{lo: p.Den}) }

// bernoulli returns true with probability exactly num/den, den < 2^127: it
// compares a uniform number with num/den bit by bit, in binary, until they
// differ, which takes two bits on average.
func (st *Stream) bernoulli(num, den wide) bool {
	if !num.less(den) {
		return den != wide{}
	}
	for {
		word := st.Uint64()
		for range 64 {
			num = num.twice()
			bit := uint64(0)
			if !num.less(den) {
				num, bit = num.minus(den), 1
			}
			if word&1 != bit {
				return word&1 < bit
			}
			word >>= 1
		}
	}
}

// BernoulliExp returns true with probability exactly exp(-x); false where x has
// no denominator. Num and Den must be below 2^63.
func (st *Stream) BernoulliExp(x Rational) bool {
	return x.Den != 0 && st.bernoulliExp(wide{lo: x.Num}, wide{lo: x.Den})
}

// bernoulliExp returns true with probability exactly exp(-num/den), by integers
// only (Canonne, Kamath, Steinke 2020, algorithm 1).
func (st *Stream) bernoulliExp(num, den wide) bool {
	for den.less(num) {
		if !st.bernoulliExpUnit(den, den) {
			return false
		}
		num = num.minus(den)
	}
	return st.bernoulliExpUnit(num, den)
}

// bernoulliExpUnit draws, as bernoulliExp does, for num <= den: the index of the first
// failure among Bernoulli(x/1), Bernoulli(x/2), ... is odd with probability
// exp(-x). A coin of x/k is one of x and one of 1/k.
func (st *Stream) bernoulliExpUnit(num, den wide) bool {
	k := uint64(1)
	for st.bernoulli(num, den) && (k == 1 || st.Uint64n(k) == 0) {
		k++
	}
	return k&1 == 1
}

// wideQuotient returns floor((a + b) / s), at most 2^62.
func wideQuotient(a wide, b, s uint64) int64 {
	lo, carry := bits.Add64(a.lo, b, 0)
	hi := a.hi + carry
	if hi >= s {
		return 1 << 62
	}
	q, _ := bits.Div64(hi, lo, s)
	return int64(min(q, 1<<62))
}

// Race returns an index i with probability proportional to exp(logWeights[i]),
// -Inf standing for a weight of 0; -1 where no weight is positive. It is the
// race of exponential clocks of these rates, run in logarithms, the same as the
// Gumbel-max trick.
//
// The clocks are good to 53 bits at both ends. In [-4096, 4096] the rounding of
// a sum of logarithms shifts a weight by a factor within exp(+-2^-39), so the
// probability of each index is right to within exp(+-2^-38), and nothing but
// the index comes out.
func (st *Stream) Race(logWeights []float64) int {
	winner, best := -1, math.Inf(1)
	for i, w := range logWeights {
		if t := bitmath.Log(st.exponential()) - w; t < best {
			winner, best = i, t
		}
	}
	return winner
}

// Rational is Num/Den, exactly. Parameters of the integer samplers are rational
// so that no probability is ever rounded.
type Rational struct{ Num, Den uint64 }

// exactRational returns x, which must be positive, as a fraction without any
// rounding; an error where 62 bits above and below the line do not suffice.
func exactRational(x float64) (Rational, error) {
	if !(x > 0) || math.IsInf(x, 0) {
		return Rational{}, fmt.Errorf("rational: is %g, must be positive and finite", x)
	}
	frac, exp := math.Frexp(x)
	num := uint64(frac * 0x1p53)
	zeros := bits.TrailingZeros64(num)
	num, exp = num>>zeros, exp-53+zeros
	switch {
	case exp >= 0 && bits.Len64(num)+exp <= 62:
		return Rational{num << exp, 1}, nil
	case exp < 0 && exp >= -62:
		return Rational{num, 1 << -exp}, nil
	}
	return Rational{}, fmt.Errorf("rational: %g needs more than 62 bits; RationalAbove gives a close one", x)
}

// RationalAbove returns the smallest fraction at or above x with a numerator of
// about 40 bits and a denominator of at most 2^50: x itself if that suffices, else
// more by at most one part in 2^39 (2^30 for x near 2^-20).
// A scale or variance rounded up this way gives at least the noise that was paid
// for. x must be in [2^-20, 2^40].
func RationalAbove(x float64) (Rational, error) {
	if !(x >= 0x1p-20 && x <= 0x1p40) {
		return Rational{}, fmt.Errorf("rational: is %g, must be between 2^-20 and 2^40", x)
	}
	_, exp := math.Frexp(x)
	shift := min(40-exp, 50)
	return exactRational(math.Ldexp(math.Ceil(math.Ldexp(x, shift)), -shift))
}

// Float64 returns the fraction rounded to the nearest float64 or nearly so.
func (r Rational) Float64() float64 { return float64(r.Num) / float64(r.Den) }

// check reports whether r can parametrise a sampler.
func (r Rational) check(what string) error {
	if r.Num == 0 || r.Den == 0 || r.Num>>62 != 0 || r.Den>>62 != 0 {
		return fmt.Errorf("%s: is %d/%d, must be positive with at most 62 bits on each side", what, r.Num, r.Den)
	}
	return nil
}
