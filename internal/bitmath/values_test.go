package bitmath

import (
	"math"
	"testing"
)

// TestSpecialValues: special values are as in C99, annex F, for which functions of package math stand,
// but for Lgamma below 0, which no caller needs.
func TestSpecialValues(t *testing.T) {
	inf, nan, zero := math.Inf(1), math.NaN(), math.Copysign(0, -1)
	tiny := math.SmallestNonzeroFloat64
	for _, c := range []struct {
		name string
		f    func(float64) float64
		want map[float64]float64
	}{
		{"Exp", Exp, map[float64]float64{0: 1, inf: inf, -inf: 0, tiny: 1, -tiny: 1, 710: inf, -746: 0, math.MaxFloat64: inf,
			-math.MaxFloat64: 0}},
		{"Expm1", Expm1, map[float64]float64{inf: inf, -inf: -1, tiny: tiny, -tiny: -tiny, 710: inf, -math.MaxFloat64: -1}},
		{"Log", Log, map[float64]float64{0: -inf, 1: 0, inf: inf, -1: nan, -inf: nan, -tiny: nan}},
		{"Log1p", Log1p, map[float64]float64{-1: -inf, inf: inf, -inf: nan, -2: nan, tiny: tiny, -tiny: -tiny}},
		{"Log2", Log2, map[float64]float64{0: -inf, 1: 0, 2: 1, 0.125: -3, tiny: -1074, 0x1p1023: 1023, inf: inf, -1: nan}},
		{"Log10", Log10, map[float64]float64{0: -inf, 1: 0, 10: 1, 1000: 3, 1e22: 22, inf: inf, -1: nan}},
		{"Tanh", Tanh, map[float64]float64{inf: 1, -inf: -1, 400: 1, tiny: tiny, -tiny: -tiny}},
		{"Erfc", Erfc, map[float64]float64{0: 1, inf: 0, -inf: 2, tiny: 1, 28: 0, -7: 2, math.MaxFloat64: 0}},
		{"Lgamma", Lgamma, map[float64]float64{0: inf, 1: 0, 2: 0, inf: inf, -1: nan, -0.5: nan, -inf: nan,
			math.MaxFloat64: inf}},
	} {
		for x, want := range c.want {
			if got := c.f(x); got != want && !(got != got && want != want) {
				t.Errorf("%s of %v is %v, must be %v", c.name, x, got, want)
			}
		}
		if got := c.f(nan); got == got {
			t.Errorf("%s of NaN is %v", c.name, got)
		}
	}
	for name, f := range map[string]func(float64) float64{"Expm1": Expm1, "Log1p": Log1p, "Tanh": Tanh} {
		if got := f(zero); !(got == 0 && math.Signbit(got)) {
			t.Errorf("%s of -0 is %v, must be -0", name, got)
		}
	}
}

// TestPowOfSpecialValues: pow has the special cases that package math lists.
func TestPowOfSpecialValues(t *testing.T) {
	inf, nan, zero := math.Inf(1), math.NaN(), math.Copysign(0, -1)
	values := []float64{0, zero, 1, -1, 2, -2, 0.5, -0.5, 3, -3, inf, -inf, nan, 1e300, -1e300, 0x1p53 + 1, 0x1p52 + 1,
		5e-324, -5e-324}
	for _, x := range values {
		for _, y := range values {
			got, want := Pow(x, y), math.Pow(x, y)
			same := got == want && math.Signbit(got) == math.Signbit(want) || got != got && want != want
			if !same && !(math.Abs(got-want) <= 0x1p-50*math.Abs(want)) {
				t.Errorf("%v to the %v is %v, package math says %v", x, y, got, want)
			}
		}
	}
	for n := range 23 { // which 64 bits can hold
		want := 1.0
		for range n {
			want *= 10
		}
		if got := Pow(10, float64(n)); got != want {
			t.Errorf("10 to the %d is %v", n, got)
		}
	}
}

// TestMonotone: rising functions are tried on neighbours: the borders of their tables, and runs of
// adjacent floats of all sizes.
func TestMonotone(t *testing.T) {
	for _, c := range []struct {
		name      string
		f         func(float64) float64
		low, high float64
		rises     bool
	}{
		{"Exp", Exp, -746, mostExp, true},
		{"Expm1", Expm1, -40, mostExp, true},
		{"Log", Log, 0, 1e3, true},
		{"Log1p", Log1p, -1, 1e3, true},
		{"Log2", Log2, 0, 1e3, true},
		{"Log10", Log10, 0, 1e3, true},
		{"Tanh", Tanh, -21, 21, true},
		{"Erfc", Erfc, -6, 28, false},
		{"Lgamma before its least value", Lgamma, 0, 1.38, false},
		{"Lgamma beyond it", Lgamma, 1.55, 1e3, true},
		{"the sine", func(x float64) float64 { s, _ := Sincos(x); return s }, -math.Pi / 4, math.Pi / 4, true},
		{"the cosine", func(x float64) float64 { _, c := Sincos(x); return c }, 0, math.Pi / 4, false},
		{"Pow with 0.7", func(x float64) float64 { return Pow(x, 0.7) }, 0, 1e3, true},
		{"Pow of 3", func(x float64) float64 { return Pow(3, x) }, -600, 600, true},
	} {
		for x := range neighbourhoods(c.low, c.high) {
			last := c.f(x)
			for range 8 {
				x = math.Nextafter(x, math.Inf(1))
				y := c.f(x)
				if c.rises && y < last || !c.rises && y > last {
					t.Fatalf("%s falls back from %v to %v at %b = %v", c.name, last, y, x, x)
				}
				last = y
			}
		}
	}
}

// neighbourhoods returns some floats below each border of a table, of a case or of an octave's
// quarter between low and high, and drawn ones.
func neighbourhoods(low, high float64) func(yield func(float64) bool) {
	return func(yield func(float64) bool) {
		r := newRand(11)
		before := func(x float64) bool {
			for range 4 {
				x = math.Nextafter(x, math.Inf(-1))
			}
			return x < low || math.Nextafter(x, math.Inf(1)) > high-math.Abs(high)*0x1p-48 || yield(x)
		}
		for k := -137_700.; k < 131_100; k++ {
			if !before((k + 0.5) / perStep) {
				return
			}
		}
		for e := -60; e < 12; e++ {
			for i := range uint64(128) {
				x := math.Ldexp(math.Float64frombits(cellsFrom+i<<45), e)
				if !before(x) || !before(-x) || !before(x-1) {
					return
				}
			}
		}
		for _, x := range []float64{-0x1p-9, 0x1p-8, 0.375, 0.5, 1.5, 2.5, 8, 20, 45, 0x1p-28, -0x1p-54, 0x1p-54} {
			if !before(x) {
				return
			}
		}
		for range points() * 10 {
			if !before(low+(high-low)*r.Float64()) || !before(math.Ldexp(r.Float64(), r.IntN(70)-60)) {
				return
			}
		}
	}
}

// TestPlantedErrors: a wrong bit of a table is found.
func TestPlantedErrors(t *testing.T) {
	for _, plant := range []struct {
		name string
		at   *float64
		bit  uint64
		f    interval
	}{
		{"a power of two", &powers[17][0], 1, interval{"", Exp, bigExp, 0.08, 0.1, false, 1}},
		{"the rest of a power of two", &powers[17][1], 1 << 63, interval{"", Exp, bigExp, 0.08, 0.1, false, 0.51}},
		{"a reciprocal", &cells[40][0], 1 << 32, interval{"", Log, bigLog, 0.8, 0.9, false, 1}},
		{"a logarithm", &cells[40][1], 1 << 20, interval{"", Log, bigLog, 0.8, 0.9, false, 1}},
		{"a coefficient of Erfc", &erfcxQuarters[5][3], 1 << 12, interval{"", Erfc, bigErfc, 0.8, 1, false, 2}},
		{"a coefficient of Lgamma", &lgammaQuarters[7][4], 1 << 18, interval{"", Lgamma, bigLgamma, 1.75, 2, false, 2}},
	} {
		right := *plant.at
		*plant.at = math.Float64frombits(math.Float64bits(right) ^ plant.bit)
		units, _ := plant.f.worst(20_000, newRand(12))
		*plant.at = right
		if units <= plant.f.most {
			t.Errorf("with a wrong bit %d of %s the error is %.3f units in the last place", plant.bit, plant.name, units)
		}
	}
}
