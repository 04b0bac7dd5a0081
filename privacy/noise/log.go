package noise

import "math"

// ln returns the natural logarithm of x, a positive finite normal number, to
// less than one unit in the last place (FreeBSD's e_log.c, as in math.Log). It
// is written out here, with every product converted to float64 so that no
// compiler may fuse it with an addition, because math.Log may differ in the
// last bit between machines and a replayed run must not.
func ln(x float64) float64 {
	f1, ki := math.Frexp(x)
	if f1 < math.Sqrt2/2 {
		f1 = float64(f1 * 2)
		ki--
	}
	f, k := f1-1, float64(ki)
	s := f / (2 + f)
	s2 := float64(s * s)
	s4 := float64(s2 * s2)
	t1 := float64(s2 * (6.666666666666735130e-01 + float64(s4*(2.857142874366239149e-01+float64(s4*(1.818357216161805012e-01+float64(s4*1.479819860511658591e-01)))))))
	t2 := float64(s4 * (3.999999999940941908e-01 + float64(s4*(2.222219843214978396e-01+float64(s4*1.531383769920937332e-01)))))
	r := t1 + t2
	hfsq := float64(0.5 * float64(f*f))
	return float64(k*6.93147180369123816490e-01) - ((hfsq - (float64(s*(hfsq+r)) + float64(k*1.90821492927058770002e-10))) - f)
}

// ln1m returns ln(1-q) for q in (0, 1) to a few units in the last place, by the
// correction for the rounding of 1-q of Goldberg 1991, theorem 4.
func ln1m(q float64) float64 {
	w := 1 - q
	if w == 1 {
		return -q
	}
	return float64(ln(w)*q) / (1 - w)
}
