package bitmath_test

import (
	"math"
	"testing"

	"weir/internal/bitmath/internal/series"
)

// TestMostBoundsCoefficients: rest stands on it: no coefficient is greater than Most / Radius^n.
func TestMostBoundsCoefficients(t *testing.T) {
	check := func(name string, s series.Series) {
		power := 1.0
		for n, a := range s.Coef {
			if x, _ := a.Float64(); !(math.Abs(x)*power <= s.Most) {
				t.Errorf("%s: coefficient %d times %g^%d is %g, must be at most %g", name, n, s.Radius, n, x*power, s.Most)
			}
			power *= s.Radius
		}
	}
	check("exp", series.Exp())
	check("exp, tail", series.Exp().Tail(3))
	check("log1p", series.Log1p())
	check("sine", series.Sine())
	check("cosine", series.Cosine())
	check("erf", series.Erf())
	for bits := math.Float64bits(0.5) + 1<<50; bits < math.Float64bits(8); bits += 1 << 51 {
		c := math.Float64frombits(bits)
		check("erfcx", series.Erfcx(c))
		check("lgamma", series.Lgamma(c, 0))
		if c < 1.5 {
			check("lgamma over its root 1", series.Lgamma(c, 1))
		} else if c < 2.5 {
			check("lgamma over its root 2", series.Lgamma(c, 2))
		}
	}
}
