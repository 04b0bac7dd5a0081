package account

import (
	"math"

	"weir/internal/bitmath"
)

// Conversion turns a Renyi divergence into (epsilon, delta).
type Conversion int

const (
	// Improved: eps = rdp + ln(1-1/alpha) - ln(delta*alpha)/(alpha-1) (Canonne,
	// Kamath, Steinke 2020, proposition 12; Balle et al. 2020). Never above Classic.
	Improved Conversion = iota
	// Classic: eps = rdp + ln(1/delta)/(alpha-1) (Mironov 2017, proposition 3).
	Classic
)

func (c Conversion) String() string {
	if c == Classic {
		return "classic"
	}
	return "improved"
}

// Epsilon at one order; delta in (0, 1].
func (c Conversion) epsilon(alpha, rdp, delta float64) float64 {
	if c == Classic {
		return rdp - bitmath.Log(delta)/(alpha-1)
	}
	return rdp + bitmath.Log1p(-1/alpha) - (bitmath.Log(delta)+bitmath.Log(alpha))/(alpha-1)
}

// logDelta at one order.
func (c Conversion) logDelta(alpha, rdp, eps float64) float64 {
	if c == Classic {
		return (alpha - 1) * (rdp - eps)
	}
	return float64((alpha-1)*(rdp-eps+bitmath.Log1p(-1/alpha))) - bitmath.Log(alpha)
}

// IntegerOrders returns first, first+1, ..., last.
func IntegerOrders(first, last int) []float64 {
	orders := make([]float64, 0, last-first+1)
	for a := first; a <= last; a++ {
		orders = append(orders, float64(a))
	}
	return orders
}

// DefaultOrders returns the grid that other libraries use: 1.1 to 10.9 by
// tenths, 11 to 63, 128, 256, 512, 1024.
func DefaultOrders() []float64 {
	var orders []float64
	for i := 11; i < 110; i++ {
		orders = append(orders, float64(i)/10)
	}
	orders = append(orders, IntegerOrders(11, 63)...)
	return append(orders, 128, 256, 512, 1024)
}

// least returns the smallest value of f over the orders and where it is.
func least(orders []float64, f func(alpha float64) float64) (value, order float64) {
	value = math.Inf(1)
	for _, a := range orders {
		if v := f(a); v < value {
			value, order = v, a
		}
	}
	return value, order
}

// leastReal minimises over real orders: a coarse grid over alpha-1 from 1e-6 to
// 1e7, then golden sections between the neighbours of the best. For exact
// divergences f is quasi-convex (a convex cumulant over a linear function), so
// that this is the minimum; for other bounds it is an upper bound near it.
func leastReal(f func(alpha float64) float64) (value, order float64) {
	const perDecade, low, high = 2, -6, 7
	g := func(t float64) float64 { return f(1 + bitmath.Pow(10, t)) }
	best, at := math.Inf(1), 0.0
	for i := low * perDecade; i <= high*perDecade; i++ {
		if v := g(float64(i) / perDecade); v < best {
			best, at = v, float64(float64(i)/perDecade)
		}
	}
	if math.IsInf(best, 0) {
		return best, math.Inf(1)
	}
	t, v := goldenSection(g, at-1.0/perDecade, at+1.0/perDecade)
	if v < best {
		best, at = v, t
	}
	return best, 1 + bitmath.Pow(10, at)
}

// goldenSection is the golden section search; 24 steps shrink the bracket by 1e5, and the
// value, flat at the minimum, is then exact to about 1e-11.
func goldenSection(f func(float64) float64, a, b float64) (x, value float64) {
	r := (math.Sqrt(5) - 1) / 2
	x1, x2 := b-float64(r*(b-a)), a+float64(r*(b-a))
	f1, f2 := f(x1), f(x2)
	for range 24 {
		if f1 <= f2 {
			b, x2, f2 = x2, x1, f1
			x1 = b - float64(r*(b-a))
			f1 = f(x1)
		} else {
			a, x1, f1 = x1, x2, f2
			x2 = a + float64(r*(b-a))
			f2 = f(x2)
		}
	}
	if f1 <= f2 {
		return x1, f1
	}
	return x2, f2
}
