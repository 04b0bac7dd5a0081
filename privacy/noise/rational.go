package noise

import (
	"fmt"
	"math"
	"math/bits"
)

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
