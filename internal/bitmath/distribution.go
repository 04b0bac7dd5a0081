package bitmath

import "math"

// ChiSquareTail returns the chance of more than x under the chi-squared law of the given
// degrees of freedom: for a = degrees/2 the sum of exp(-y) y^j / Gamma(j+1) with y = x/2
// over j = a-1, a-2 and so on above -1/2, and where degrees are odd the tail of a squared
// normal number (Abramowitz, Stegun 26.4.4 and 26.4.5).
func ChiSquareTail(degrees int, x float64) float64 {
	switch {
	case x != x:
		return x
	case x <= 0:
		return 1
	}
	y, sum := float64(x/2), 0.0
	first, last := float64(float64(degrees%2)/2), float64(float64(degrees)/2)-1
	if first > 0 {
		sum = Erfc(math.Sqrt(y))
	}
	if last < first {
		return sum
	}
	// Terms rise up to y and fall from there: both sides from the greatest one on.
	top := min(last, first+math.Floor(max(0, y-first)))
	greatest := poisson(top, y)
	for j, t := top, greatest; j >= first && t > negligible*sum; j-- {
		sum += t
		t = float64(t * (j / y))
	}
	for j, t := top+1, greatest; j <= last && t > negligible*sum; j++ {
		t = float64(t * (y / j))
		sum += t
	}
	return min(sum, 1)
}

// negligible is a part of a sum of terms, fewer than 2^27 of which are as great, that does not count.
const negligible = 0x1p-80

// poisson returns exp(-y) y^n / Gamma(n+1) without cancellation (Loader 2000, "Fast and
// accurate computation of binomial probabilities").
func poisson(n, y float64) float64 {
	if n == 0 {
		return Exp(-y)
	}
	return Exp(-factorialRest(n)-deviance(n, y)) / math.Sqrt(2*math.Pi*n)
}

// factorialRest returns the error of Stirling's formula for ln Gamma(n+1).
func factorialRest(n float64) float64 {
	if n < 8 {
		return Lgamma(n+1) - float64((n+0.5)*Log(n)) + n - 0.918938533204672741780 // ln(2 pi)/2
	}
	return stirling(n)
}

// deviance returns n ln(n/y) + y - n. Where the two are near each other, v = (n-y)/(n+y) is
// small, n/y is (1+v)/(1-v), and twice the series of the inverse hyperbolic tangent of v
// (Abramowitz, Stegun 4.6.33) leaves (n-y) v + 2 n (v^3/3 + v^5/5 + ...).
func deviance(n, y float64) float64 {
	v := (n - y) / (n + y)
	if math.Abs(v) > 0.125 {
		return float64(n*Log(n/y)) + y - n
	}
	square, series := float64(v*v), 0.0
	for odd := 19.0; odd >= 3; odd -= 2 { // the next term is below 2^-56 of the first
		series = 1/odd + float64(square*series)
	}
	return float64((n-y)*v) + float64(2*n*float64(v*square)*series)
}

// BetaCDF returns the chance of at most x under the beta law of a, b > 0: the regularised
// incomplete beta function.
func BetaCDF(a, b, x float64) float64 { return betaCDF(a, b, x, 1-x) }

// betaCDF takes 1-x besides, which has more digits than x where x is near 1. The
// fraction of betaBelow is for the side of (a+1)/(a+b+2) where it is quick (DLMF
// 8.17.22).
func betaCDF(a, b, x, rest float64) float64 {
	switch {
	case x <= 0:
		return 0
	case rest <= 0:
		return 1
	case a+b+x+rest != a+b+x+rest:
		return math.NaN()
	case x > (a+1)/(a+b+2):
		return 1 - betaBelow(b, a, rest, x)
	}
	return betaBelow(a, b, x, rest)
}

// betaBelow returns x^a rest^b / B(a, b) times the fraction 1/(s(0) + r(1)/(s(1) + r(2)/...)) of
// DiDonato and Morris 1992, equation 9, whose terms are not negative while k is below b and x
// below the mean, so that nothing cancels: the product of what each convergent is over the one
// before, by the ratios of numerators, top, and of denominators, bottom.
func betaBelow(a, b, x, rest float64) float64 {
	past := 1 + (float64(a*rest) - float64(b*x))
	bottom := float64(a*past) / (a + 1)
	value, top := 1/bottom, math.Inf(1)
	for k := 1.0; k <= mostTerms; k++ {
		place := a + float64(2*k)
		r := float64(k*(b-k)*x) / (place - 1)
		s := k + r + float64((a+k)*(past+float64(k*(1+rest))))/(place+1)
		r *= float64((a+k-1)*(a+b+k-1)*x) / (place - 1)
		top, bottom = s+r/top, s+r/bottom
		step := top / bottom
		if value = float64(value * step); math.Abs(step-1) <= 0x1p-52 {
			break
		}
	}
	return float64(betaPower(a, b, x, rest) * value)
}

// mostTerms is above the some sqrt(max(a, b)) terms that a fraction takes.
const mostTerms = 200_000

// betaPower returns x^a rest^b / B(a, b), as poisson without cancellation: with n = a+b it is
// the binomial chance of a in n, times ab/n.
func betaPower(a, b, x, rest float64) float64 {
	n := a + b
	log := factorialRest(n) - factorialRest(a) - factorialRest(b)
	log -= deviance(a, float64(n*x)) + deviance(b, float64(n*rest))
	return float64(Exp(log) * math.Sqrt(float64(a*b)/float64(2*math.Pi*n)))
}

// StudentTail returns the chance of more than t >= 0, on one side, under Student's law.
func StudentTail(degrees, t float64) float64 {
	square := float64(t * t)
	return float64(betaCDF(float64(degrees/2), 0.5, degrees/(degrees+square), square/(degrees+square)) / 2)
}

// FTail returns the chance of more than x >= 0 under Fisher's law of d1 and d2 degrees of freedom.
func FTail(d1, d2, x float64) float64 {
	part := float64(d1 * x)
	return betaCDF(float64(d2/2), float64(d1/2), d2/(part+d2), part/(part+d2))
}

// NormalTail returns the chance of more than z under the normal law.
func NormalTail(z float64) float64 { return float64(Erfc(z/math.Sqrt2) / 2) }

// BetaQuantile returns the x with BetaCDF(a, b, x) = p.
func BetaQuantile(a, b, p float64) float64 {
	return rising(0, 1, func(x float64) bool { return BetaCDF(a, b, x) < p })
}

// NormalQuantile returns the z below which a normal number lies with chance p, in (0, 1).
func NormalQuantile(p float64) float64 {
	lower := func(z float64) bool { return NormalTail(-z) < p }
	guess := normalGuess(min(p, 1-p))
	if p > 0.5 {
		guess = -guess
	}
	near := float64(0x1p-49 * (1 + math.Abs(guess)))
	if low, high := guess-near, guess+near; lower(low) && !lower(high) {
		return rising(low, high, lower)
	}
	return rising(-40, 40, lower)
}

// normalGuess returns the z of chance p, at most 1/2, but for a few last bits. Newton's steps on the logarithm of
// the chance, which is concave, never leave the left of z. They begin where e^(-z^2/2) / 2, which is above the chance,
// is p.
func normalGuess(p float64) float64 {
	z := -math.Sqrt(-2 * Log(2*p))
	for range 12 {
		tail := NormalTail(-z)
		step := float64(Log(p/tail) * tail * math.Sqrt(2*math.Pi) * Exp(float64(z*z)/2))
		if z += step; math.Abs(step) < 0x1p-26*(1+math.Abs(z)) {
			break
		}
	}
	return z
}

// StudentQuantile returns the t below which a number by Student's law lies with chance p, above 1/2.
func StudentQuantile(degrees, p float64) float64 {
	x := BetaQuantile(float64(degrees/2), 0.5, 2*(1-p))
	return math.Sqrt(degrees * (1 - x) / x)
}

// rising halves between low and high until no float lies between, or an error in the last
// place of the greater is reached.
func rising(low, high float64, lower func(float64) bool) float64 {
	for range 1100 {
		mid := low + float64((high-low)/2)
		if mid == low || mid == high {
			break
		}
		if lower(mid) {
			low = mid
		} else {
			high = mid
		}
	}
	return high
}
