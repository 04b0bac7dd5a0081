package main

import (
	"math"
	"math/big"

	"weir/internal/bitmath"
)

// ziggurat is layers of equal area under exp(-x*x/2): edges[i] is the right edge of layer
// i, where the tail begins for i of 1.
type ziggurat struct {
	area  *big.Float
	edges []*big.Float
}

// bits is the precision of all numbers, of which the solution loses some ten.
const bits = 128

func number(x float64) *big.Float { return new(big.Float).SetPrec(bits).SetFloat64(x) }

func plus(x, y *big.Float) *big.Float     { return number(0).Add(x, y) }
func minus(x, y *big.Float) *big.Float    { return number(0).Sub(x, y) }
func times(x, y *big.Float) *big.Float    { return number(0).Mul(x, y) }
func quotient(x, y *big.Float) *big.Float { return number(0).Quo(x, y) }

// solve finds where the tail begins such that n layers end at the top of the curve: by
// halves until the two sides are near, then by the chord.
func solve(n int) ziggurat {
	low, high := number(3), number(5) // too near, too far
	for range 20 {
		mid := quotient(plus(low, high), number(2))
		if z, above := build(mid, n); z == nil || above.Sign() > 0 {
			low = mid
		} else {
			high = mid
		}
	}
	_, before := build(high, n)
	place := minus(high, number(0x1p-22))
	for range 8 {
		_, upper := build(place, n)
		if upper.Sign() == 0 || upper.Cmp(before) == 0 {
			break
		}
		slope := quotient(minus(upper, before), minus(place, high))
		high, before = place, upper
		place = minus(place, quotient(upper, slope))
	}
	z, _ := build(place, n)
	return *z
}

// build stacks n layers from where the tail begins and returns by how much the last one
// ends above the top of the curve, which is at 1; nil where an earlier one does.
func build(begin *big.Float, n int) (z *ziggurat, upper *big.Float) {
	height := curve(begin)
	z = &ziggurat{area: plus(times(begin, height), tail(begin))}
	z.edges = append(z.edges, quotient(z.area, height), begin)
	for len(z.edges) < n {
		x := z.edges[len(z.edges)-1]
		if height = plus(height, quotient(z.area, x)); height.Cmp(number(1)) >= 0 {
			return nil, nil
		}
		z.edges = append(z.edges, inverse(height))
	}
	upper = minus(plus(height, quotient(z.area, z.edges[n-1])), number(1))
	z.edges = append(z.edges, number(0))
	return z, upper
}

// tailCoin is exp(-begin/4) as a whole number of 2^-64, begin being a float64 as the
// sampler has it.
func (z ziggurat) tailCoin() string {
	begin, _ := z.edges[1].Float64()
	p := times(exp(quotient(number(-begin), number(4))), number(0x1p64))
	whole, _ := plus(p, number(0.5)).Int(nil)
	return whole.String()
}

// curve is exp(-x*x/2).
func curve(x *big.Float) *big.Float { return exp(quotient(times(x, x), number(-2))) }

// inverse is the x at which the curve has a height: by Newton's method, from a float64.
func inverse(height *big.Float) *big.Float {
	h, _ := height.Float64()
	x := number(math.Sqrt(-2 * bitmath.Log(h)))
	for range 3 { // 40 bits or more become 80, 160 and all
		f := curve(x)
		x = plus(x, quotient(minus(f, height), times(x, f)))
	}
	return x
}

// tail is the area under the curve beyond x: the curve over the continued fraction
// x + 1/(x + 2/(x + ...)) (Abramowitz, Stegun 26.2.14).
func tail(x *big.Float) *big.Float {
	f := x
	for k := 1500; k > 0; k-- {
		f = plus(x, quotient(number(float64(k)), f))
	}
	return quotient(curve(x), f)
}

// exp is the exponential of x by its series at x/1024, squared ten times.
func exp(x *big.Float) *big.Float {
	x = quotient(x, number(1024))
	sum, term := number(1), number(1)
	for k := 1; term.Sign() != 0 && term.MantExp(nil) > -bits-20; k++ {
		term = quotient(times(term, x), number(float64(k)))
		sum = plus(sum, term)
	}
	for range 10 {
		sum = times(sum, sum)
	}
	return sum
}
