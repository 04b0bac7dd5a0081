package bitmath

import (
	"math"
	"math/big"
	"slices"
)

// fit asks for the polynomial P of the degree for which |t|^power |P(t) - f(t)| / |over(t)|
// is least on [low, high].
type fit struct {
	f         series
	low, high float64
	degree    int
	power     int
	over      *series // 1 where nil
}

// size returns |over(t)| / |t|^power.
func (f fit) size(t *big.Float) *big.Float {
	size := wide(1)
	if f.over != nil {
		size.Abs(f.over.At(t))
	}
	for range f.power {
		size.Quo(size, new(big.Float).Abs(t))
	}
	return size
}

// polynomial returns coefficients found by Remez's exchange (1934): an error that alternates
// between degree+2 points is levelled, and the points are moved to where it is greatest.
func (f fit) polynomial() []*big.Float {
	points := make([]float64, f.degree+2)
	for i := range points {
		points[i] = f.valueAt((1 - math.Cos(math.Pi*(float64(i)+0.5)/float64(len(points)))) / 2)
	}
	var p series
	for range 6 {
		p = f.levelled(points)
		next := f.extremes(p)
		if len(next) < len(points) {
			break
		}
		points = next[:len(points)]
	}
	return p.Coef
}

// valueAt returns the place of a share of the interval. Zero, where an error may be divided by
// nothing, is left out.
func (f fit) valueAt(share float64) float64 {
	t := f.low + share*(f.high-f.low)
	if t == 0 {
		return f.high * 0x1p-20
	}
	return t
}

// levelled solves P(t) - f(t) = ±E size(t) on the points, by elimination.
func (f fit) levelled(points []float64) series {
	n := len(points)
	rows := make([][]*big.Float, n)
	for i, x := range points {
		t, power := wide(x), wide(1)
		for range n - 1 {
			rows[i] = append(rows[i], power)
			power = wide(0).Mul(power, t)
		}
		sign := wide(float64(1 - 2*(i%2)))
		rows[i] = append(rows[i], sign.Mul(sign, f.size(t)), f.f.At(t))
	}
	for k := range n {
		for i := range n {
			if i != k {
				subtract(rows[i], rows[k], wide(0).Quo(rows[i][k], rows[k][k]), k)
			}
		}
	}
	p := series{}
	for k := range n - 1 {
		p.Coef = append(p.Coef, wide(0).Quo(rows[k][n], rows[k][k]))
	}
	return p
}

func subtract(from, row []*big.Float, times *big.Float, first int) {
	for j := first; j < len(row); j++ {
		from[j] = wide(0).Sub(from[j], wide(0).Mul(times, row[j]))
	}
}

// extremes lists where the error of p is greatest between two changes of its sign, in order.
func (f fit) extremes(p series) (found []float64) {
	const steps = 600
	last, most := 0.0, 0.0
	for i := range steps + 1 {
		x := f.valueAt(float64(i) / steps)
		t := wide(x)
		e, _ := wide(0).Quo(wide(0).Sub(p.At(t), f.f.At(t)), f.size(t)).Float64()
		switch {
		case i == 0 || e*last < 0:
			found, most = append(found, x), math.Abs(e)
		case math.Abs(e) > most:
			found[len(found)-1], most = x, math.Abs(e)
		}
		last = e
	}
	return found
}

// proven bounds the greatest error of the rounded coefficients: the error is a polynomial
// but for what Rest bounds, and on each of 64 parts of the interval, of half its width d
// about a point of its own, at most the sum of the sizes of its coefficients times d^n.
func (f fit) proven(coef []*big.Float) float64 {
	const parts = 64
	e := f.error(coef)
	half := (f.high - f.low) / parts / 2
	rest := f.f.Rest(max(math.Abs(f.low), math.Abs(f.high)))
	greatest := 0.0
	for i := range parts {
		middle := wide(f.low + (2*float64(i)+1)*half)
		most, upper := sizes(e.Around(middle), half), 1.0
		if f.over != nil {
			here := f.over.Around(middle)
			value, _ := here.Coef[0].Float64()
			upper = 2*math.Abs(value) - sizes(here, half) - f.over.Rest(max(math.Abs(f.low), math.Abs(f.high)))
		}
		greatest = max(greatest, (most+rest)/upper)
	}
	return greatest
}

// error returns t^power (P - f).
func (f fit) error(coef []*big.Float) series {
	e := series{}
	for range f.power {
		e.Coef = append(e.Coef, wide(0))
	}
	for n, a := range f.f.Coef {
		c := wide(0)
		if n < len(coef) {
			c.Set(coef[n])
		}
		e.Coef = append(e.Coef, c.Sub(c, a))
	}
	return e
}

func sizes(s series, half float64) float64 {
	abs := slices.Clone(s.Coef)
	for n, a := range abs {
		abs[n] = wide(0).Abs(a)
	}
	x, _ := series{Coef: abs}.At(wide(half)).Float64()
	return x
}
