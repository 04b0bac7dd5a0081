package kernel

import "math"

// gradient returns (g + noise)*scale at one index; noise may be nil.
func gradient(g, noise []float32, i int, scale float32) float32 {
	if noise == nil {
		return g[i] * scale
	}
	return float32(g[i]+noise[i]) * scale
}

func adamGeneric(w, m, v, g, noise []float32, c adamCoefficients) {
	for i := range w {
		e := gradient(g, noise, i, c.gscale)
		m[i] = float32(c.beta1*m[i]) + float32(c.rest1*e)
		v[i] = float32(c.beta2*v[i]) + float32(c.rest2*float32(e*e))
		root := float32(math.Sqrt(float64(v[i])))
		w[i] -= float32(c.step*m[i]) / (float32(root*c.root) + c.eps)
	}
}

func rmsPropGeneric(w, v, g, noise []float32, c rmsPropCoefficients) {
	for i := range w {
		e := gradient(g, noise, i, c.gscale)
		v[i] = float32(c.alpha*v[i]) + float32(c.rest*float32(e*e))
		root := float32(math.Sqrt(float64(v[i])))
		w[i] -= float32(c.step*e) / (root + c.eps)
	}
}

func momentumGeneric(w, m, g, noise []float32, c momentumCoefficients) {
	for i := range w {
		e := gradient(g, noise, i, c.gscale)
		m[i] = float32(c.momentum*m[i]) + e
		w[i] -= float32(c.step * m[i])
	}
}
