// Package bitmath has functions of numbers as package math does, with equal bits on every
// machine: no product is fused with a sum, and nothing is left to a processor but the
// operations that IEEE 754 rounds exactly (docs/design/bits.md).
//
// Exp and Log are table-driven (Tang 1989 and 1990, ACM Transactions on Mathematical
// Software 15 and 16): an argument is reduced, without an error that counts, to the
// nearest entry of a table, and a short polynomial does the rest. The tables, and the
// polynomials with proven bounds on their errors, are written by tables_test.go. Each function is
// computed as an unrounded sum of two floats and rounded once, so it errs by little more
// than half a unit in the last place.
package bitmath

import (
	"math"
)

//go:generate go test -run TestTablesAreGenerated -update

const (
	mostExp   = 0x1.62e42fefa39efp+9  // the greatest number whose power of e is finite
	leastExp  = -0x1.74910d52d3051p+9 // the least whose power of e does not round to 0
	halfPoint = 0x1.8p+52             // added to a small number, it leaves the nearest integer in the last bits
)

// reduce splits x, of size below 1100, into n ln 2 / 128 and r + low, where |r| is at most
// ln 2 / 256 and low an error of r. The first product is exact: n has 18 bits, stepHigh 35.
func reduce(x float64) (n int, r, low float64) {
	shifted := float64(x*perStep) + halfPoint
	count := shifted - halfPoint
	rest := x - float64(count*stepHigh)
	tail := float64(count * stepLow)
	r = rest - tail
	return int(int32(math.Float64bits(shifted))), r, (rest - r) - tail
}

// expRest returns e^r - 1 - r.
func expRest(r float64) float64 {
	square := float64(r * r)
	return float64(0.5*square) + float64(float64(square*r)*(exp3+float64(r*(exp4+float64(r*(exp5+float64(r*exp6)))))))
}

// Exp returns e^x.
func Exp(x float64) float64 {
	switch {
	case x > mostExp:
		return math.Inf(1)
	case x < leastExp:
		return 0
	case x != x:
		return x
	}
	n, r, _ := reduce(x)
	power := &powers[n&127]
	return timesPower(power[0]+(power[1]+float64(power[0]*(r+expRest(r)))), n>>7)
}

// timesPower returns x 2^k for x in [1/2, 2], rounded once more where that is below the normal
// numbers.
func timesPower(x float64, k int) float64 {
	if uint(k+1021) < 2045 {
		return float64(x * math.Float64frombits(uint64(k+1023)<<52))
	}
	if k > 0 {
		return float64(x*2) * 0x1p1023 * timesPower(1, min(k-1024, 1023))
	}
	return float64(x*math.Float64frombits(uint64(max(k+1023+1000, 1))<<52)) * 0x1p-1000
}

// expParts returns the parts of e^(x + low) = (high + rest) 2^k, for a finite x of size below 1100 and low an
// error of x.
func expParts(x, low float64) (high, rest float64, k int) {
	n, r, tail := reduce(x)
	power := &powers[n&127]
	r += tail + low
	high, rest = joined(power[0], power[1]+float64(power[0]*(r+expRest(r))))
	return high, rest, n >> 7
}

// Expm1 returns e^x - 1.
func Expm1(x float64) float64 {
	switch {
	case x > mostExp:
		return math.Inf(1)
	case x < -40:
		return -1
	case x != x || math.Abs(x) < 0x1p-54:
		return x
	}
	high, low := expm1Parts(x)
	return high + low
}

// expm1Parts returns the parts of e^x - 1 for -40 <= x <= mostExp. With p the power of two of the reduction it
// is (p - 1) + p (e^r - 1), where the second is small beside the first. Near 0 it need not
// be, and is r + (p - 1) r + p (e^r - 1 - r), whose first is added without an error.
func expm1Parts(x float64) (high, low float64) {
	if x > 45 { // where 1 is below 2^-64 of the power
		high, low, k := expParts(x, 0)
		return timesPower(high, k), timesPower(low, k)
	}
	n, r, tail := reduce(x)
	scale := math.Float64frombits(uint64(n>>7+1023) << 52)
	p, pLow := float64(powers[n&127][0]*scale), float64(powers[n&127][1]*scale)
	less, error := sum(p, -1)
	if math.Abs(x) > 0.7 {
		return joined(less, error+(pLow+float64(p*(r+(tail+expRest(r))))))
	}
	high, low = sum(less, r)
	return joined(high, low+(error+(pLow+float64(pLow*r))+float64(less*r)+float64(p*(tail+expRest(r)))))
}

// Pow returns x^y, with the special cases of math.Pow.
func Pow(x, y float64) float64 {
	switch {
	case y == 0 || x == 1:
		return 1
	case x != x || y != y:
		return math.NaN()
	case y == 1:
		return x
	case x == 0 || math.IsInf(x, 0) || math.IsInf(y, 0):
		return powOfLimits(x, y)
	case x > 0:
		return powOfPositive(x, y)
	case odd(y):
		return -powOfPositive(-x, y)
	case y == math.Trunc(y):
		return powOfPositive(-x, y)
	}
	return math.NaN()
}

func odd(y float64) bool { return math.Abs(math.Mod(y, 2)) == 1 }

// powOfPositive returns e^(y ln x) of finite numbers.
func powOfPositive(x, y float64) float64 {
	high, low := logParts(x, 0)
	switch rough := float64(high * y); {
	case rough > 710:
		return math.Inf(1)
	case rough < -746:
		return 0
	case math.Abs(rough) < 0x1p-60: // where e^t is 1, and y may have no upper half
		return 1
	}
	high, low = joined(times(high, low, y, 0))
	high, low, k := expParts(high, low)
	return timesPower(high+low, k)
}

// powOfLimits returns x^y where x is 0 or one of them is infinite, as C99 has it (annex F.9.4.4).
func powOfLimits(x, y float64) float64 {
	size := math.Abs(x)
	switch {
	case size == 1: // (-1)^±Inf
		return 1
	case size > 1 == (y > 0):
		size = math.Inf(1)
	default:
		size = 0
	}
	if math.Signbit(x) && odd(y) {
		return -size
	}
	return size
}

// Sincos returns the sine and the cosine of x, of a size of at most pi/4.
func Sincos(x float64) (sin, cos float64) {
	z := float64(x * x)
	s := sine9 + float64(z*(sine11+float64(z*(sine13+float64(z*sine15)))))
	s = float64(z * (sine3 + float64(z*(sine5+float64(z*(sine7+float64(z*s)))))))
	sin = x + float64(x*s)
	c := cosine10 + float64(z*(cosine12+float64(z*(cosine14+float64(z*cosine16)))))
	c = float64(float64(z*z) * (cosine4 + float64(z*(cosine6+float64(z*(cosine8+float64(z*c)))))))
	half := float64(0.5 * z)
	most, rest := joined(1, -half)
	return sin, most + (rest + c)
}

// Tanh returns the hyperbolic tangent of x: t / (t+2) with t = e^2x - 1.
func Tanh(x float64) float64 {
	size := math.Abs(x)
	switch {
	case x != x || size < 0x1p-28: // where the cube does not count
		return x
	case size > 20: // where 1 less the tangent is below 2^-56
		return math.Copysign(1, x)
	}
	t, low := expm1Parts(2 * size)
	two, error := sum(t, 2)
	return math.Copysign(over(t, low, two, error+low), x)
}

// sum returns a + b and its error, exactly (Knuth, volume 2, 4.2.2, theorem B).
func sum(a, b float64) (s, e float64) {
	s = a + b
	part := s - a
	return s, (a - (s - part)) + (b - part)
}

// joined returns what sum does where |a| >= |b| or a is 0 (Dekker 1971).
func joined(a, b float64) (s, e float64) {
	s = a + b
	return s, b - (s - a)
}

// upper returns x without the last 27 of its 53 bits: products of two such numbers are exact.
func upper(x float64) float64 {
	return math.Float64frombits(math.Float64bits(x) &^ (1<<27 - 1))
}

// times returns (x + xLow) (y + yLow), where xLow and yLow are errors of x and y: a product
// without an error and the rest, below 2^-24 of it, which together are good to 2^-75.
func times(x, xLow, y, yLow float64) (high, low float64) {
	front, other := upper(x), upper(y)
	low = float64(front*(y-other)) + float64((x-front)*y) + (float64(x*yLow) + float64(xLow*y))
	return float64(front * other), low
}

// over returns (x + xLow) / (y + yLow), likewise, rounded once: what a quotient of 26 bits
// leaves of x is known exactly.
func over(x, xLow, y, yLow float64) float64 {
	part := 1 / y
	rough, front := upper(float64(x*part)), upper(y)
	left := (x - float64(rough*front)) - float64(rough*((y-front)+yLow)) + xLow
	return rough + float64(left*part)
}
