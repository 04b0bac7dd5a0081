// Package series has power series of functions with hundreds of digits: the generator of
// bitmath fits polynomials to them and proves their errors, its tests compare with them.
package series

import "math/big"

// Precision is the precision of all coefficients, in bits.
const Precision = 640

// Series is f(centre + t), the sum of Coef[n] t^n. No coefficient, also of those left out,
// is greater than Most / Radius^n.
type Series struct {
	Coef         []*big.Float
	Most, Radius float64
}

// New returns a number of this package's precision.
func New(x float64) *big.Float { return new(big.Float).SetPrec(Precision).SetFloat64(x) }

func ratio(a, b int64) *big.Float { return new(big.Float).SetPrec(Precision).SetRat(big.NewRat(a, b)) }

func mul(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(Precision).Mul(a, b) }

func add(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(Precision).Add(a, b) }

func quo(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(Precision).Quo(a, b) }

// At returns the sum at t.
func (s Series) At(t *big.Float) *big.Float {
	sum := New(0)
	for n := len(s.Coef) - 1; n >= 0; n-- {
		sum = add(mul(sum, t), s.Coef[n])
	}
	return sum
}

// Around returns the same polynomial about the centre moved by d, without what was left out.
func (s Series) Around(d *big.Float) Series {
	coef := append([]*big.Float(nil), s.Coef...)
	for first := range coef { // Horner's rule, once for each coefficient
		for n := len(coef) - 2; n >= first; n-- {
			coef[n] = add(coef[n], mul(d, coef[n+1]))
		}
	}
	return Series{Coef: coef}
}

// Tail returns the series of (f - its first n terms) / t^n.
func (s Series) Tail(n int) Series {
	most := s.Most
	for range n {
		most /= s.Radius
	}
	return Series{s.Coef[n:], most, s.Radius}
}

// Rest bounds what the terms that were left out add where |t| <= h.
func (s Series) Rest(h float64) float64 {
	rest, q := s.Most/(1-h/s.Radius), h/s.Radius
	for range s.Coef {
		rest *= q
	}
	return rest
}

// dividedBy divides f by d + t, where f vanishes at t = -d inside the radius. On the circle of
// nine tenths of the radius |f| is at most ten times Most, and |d + t| at least the
// circle's radius less |d|: Cauchy's estimate.
func (s Series) dividedBy(d *big.Float) Series {
	out := Series{Coef: make([]*big.Float, len(s.Coef)), Radius: 0.9 * s.Radius}
	left := New(0)
	for n, a := range s.Coef {
		left = quo(new(big.Float).SetPrec(Precision).Sub(a, left), d)
		out.Coef[n] = left
	}
	distance, _ := new(big.Float).Abs(d).Float64()
	out.Most = 10 * s.Most / (out.Radius - distance)
	return out
}
