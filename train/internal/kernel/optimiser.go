package kernel

import "math"

// The optimisers take the gradient (g + noise)*gscale: g is a sum of clipped
// gradients, noise is nil or has the length of g (g may hold the noise already),
// and gscale is 1/expected_batch_size. Moments and weights are updated in place.
// The scalars are float64, so that 1-beta and the corrections are rounded once.

type adamCoefficients struct {
	gscale, beta1, rest1, beta2, rest2, root, eps, step float32
}

// AdamStep takes one step of Adam (Kingma and Ba 2015, algorithm 1): m and v are the
// moments, bias1 = 1-beta1^t and bias2 = 1-beta2^t at step t = 1, 2, ...
//
//	m = beta1*m + (1-beta1)*G;  v = beta2*v + (1-beta2)*G²
//	w = w - lr/bias1 * m / (sqrt(v)/sqrt(bias2) + eps)
func AdamStep(w, m, v, g, noise []float32, lr, beta1, beta2, eps, bias1, bias2, gscale float64) {
	checkSame("AdamStep", len(w), len(m), len(v), len(g))
	noise = checkNoise("AdamStep", g, noise)
	c := adamCoefficients{
		gscale: float32(gscale),
		beta1:  float32(beta1), rest1: float32(1 - beta1),
		beta2: float32(beta2), rest2: float32(1 - beta2),
		root: float32(1 / math.Sqrt(bias2)), eps: float32(eps), step: float32(lr / bias1),
	}
	for lo := 0; lo < len(w); lo += block {
		hi := min(lo+block, len(w))
		best.adam(w[lo:hi], m[lo:hi], v[lo:hi], g[lo:hi], part(noise, lo, hi), c)
	}
}

type rmsPropCoefficients struct {
	gscale, alpha, rest, eps, step float32
}

// RMSPropStep takes one step of RMSProp (Tieleman and Hinton 2012; eps outside the
// root, as in PyTorch): v is the running mean square.
//
//	v = alpha*v + (1-alpha)*G²;  w = w - lr*G / (sqrt(v) + eps)
func RMSPropStep(w, v, g, noise []float32, lr, alpha, eps, gscale float64) {
	checkSame("RMSPropStep", len(w), len(v), len(g))
	noise = checkNoise("RMSPropStep", g, noise)
	c := rmsPropCoefficients{gscale: float32(gscale), alpha: float32(alpha), rest: float32(1 - alpha), eps: float32(eps),
		step: float32(lr)}
	for lo := 0; lo < len(w); lo += block {
		hi := min(lo+block, len(w))
		best.rmsProp(w[lo:hi], v[lo:hi], g[lo:hi], part(noise, lo, hi), c)
	}
}

// RMSPropInsideStep takes one step of RMSProp with eps inside the root, as in TensorFlow
// 1.13 (momentum 0): v is the running mean square. It is a plain loop: nothing that has
// to be quick uses it.
//
//	v = alpha*v + (1-alpha)*G²;  w = w - lr*G / sqrt(v + eps)
func RMSPropInsideStep(w, v, g []float32, lr, alpha, eps, gscale float64) {
	checkSame("RMSPropInsideStep", len(w), len(v), len(g))
	decay, rest, e, step, scale := float32(alpha), float32(1-alpha), float32(eps), float32(lr), float32(gscale)
	for i := range w {
		x := g[i] * scale
		v[i] = float32(decay*v[i]) + float32(rest*float32(x*x))
		w[i] -= float32(step*x) / float32(math.Sqrt(float64(v[i]+e)))
	}
}

type momentumCoefficients struct {
	gscale, momentum, step float32
}

// SGDMomentumStep takes one step of gradient descent with heavy-ball momentum
// (Polyak 1964, without dampening): m is the velocity.
//
//	m = momentum*m + G;  w = w - lr*m
func SGDMomentumStep(w, m, g, noise []float32, lr, momentum, gscale float64) {
	checkSame("SGDMomentumStep", len(w), len(m), len(g))
	noise = checkNoise("SGDMomentumStep", g, noise)
	c := momentumCoefficients{gscale: float32(gscale), momentum: float32(momentum), step: float32(lr)}
	for lo := 0; lo < len(w); lo += block {
		hi := min(lo+block, len(w))
		best.momentum(w[lo:hi], m[lo:hi], g[lo:hi], part(noise, lo, hi), c)
	}
}

// checkNoise returns noise as nil when there is none.
func checkNoise(name string, g, noise []float32) []float32 {
	if noise == nil {
		return nil
	}
	checkSame(name, len(g), len(noise))
	return noise
}

func part(x []float32, lo, hi int) []float32 {
	if x == nil {
		return nil
	}
	return x[lo:hi]
}
