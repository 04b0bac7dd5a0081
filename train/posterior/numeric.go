package posterior

import (
	"math"

	"weir/internal/bitmath"
)

// numeric is the law of a number in one component. The log density of a number with the
// features x and y (see features) is constant + onX x + onY y - half (x-centre)^2, and the
// gradients of minus it for the two parameters are gradX (x-zeroX) and gradY (y-zeroY), but
// for a normal law, where they are half*2 (centre-x) and 1 - half*2 (x-centre)^2.
type numeric struct {
	normal       bool
	constant     float64
	onX, onY     float64
	half, centre float64
	gradX, zeroX float64
	gradY, zeroY float64
}

// features are what a law needs of a number: log x and log(1-x) of a Beta one, x and
// log x! of a Poisson one, x of a normal one.
func features(f Family, number float64) (x, y float64) {
	switch f {
	case Beta:
		return bitmath.Log(number), bitmath.Log1p(-number)
	case Poisson:
		return number, bitmath.Lgamma(number + 1)
	}
	return number, 0
}

func newNumeric(f Family, p []float64) numeric {
	switch f {
	case Beta:
		a, b := bitmath.Exp(p[0]), bitmath.Exp(p[1])
		both := digamma(a + b)
		return numeric{constant: bitmath.Lgamma(a+b) - bitmath.Lgamma(a) - bitmath.Lgamma(b), onX: a - 1, onY: b - 1,
			gradX: -a, zeroX: digamma(a) - both, gradY: -b, zeroY: digamma(b) - both}
	case Poisson:
		rate := bitmath.Exp(p[0])
		return numeric{constant: -rate, onX: p[0], onY: -1, gradX: -1, zeroX: rate}
	}
	return numeric{normal: true, constant: -p[1] - float64((math.Ln2+bitmath.Log(math.Pi))/2), half: bitmath.Exp(-2*p[1]) / 2, centre: p[0]}
}

// log is the log density.
func (n *numeric) log(x, y float64) float64 {
	away := x - n.centre
	return n.constant + float64(n.onX*x) + float64(n.onY*y) - float64(n.half*away*away)
}

// grad is that of minus the log density for the two parameters; parts bounds the sum of the
// squares of what is added up in it.
func (n *numeric) grad(x, y float64) (first, second, parts float64) {
	if n.normal {
		away := x - n.centre
		scaled := 2 * n.half * away
		first, second = -scaled, 1-float64(scaled*away)
		size := 2 * n.half * (math.Abs(x) + math.Abs(n.centre))
		other := 1 + float64(size*(math.Abs(x)+math.Abs(n.centre)))
		return first, second, float64(size*size) + float64(other*other)
	}
	first, second = n.gradX*(x-n.zeroX), n.gradY*(y-n.zeroY)
	size, other := n.gradX*(math.Abs(x)+math.Abs(n.zeroX)), n.gradY*(math.Abs(y)+math.Abs(n.zeroY))
	return first, second, float64(size*size) + float64(other*other)
}

// digamma is the derivative of the logarithm of the gamma function at x > 0: the recurrence
// up to 10, then the asymptotic series (Abramowitz, Stegun 6.3.5, 6.3.18), whose first term
// left out is below 1e-15 there.
func digamma(x float64) float64 {
	sum := 0.0
	for ; x < 10; x++ {
		sum -= 1 / x
	}
	i := 1 / (x * x)
	series := 691. / 32760
	for _, c := range [...]float64{-1. / 132, 1. / 240, -1. / 252, 1. / 120, -1. / 12} {
		series = c + float64(i*series)
	}
	return sum + bitmath.Log(x) - 0.5/x + float64(i*series)
}
