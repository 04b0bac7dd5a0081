package series

import "math/big"

const terms = 60

func fill(most, radius float64, term func(n int64) *big.Float) Series {
	s := Series{make([]*big.Float, terms), most, radius}
	for n := range s.Coef {
		s.Coef[n] = term(int64(n))
	}
	return s
}

func factorial(n int64) *big.Float {
	return new(big.Float).SetPrec(Precision).SetInt(new(big.Int).MulRange(1, n))
}

func alternate(n int64, x *big.Float) *big.Float {
	if n%2 == 1 {
		return x.Neg(x)
	}
	return x
}

// Exp returns e^t: 4^n / n! <= 11.
func Exp() Series {
	return fill(11, 4, func(n int64) *big.Float { return quo(New(1), factorial(n)) })
}

// Log1p returns ln(1+t).
func Log1p() Series {
	return fill(1, 1, func(n int64) *big.Float {
		if n == 0 {
			return New(0)
		}
		return alternate(n+1, ratio(1, n))
	})
}

// Sine returns sin(x)/x of t = x²: 4^n / (2n+1)! <= 1.
func Sine() Series {
	return fill(1, 4, func(n int64) *big.Float { return alternate(n, quo(New(1), factorial(2*n+1))) })
}

// Cosine returns cos x of t = x²: 4^n / (2n)! <= 2.
func Cosine() Series {
	return fill(2, 4, func(n int64) *big.Float { return alternate(n, quo(New(1), factorial(2*n))) })
}

// Erf returns erf(x)/x of t = x²: 4^n / (n! (2n+1)) <= 2 and 2/sqrt(pi) < 2.
func Erf() Series {
	root := quo(New(2), sqrt(Pi()))
	return fill(4, 4, func(n int64) *big.Float {
		return alternate(n, quo(root, mul(factorial(n), New(float64(2*n+1)))))
	})
}

// Erfcx returns e^(x²) erfc(x) about c > 0. It is the integral of 2/sqrt(pi) e^(-u²-2xu) over
// u > 0, so at most 1 in the right half plane (Cauchy's estimate on the circle of radius
// c), and its derivative is 2x f - 2/sqrt(pi). That recurrence loses 2 c² bits or so, and
// the value at c is a difference of two numbers of the size of e^(c²).
func Erfcx(c float64) Series {
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
	a := []*big.Float{wide(0).Sub(exp(square, deep), sum.Mul(sum, root))}
	for n := 0; n < terms; n++ {
		next := wide(0).Mul(wide(2*c), a[n])
		if n == 0 {
			next.Sub(next, root)
		} else {
			next.Add(next, wide(0).Mul(wide(2), a[n-1]))
		}
		a = append(a, next.Quo(next, wide(float64(n+1))))
	}
	return fill(1, c, func(n int64) *big.Float { return New(0).Set(a[n]) })
}

// Lgamma is ln Gamma(x) about c >= 1/2, over x - root where root is 1 or 2: its
// coefficients from t² on are zeta(n, c)/n, at most (1+c)/c^n, and the first two are no
// greater than (1+2c)/c^n up to c = 8.
func Lgamma(c float64, root int) Series {
	const shift = 100 // where Stirling's series has more than 400 bits (Abramowitz, Stegun 6.1.40)
	sum := stirling(c + shift)
	for i := range shift {
		for n, a := range logarithm(c + float64(i)).Coef {
			sum.Coef[n].Sub(sum.Coef[n], a)
		}
	}
	sum.Most, sum.Radius = 1+2*c, c
	if root == 0 {
		return sum
	}
	return sum.dividedBy(New(c - float64(root)))
}

func logarithm(c float64) Series {
	power := New(1)
	return fill(0, c, func(n int64) *big.Float {
		if n == 0 {
			return Ln(New(c))
		}
		power = mul(power, New(c))
		return alternate(n+1, quo(ratio(1, n), power))
	})
}

// stirling returns (x - 1/2) ln x - x + ln(2 pi)/2 + the sum of B(2k) / (2k (2k-1) x^(2k-1)) about c.
func stirling(c float64) Series {
	l := logarithm(c).Coef
	s := fill(0, c, func(n int64) *big.Float {
		x := mul(New(c-0.5), l[n])
		if n > 0 {
			x = add(x, l[n-1])
		}
		return x
	})
	s.Coef[0] = add(s.Coef[0], add(New(-c), quo(Ln(mul(New(2), Pi())), New(2))))
	s.Coef[1] = add(s.Coef[1], New(-1))
	for k, term := range Stirling(60) {
		m := int64(2*k + 1)
		for range m {
			term = quo(term, New(c))
		}
		for n := range s.Coef { // (c+t)^-m, by the binomial series
			s.Coef[n] = add(s.Coef[n], term)
			term = quo(mul(term, New(-float64(m)-float64(n))), mul(New(float64(n+1)), New(c)))
		}
	}
	return s
}

// Stirling lists B(2k) / (2k (2k-1)) for k = 1 and so on.
func Stirling(many int) (all []*big.Float) {
	for k, b := range bernoulli(many) {
		m := int64(2*k + 1)
		weight := new(big.Rat).Mul(b, big.NewRat(1, (m+1)*m))
		all = append(all, new(big.Float).SetPrec(Precision).SetRat(weight))
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
