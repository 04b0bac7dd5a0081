package bitmath

import (
	"math"
	"math/big"
	"sync"
	"testing"
)

// The functions once more in math/big, with some 125 bits: series about nearby points, and
// one step of Newton's for the logarithm.

const precision = 160

type number = *big.Float

func exact(x float64) number { return new(big.Float).SetPrec(precision).SetFloat64(x) }

func narrow(x number) number { return new(big.Float).SetPrec(precision).Set(x) }

func plus(a, b number) number { return new(big.Float).SetPrec(precision).Add(a, b) }

func less(a, b number) number { return new(big.Float).SetPrec(precision).Sub(a, b) }

func multiply(a, b number) number { return new(big.Float).SetPrec(precision).Mul(a, b) }

func quotient(a, b number) number { return new(big.Float).SetPrec(precision).Quo(a, b) }

func rough(x number) float64 { y, _ := x.Float64(); return y }

// constants are what references need more than once.
var constants = sync.OnceValue(func() (c struct{ ln2, ln10, halfLn2Pi number }) {
	c.ln2, c.ln10 = narrow(wideLn2()), narrow(wideLn(wide(10)))
	c.halfLn2Pi = quotient(narrow(wideLn(wide(0).Mul(wide(2), widePi()))), exact(2))
	return c
})

// shorter has as many coefficients as |t| <= h needs for 2^-bits, of the precision here.
func shorter(s series, h float64, bits int) []number {
	var coef []number
	for _, c := range s.Coef {
		coef = append(coef, narrow(c))
		if s.Most *= h / s.Radius; s.Most < math.Ldexp(1, -bits) {
			break
		}
	}
	return coef
}

func evaluated(coef []number, t number) number {
	sum, product := exact(0), exact(0) // of their own, since a result that is an argument is allocated
	for n := len(coef) - 1; n >= 0; n-- {
		sum.Add(product.Mul(sum, t), coef[n])
	}
	return sum
}

var expCoef = sync.OnceValue(func() []number { return shorter(expSeries(), 0x1p-9, 130) })

func bigExp(x number) number {
	k := math.Round(rough(x) / math.Ln2)
	r := less(x, multiply(exact(k), constants().ln2))
	y := evaluated(expCoef(), r.SetMantExp(r, -8))
	square := exact(0)
	for range 8 {
		y, square = square.Mul(y, y), y
	}
	return y.SetMantExp(y, int(k))
}

var expm1Coef = sync.OnceValue(func() []number { return shorter(expSeries().Tail(1), 0x1p-6, 130) })

func bigExpm1(x number) number {
	if math.Abs(rough(x)) < 0x1p-7 {
		return multiply(x, evaluated(expm1Coef(), x))
	}
	return less(bigExp(x), exact(1))
}

// bigLog returns y + ln(x e^-y) with y near ln x.
func bigLog(x number) number {
	m := exact(0)
	k := x.MantExp(m)
	y := exact(math.Log(rough(m)) + float64(k)*math.Ln2)
	w := less(multiply(x, bigExp(exact(0).Neg(y))), exact(1))
	square := multiply(w, w)
	w = plus(less(w, quotient(square, exact(2))), quotient(multiply(square, w), exact(3)))
	return plus(y, w)
}

func bigLog1p(x number) number {
	if math.Abs(rough(x)) < 0x1p-100 {
		return less(x, quotient(multiply(x, x), exact(2)))
	}
	return bigLog(new(big.Float).SetPrec(2*precision).Add(x, exact(1)))
}

func bigTanh(x number) number {
	t := bigExpm1(multiply(x, exact(2)))
	return quotient(t, plus(t, exact(2)))
}

var circle = sync.OnceValue(func() (c struct{ sine, cosine []number }) {
	c.sine, c.cosine = shorter(sineSeries(), 1, 130), shorter(cosineSeries(), 1, 200)
	return c
})

func bigSin(x number) number { return multiply(x, evaluated(circle().sine, multiply(x, x))) }

func bigCos(x number) number { return evaluated(circle().cosine, multiply(x, x)) }

// local is a function by its series about the middles of quarters of octaves, each made once.
type local struct {
	about func(c float64) series
	sync.Map
}

func (l *local) eval(x number) number {
	bits := math.Float64bits(rough(x)) >> 50
	c := math.Float64frombits(bits<<50 | 1<<49)
	coef, ok := l.Load(c)
	if !ok {
		h := math.Float64frombits((bits+1)<<50) - c
		coef, _ = l.LoadOrStore(c, shorter(l.about(c), h, 130))
	}
	return evaluated(coef.([]number), less(x, exact(c)))
}

var (
	erfcx    = local{about: erfcxSeries}
	lgamma   = local{about: func(c float64) series { return lgammaSeries(c, 0) }}
	erfCoef  = sync.OnceValue(func() []number { return shorter(erfSeries(), 0.2, 130) })
	stirlCof = sync.OnceValue(func() []number { return stirlingSeries(24) })
)

func bigErfc(x number) number {
	switch {
	case math.Abs(rough(x)) < 0.4:
		return less(exact(1), multiply(x, evaluated(erfCoef(), multiply(x, x))))
	case x.Sign() < 0:
		return less(exact(2), bigErfc(exact(0).Neg(x)))
	}
	return multiply(bigExp(exact(0).Neg(multiply(x, x))), erfcx.eval(x))
}

// bigLgamma has 70 bits from 8 on, which is where Stirling's series is best with 24 terms.
func bigLgamma(x number) number {
	switch point := rough(x); {
	case point < 0.5:
		return less(bigLgamma(plus(x, exact(1))), bigLog(x))
	case point < 8:
		return lgamma.eval(x)
	}
	w := quotient(exact(1), x)
	s := multiply(w, evaluated(stirlCof(), multiply(w, w)))
	main := less(multiply(less(x, exact(0.5)), bigLog(x)), x)
	return plus(main, plus(constants().halfLn2Pi, s))
}

// TestReferencesAreThoseOfMath: the references are the same functions as in package math, which err by some
// units in the last place, and in Lgamma near 1 by a hundred.
func TestReferencesAreThoseOfMath(t *testing.T) {
	r := newRand(13)
	for _, c := range []struct {
		name      string
		reference func(number) number
		standard  func(float64) float64
		low, high float64
	}{
		{"exp", bigExp, math.Exp, -700, 700}, {"expm1", bigExpm1, math.Expm1, -1, 1}, {"log", bigLog, math.Log, 0, 10},
		{"log1p", bigLog1p, math.Log1p, -1, 1},
		{"tanh", bigTanh, math.Tanh, -3, 3}, {"sine", bigSin, math.Sin, -0.7, 0.7}, {"cosine", bigCos, math.Cos, -0.7, 0.7},
		{"erfc", bigErfc, math.Erfc, -5, 26},
		{"lgamma", bigLgamma, func(x float64) float64 { y, _ := math.Lgamma(x); return y }, 0, 100},
	} {
		for range 200 {
			x := c.low + (c.high-c.low)*r.Float64()
			if got, want := rough(c.reference(exact(x))), c.standard(x); !(math.Abs(got-want) <= 0x1p-43*math.Abs(want)) {
				t.Errorf("%s of %v is %v, package math says %v", c.name, x, got, want)
			}
		}
	}
}
