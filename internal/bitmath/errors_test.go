package bitmath

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// interval is a function on an interval beside its reference: numbers between low and high,
// or where wide, of exponents of two between them.
type interval struct {
	name      string
	ours      func(float64) float64
	reference func(number) number
	low, high float64
	wide      bool
	most      float64 // units in the last place, as docs/design/bits.md has them
}

func intervals() []interval {
	power := func(y float64) (func(float64) float64, func(number) number) {
		return func(x float64) float64 { return Pow(x, y) },
			func(x number) number { return bigExp(multiply(exact(y), bigLog(x))) }
	}
	apply := func(x float64) (func(float64) float64, func(number) number) {
		l := bigLog(exact(x))
		return func(y float64) float64 { return Pow(x, y) }, func(y number) number { return bigExp(multiply(y, l)) }
	}
	third, bigThird := power(1. / 3)
	large, bigLarge := power(-37.25)
	near, bigNear := power(0x1.8p40)
	ten, bigTen := apply(10)
	base, bigBase := apply(0.9990234375)
	log2 := func(x number) number { return quotient(bigLog(x), constants().ln2) }
	log10 := func(x number) number { return quotient(bigLog(x), constants().ln10) }
	sine := func(x float64) float64 { s, _ := Sincos(x); return s }
	cosine := func(x float64) float64 { _, c := Sincos(x); return c }
	all := []interval{
		{"Exp", Exp, bigExp, -708, mostExp, false, 0.51},
		{"Exp near 0", Exp, bigExp, -1, 1, false, 0.51},
		{"Exp below the normal numbers", Exp, bigExp, -745.13, -708, false, 0.76},
		{"Exp of small numbers", Exp, bigExp, -60, 0, true, 0.51},
		{"Expm1", Expm1, bigExpm1, -40, 100, false, 0.51},
		{"Expm1 up to overflow", Expm1, bigExpm1, 40, mostExp, false, 0.51},
		{"Expm1 near 0", Expm1, bigExpm1, -0.01, 0.01, false, 0.51},
		{"Expm1 of small numbers", Expm1, bigExpm1, -1060, 0, true, 0.51},
		{"Log", Log, bigLog, -1074, 1024, true, 0.51},
		{"Log near 1", Log, bigLog, 0.5, 2, false, 0.51},
		{"Log next to 1", Log, bigLog, 1 - 0x1p-8, 1 + 0x1p-8, false, 0.51},
		{"Log1p", Log1p, bigLog1p, -1, 3, false, 0.51},
		{"Log1p near 0", Log1p, bigLog1p, -0x1p-8, 0x1p-7, false, 0.51},
		{"Log1p of all sizes", Log1p, bigLog1p, -1060, 1024, true, 0.51},
		{"Log2", Log2, log2, -1074, 1024, true, 0.51},
		{"Log2 near 1", Log2, log2, 0.5, 2, false, 0.51},
		{"Log10", Log10, log10, -1074, 1024, true, 0.51},
		{"Log10 near 1", Log10, log10, 0.5, 2, false, 0.51},
		{"Pow with 1/3", third, bigThird, -1074, 1024, true, 0.85},
		{"Pow with -37.25", large, bigLarge, -28, 28, true, 0.85},
		{"Pow with 3 2^39", near, bigNear, 1 - 0x1p-33, 1 + 0x1p-33, false, 0.85},
		{"Pow of 10", ten, bigTen, -307, 308, false, 0.85},
		{"Pow of 1023/1024", base, bigBase, -700_000, 700_000, false, 0.85},
		{"Tanh", Tanh, bigTanh, -21, 21, false, 0.51},
		{"Tanh near 0", Tanh, bigTanh, -1, 1, false, 0.51},
		{"Tanh of small numbers", Tanh, bigTanh, -1060, 0, true, 0.51},
		{"the sine", sine, bigSin, -math.Pi / 4, math.Pi / 4, false, 0.8},
		{"the cosine", cosine, bigCos, -math.Pi / 4, math.Pi / 4, false, 0.8},
		{"the sine of small numbers", sine, bigSin, -1060, -1, true, 0.8},
		{"Erfc below 0", Erfc, bigErfc, -6, -0.375, false, 0.85},
		{"Erfc near 0", Erfc, bigErfc, -0.375, 0.375, false, 0.85},
		{"Erfc below the normal numbers", Erfc, bigErfc, 26.5, 27.2, false, 0.85},
		{"Lgamma of small numbers", Lgamma, bigLgamma, -1060, -1, true, 1.5},
		{"Lgamma next to 1", Lgamma, bigLgamma, 1 - 0x1p-10, 1 + 0x1p-10, false, 1.5},
		{"Lgamma next to 2", Lgamma, bigLgamma, 2 - 0x1p-10, 2 + 0x1p-10, false, 1.5},
		{"Lgamma", Lgamma, bigLgamma, 8, 1000, false, 1.5},
		{"Lgamma of great numbers", Lgamma, bigLgamma, 3, 1014, true, 1.5},
	}
	for _, f := range []struct {
		name      string
		ours      func(float64) float64
		reference func(number) number
		low, high float64
		most      float64
	}{{"Erfc", Erfc, bigErfc, 0.375, 26.5, 0.85}, {"Lgamma", Lgamma, bigLgamma, 0.5, 8, 1.5}} {
		for x := f.low; x < f.high; x = min(f.high, x*1.5) {
			to := min(f.high, x*1.5)
			all = append(all, interval{fmt.Sprintf("%s from %.3g", f.name, x), f.ours, f.reference, x, to, false, f.most})
		}
	}
	return all
}

func (i interval) draw(r *rand.Rand) float64 {
	if !i.wide {
		return i.low + float64((i.high-i.low)*float64(r.Float64()))
	}
	x := math.Ldexp(1+float64(r.Float64()), int(i.low)+r.IntN(int(i.high-i.low)))
	if y := i.ours(-x); r.IntN(2) == 0 && y == y {
		return -x
	}
	return x
}

// worst returns the greatest error in units in the last place on as many points, and where.
func (i interval) worst(points int, r *rand.Rand) (units, point float64) {
	for range points {
		x := i.draw(r)
		if e := i.error(x); e > units || e != e {
			units, point = e, x
		}
	}
	return units, point
}

// error returns in units in the last place of the true value.
func (i interval) error(x float64) float64 {
	y, want := i.ours(x), i.reference(exact(x))
	switch near := rough(want); {
	case math.IsInf(y, 0) && y == near:
		return 0
	case math.IsInf(y, 0) || y != y:
		return math.Inf(1)
	}
	e := less(exact(y), want)
	return math.Abs(rough(e.SetMantExp(e, -max(want.MantExp(nil)-53, -1074))))
}

// points returns so many that a flaw in one of a thousand arguments is met, and in the long tests, where half an
// hour is enough, as many as docs/design/bits.md says.
func points() int {
	if long {
		return 1_000_000
	}
	return 2_500
}

// TestErrors: what the functions promise, against math/big.
func TestErrors(t *testing.T) {
	for seed, i := range intervals() {
		t.Run(i.name, func(t *testing.T) {
			t.Parallel()
			units, point := i.worst(points(), rand.New(rand.NewPCG(9, uint64(seed))))
			if !(units <= i.most) {
				t.Errorf("errs by %.4g units in the last place at %b = %v, must by at most %v", units, point, point, i.most)
			}
			t.Logf("%.4f units in the last place at %v", units, point)
		})
	}
}
