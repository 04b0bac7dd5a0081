package bitmath

// Sincos returns the sine and the cosine of x, of a size of at most pi/4.
func Sincos(x float64) (sin, cos float64) {
	z := float64(x * x)
	s := sine9 + float64(z*(sine11+float64(z*(sine13+float64(z*sine15)))))
	s = float64(z * (sine3 + float64(z*(sine5+float64(z*(sine7+float64(z*s)))))))
	sin = x + float64(x*s)
	c := cosine10 + float64(z*(cosine12+float64(z*(cosine14+float64(z*cosine16)))))
	c = float64(float64(z*z) * (cosine4 + float64(z*(cosine6+float64(z*(cosine8+float64(z*c)))))))
	half := float64(0.5 * z)
	most, rest := joined(1, -half)
	return sin, most + (rest + c)
}
