package series

import "math/big"

// Pi returns pi, by Machin's formula 16 atan(1/5) - 4 atan(1/239).
func Pi() *big.Float { return pi(Precision) }

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

// Ln2 returns ln 2 = 2 atanh(1/3).
func Ln2() *big.Float { return ln2(Precision) }

func ln2(precision uint) *big.Float {
	x := inverse(3, 1, precision)
	return x.Mul(x, big.NewFloat(2))
}

func sqrt(x *big.Float) *big.Float { return new(big.Float).SetPrec(Precision).Sqrt(x) }

// Ln returns the logarithm of x > 0: 2 atanh((m-1)/(m+1)) of the mantissa m, brought near 1.
func Ln(x *big.Float) *big.Float {
	m := New(0)
	k := x.MantExp(m)
	if m.Cmp(New(0.7)) < 0 {
		m, k = mul(m, New(2)), k-1
	}
	w := quo(add(m, New(-1)), add(m, New(1)))
	square, power, sum := mul(w, w), w, New(0)
	for n := int64(1); power.Sign() != 0 && power.MantExp(nil) > -Precision-32; n += 2 {
		sum = add(sum, quo(power, New(float64(n))))
		power = mul(power, square)
	}
	return add(mul(New(2), sum), mul(New(float64(k)), Ln2()))
}

// exp returns e^x by its series at x / 2^s, squared s times.
func exp(x *big.Float, precision uint) *big.Float {
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

// Power2 returns 2^x.
func Power2(x *big.Float) *big.Float { return New(0).Set(exp(mul(x, Ln2()), Precision)) }
