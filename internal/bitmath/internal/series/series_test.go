package series

import (
	"math"
	"testing"
)

// Rest stands on it: no coefficient is greater than Most / Radius^n.
func TestMostBoundsCoefficients(t *testing.T) {
	check := func(name string, s Series) {
		power := 1.0
		for n, a := range s.Coef {
			if x, _ := a.Float64(); !(math.Abs(x)*power <= s.Most) {
				t.Errorf("%s: coefficient %d times %g^%d is %g, must be at most %g", name, n, s.Radius, n, x*power, s.Most)
			}
			power *= s.Radius
		}
	}
	check("exp", Exp())
	check("exp, tail", Exp().Tail(3))
	check("log1p", Log1p())
	check("sine", Sine())
	check("cosine", Cosine())
	check("erf", Erf())
	for bits := math.Float64bits(0.5) + 1<<50; bits < math.Float64bits(8); bits += 1 << 51 {
		c := math.Float64frombits(bits)
		check("erfcx", Erfcx(c))
		check("lgamma", Lgamma(c, 0))
		if c < 1.5 {
			check("lgamma over its root 1", Lgamma(c, 1))
		} else if c < 2.5 {
			check("lgamma over its root 2", Lgamma(c, 2))
		}
	}
}
