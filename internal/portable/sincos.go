package portable

// Sincos is sine and cosine of x between -pi/4 and pi/4, by the polynomials of the Cephes
// library (S. Moshier, sin.c).
func Sincos(x float64) (sin, cos float64) {
	z := float64(x * x)
	s := float64(z * 1.58962301576546568060e-10)
	for _, c := range [...]float64{-2.50507477628578072866e-8, 2.75573136213857245213e-6, -1.98412698295895385996e-4, 8.33333333332211858878e-3} {
		s = float64((s + c) * z)
	}
	c := float64(z * -1.13585365213876817300e-11)
	for _, a := range [...]float64{2.08757008419747316778e-9, -2.75573141792967388112e-7, 2.48015872888517045348e-5, -1.38888888888730564116e-3} {
		c = float64((c + a) * z)
	}
	sin = x + float64(float64(x*z)*(s-1.66666666666666307295e-1))
	cos = 1 - float64(0.5*z) + float64(float64(z*z)*(c+4.16666666666665929218e-2))
	return sin, cos
}
