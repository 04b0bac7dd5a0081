package bitmath

import (
	"math"
	"math/big"
	"testing"
)

// wideBits is the precision of all coefficients, in bits.
const wideBits = 640

// series is f(centre + t), the sum of Coef[n] t^n. No coefficient, also of those left out,
// is greater than Most / Radius^n.
type series struct {
	Coef         []*big.Float
	Most, Radius float64
}

// wide returns a number of this package's precision.
func wide(x float64) *big.Float { return new(big.Float).SetPrec(wideBits).SetFloat64(x) }

func ratio(a, b int64) *big.Float { return new(big.Float).SetPrec(wideBits).SetRat(big.NewRat(a, b)) }

func mul(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(wideBits).Mul(a, b) }

func add(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(wideBits).Add(a, b) }

func quo(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(wideBits).Quo(a, b) }

// At returns the sum at t.
func (s series) At(t *big.Float) *big.Float {
	sum := wide(0)
	for n := len(s.Coef) - 1; n >= 0; n-- {
		sum = add(mul(sum, t), s.Coef[n])
	}
	return sum
}

// Around returns the same polynomial about the centre moved by d, without what was left out.
func (s series) Around(d *big.Float) series {
	coef := append([]*big.Float(nil), s.Coef...)
	for first := range coef { // Horner's rule, once for each coefficient
		for n := len(coef) - 2; n >= first; n-- {
			coef[n] = add(coef[n], mul(d, coef[n+1]))
		}
	}
	return series{Coef: coef}
}

// Tail returns the series of (f - its first n terms) / t^n.
func (s series) Tail(n int) series {
	most := s.Most
	for range n {
		most /= s.Radius
	}
	return series{s.Coef[n:], most, s.Radius}
}

// Rest bounds what the terms that were left out add where |t| <= h.
func (s series) Rest(h float64) float64 {
	rest, q := s.Most/(1-h/s.Radius), h/s.Radius
	for range s.Coef {
		rest *= q
	}
	return rest
}

// dividedBy divides f by d + t, where f vanishes at t = -d inside the radius. On the circle of
// nine tenths of the radius |f| is at most ten times Most, and |d + t| at least the
// circle's radius less |d|: Cauchy's estimate.
func (s series) dividedBy(d *big.Float) series {
	out := series{Coef: make([]*big.Float, len(s.Coef)), Radius: 0.9 * s.Radius}
	left := wide(0)
	for n, a := range s.Coef {
		left = quo(new(big.Float).SetPrec(wideBits).Sub(a, left), d)
		out.Coef[n] = left
	}
	distance, _ := new(big.Float).Abs(d).Float64()
	out.Most = 10 * s.Most / (out.Radius - distance)
	return out
}

const seriesTerms = 60

func fillSeries(most, radius float64, term func(n int64) *big.Float) series {
	s := series{make([]*big.Float, seriesTerms), most, radius}
	for n := range s.Coef {
		s.Coef[n] = term(int64(n))
	}
	return s
}

func factorial(n int64) *big.Float {
	return new(big.Float).SetPrec(wideBits).SetInt(new(big.Int).MulRange(1, n))
}

func alternate(n int64, x *big.Float) *big.Float {
	if n%2 == 1 {
		return x.Neg(x)
	}
	return x
}

// expSeries returns e^t: 4^n / n! <= 11.
func expSeries() series {
	return fillSeries(11, 4, func(n int64) *big.Float { return quo(wide(1), factorial(n)) })
}

// log1pSeries returns ln(1+t).
func log1pSeries() series {
	return fillSeries(1, 1, func(n int64) *big.Float {
		if n == 0 {
			return wide(0)
		}
		return alternate(n+1, ratio(1, n))
	})
}

// sineSeries returns sin(x)/x of t = x²: 4^n / (2n+1)! <= 1.
func sineSeries() series {
	return fillSeries(1, 4, func(n int64) *big.Float { return alternate(n, quo(wide(1), factorial(2*n+1))) })
}

// cosineSeries returns cos x of t = x²: 4^n / (2n)! <= 2.
func cosineSeries() series {
	return fillSeries(2, 4, func(n int64) *big.Float { return alternate(n, quo(wide(1), factorial(2*n))) })
}

// erfSeries returns erf(x)/x of t = x²: 4^n / (n! (2n+1)) <= 2 and 2/sqrt(pi) < 2.
func erfSeries() series {
	root := quo(wide(2), sqrt(widePi()))
	return fillSeries(4, 4, func(n int64) *big.Float {
		return alternate(n, quo(root, mul(factorial(n), wide(float64(2*n+1)))))
	})
}

// erfcxSeries returns e^(x²) erfc(x) about c > 0. It is the integral of 2/sqrt(pi) e^(-u²-2xu) over
// u > 0, so at most 1 in the right half plane (Cauchy's estimate on the circle of radius
// c), and its derivative is 2x f - 2/sqrt(pi). That recurrence loses 2 c² bits or so, and
// the value at c is a difference of two numbers of the size of e^(c²).
func erfcxSeries(c float64) series {
	const deep = 6000
	wide := func(x float64) *big.Float { return new(big.Float).SetPrec(deep).SetFloat64(x) }
	x := wide(c)
	square := wide(0).Mul(x, x)
	root := wide(0).Quo(wide(2), wide(0).Sqrt(pi(deep)))
	sum, term := wide(0), wide(c)
	for n := 1; term.MantExp(nil) > -deep; n++ { // sum of 2^n x^(2n+1) / (1 3 5 .. (2n+1)) (Abramowitz, Stegun 7.1.6)
		sum.Add(sum, term)
		term.Mul(term, square).Mul(term, wide(2)).Quo(term, wide(float64(2*n+1)))
	}
	a := []*big.Float{wide(0).Sub(wideExp(square, deep), sum.Mul(sum, root))}
	for n := 0; n < seriesTerms; n++ {
		next := wide(0).Mul(wide(2*c), a[n])
		if n == 0 {
			next.Sub(next, root)
		} else {
			next.Add(next, wide(0).Mul(wide(2), a[n-1]))
		}
		a = append(a, next.Quo(next, wide(float64(n+1))))
	}
	return fillSeries(1, c, func(n int64) *big.Float { return wide(0).Set(a[n]) })
}

// lgammaSeries returns ln Gamma(x) about c >= 1/2, over x - root where root is 1 or 2: its
// coefficients from t² on are zeta(n, c)/n, at most (1+c)/c^n, and the first two are no
// greater than (1+2c)/c^n up to c = 8.
func lgammaSeries(c float64, root int) series {
	const shift = 100 // where Stirling's series has more than 400 bits (Abramowitz, Stegun 6.1.40)
	sum := stirlingAbout(c + shift)
	for i := range shift {
		for n, a := range logarithm(c + float64(i)).Coef {
			sum.Coef[n].Sub(sum.Coef[n], a)
		}
	}
	sum.Most, sum.Radius = 1+2*c, c
	if root == 0 {
		return sum
	}
	return sum.dividedBy(wide(c - float64(root)))
}

func logarithm(c float64) series {
	power := wide(1)
	return fillSeries(0, c, func(n int64) *big.Float {
		if n == 0 {
			return wideLn(wide(c))
		}
		power = mul(power, wide(c))
		return alternate(n+1, quo(ratio(1, n), power))
	})
}

// stirlingAbout returns (x - 1/2) ln x - x + ln(2 pi)/2 + the sum of B(2k) / (2k (2k-1) x^(2k-1)) about c.
func stirlingAbout(c float64) series {
	l := logarithm(c).Coef
	s := fillSeries(0, c, func(n int64) *big.Float {
		x := mul(wide(c-0.5), l[n])
		if n > 0 {
			x = add(x, l[n-1])
		}
		return x
	})
	s.Coef[0] = add(s.Coef[0], add(wide(-c), quo(wideLn(mul(wide(2), widePi())), wide(2))))
	s.Coef[1] = add(s.Coef[1], wide(-1))
	for k, term := range stirlingSeries(60) {
		m := int64(2*k + 1)
		for range m {
			term = quo(term, wide(c))
		}
		for n := range s.Coef { // (c+t)^-m, by the binomial series
			s.Coef[n] = add(s.Coef[n], term)
			term = quo(mul(term, wide(-float64(m)-float64(n))), mul(wide(float64(n+1)), wide(c)))
		}
	}
	return s
}

// stirlingSeries lists B(2k) / (2k (2k-1)) for k = 1 and so on.
func stirlingSeries(many int) (all []*big.Float) {
	for k, b := range bernoulli(many) {
		m := int64(2*k + 1)
		weight := new(big.Rat).Mul(b, big.NewRat(1, (m+1)*m))
		all = append(all, new(big.Float).SetPrec(wideBits).SetRat(weight))
	}
	return all
}

// bernoulli lists B(2), B(4) and so on, of even index.
func bernoulli(many int) (even []*big.Rat) {
	b := make([]*big.Rat, 2*many+1)
	for m := range b { // the sum of binomial(m+1, k) B(k) over k <= m is 0
		sum := new(big.Rat)
		if m == 0 {
			sum.SetInt64(-1)
		}
		for k := range m {
			sum.Add(sum, new(big.Rat).Mul(new(big.Rat).SetInt(new(big.Int).Binomial(int64(m+1), int64(k))), b[k]))
		}
		b[m] = sum.Mul(sum, big.NewRat(-1, int64(m+1)))
		if m > 0 && m%2 == 0 {
			even = append(even, b[m])
		}
	}
	return even
}

// widePi returns pi, by Machin's formula 16 atan(1/5) - 4 atan(1/239).
func widePi() *big.Float { return pi(wideBits) }

func pi(precision uint) *big.Float {
	x := inverse(5, -1, precision)
	x.Mul(x, big.NewFloat(16))
	y := inverse(239, -1, precision)
	return x.Sub(x, y.Mul(y, big.NewFloat(4)))
}

// inverse returns atan(1/n) for sign -1 and atanh(1/n) for sign 1.
func inverse(n, sign int64, precision uint) *big.Float {
	number := func(x int64) *big.Float { return new(big.Float).SetPrec(precision + 64).SetInt64(x) }
	power := number(1)
	power.Quo(power, number(n))
	sum := number(0)
	for k := int64(1); power.MantExp(nil) > -int(precision)-32; k += 2 {
		sum.Add(sum, number(0).Quo(power, number(k)))
		power.Quo(power, number(sign*n*n))
	}
	return sum
}

// wideLn2 returns ln 2 = 2 atanh(1/3).
func wideLn2() *big.Float { return ln2(wideBits) }

func ln2(precision uint) *big.Float {
	x := inverse(3, 1, precision)
	return x.Mul(x, big.NewFloat(2))
}

func sqrt(x *big.Float) *big.Float { return new(big.Float).SetPrec(wideBits).Sqrt(x) }

// wideLn returns the logarithm of x > 0: 2 atanh((m-1)/(m+1)) of the mantissa m, brought near 1.
func wideLn(x *big.Float) *big.Float {
	m := wide(0)
	k := x.MantExp(m)
	if m.Cmp(wide(0.7)) < 0 {
		m, k = mul(m, wide(2)), k-1
	}
	w := quo(add(m, wide(-1)), add(m, wide(1)))
	square, power, sum := mul(w, w), w, wide(0)
	for n := int64(1); power.Sign() != 0 && power.MantExp(nil) > -wideBits-32; n += 2 {
		sum = add(sum, quo(power, wide(float64(n))))
		power = mul(power, square)
	}
	return add(mul(wide(2), sum), mul(wide(float64(k)), wideLn2()))
}

// wideExp returns e^x by its series at x / 2^s, squared s times.
func wideExp(x *big.Float, precision uint) *big.Float {
	s := max(0, x.MantExp(nil)) + 32
	y := new(big.Float).SetPrec(precision+uint(2*s)).SetMantExp(x, -s)
	sum, term := new(big.Float).SetPrec(y.Prec()), new(big.Float).SetPrec(y.Prec()).SetInt64(1)
	for n := int64(1); term.Sign() != 0 && term.MantExp(nil) > -int(y.Prec()); n++ {
		sum.Add(sum, term)
		term.Mul(term, y).Quo(term, new(big.Float).SetInt64(n))
	}
	for range s {
		sum.Mul(sum, sum)
	}
	return sum
}

// widePower2 returns 2^x.
func widePower2(x *big.Float) *big.Float { return wide(0).Set(wideExp(mul(x, wideLn2()), wideBits)) }

// TestMostBoundsCoefficients: rest stands on it: no coefficient is greater than Most / Radius^n.
func TestMostBoundsCoefficients(t *testing.T) {
	check := func(name string, s series) {
		power := 1.0
		for n, a := range s.Coef {
			if x, _ := a.Float64(); !(math.Abs(x)*power <= s.Most) {
				t.Errorf("%s: coefficient %d times %g^%d is %g, must be at most %g", name, n, s.Radius, n, x*power, s.Most)
			}
			power *= s.Radius
		}
	}
	check("exp", expSeries())
	check("exp, tail", expSeries().Tail(3))
	check("log1p", log1pSeries())
	check("sine", sineSeries())
	check("cosine", cosineSeries())
	check("erf", erfSeries())
	for bits := math.Float64bits(0.5) + 1<<50; bits < math.Float64bits(8); bits += 1 << 51 {
		c := math.Float64frombits(bits)
		check("erfcx", erfcxSeries(c))
		check("lgamma", lgammaSeries(c, 0))
		if c < 1.5 {
			check("lgamma over its root 1", lgammaSeries(c, 1))
		} else if c < 2.5 {
			check("lgamma over its root 2", lgammaSeries(c, 2))
		}
	}
}
