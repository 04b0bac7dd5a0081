package published

import (
	"math"

	"weir/internal/bitmath"
)

// The counterexamples of docs/accounting.md section 3.4: one amplification a step does
// not compose when a component remembers that it was drawn.

// HiddenBits is the law of the released bits, first release first, of two
// components of which each step draws one with probability 1/2 and releases its
// bit by randomized response of ratio e^eps. The target's bit at step t (from 0)
// is target[t]; the other's is other(t, whether it was drawn before).
func HiddenBits(eps float64, target []int, other func(step int, drawn bool) int) []float64 {
	law := make([]float64, 1<<len(target))
	for coins := range 1 << len(target) {
		bits, drawn := make([]int, len(target)), false
		for t := range target {
			if coins>>t&1 == 1 {
				bits[t] = target[t]
				continue
			}
			bits[t] = other(t, drawn)
			drawn = true
		}
		for out := range law {
			law[out] += responses(eps, bits, out) / float64(len(law))
		}
	}
	return law
}

// responses is the probability of the released bits, the first the highest.
func responses(eps float64, bits []int, out int) float64 {
	p := 1.0
	for t, b := range bits {
		if out>>(len(bits)-1-t)&1 == b {
			p /= 1 + bitmath.Exp(-eps)
		} else {
			p /= 1 + bitmath.Exp(eps)
		}
	}
	return p
}

// ForgetsFirst is the other component of the two-step example: bit 1, then 1
// unless it was drawn before.
func ForgetsFirst(step int, drawn bool) int {
	if step == 0 || !drawn {
		return 1
	}
	return 0
}

// NeverDrawn is that of the three-step example: bit 0, then 1 unless drawn before.
func NeverDrawn(step int, drawn bool) int {
	if step == 0 || drawn {
		return 0
	}
	return 1
}

// HockeyStick is the larger of sum max(0, p - e^eps q) and its mirror.
func HockeyStick(p, q []float64, eps float64) float64 {
	a, b, e := 0.0, 0.0, bitmath.Exp(eps)
	for i := range p {
		a += math.Max(0, p[i]-float64(e*q[i]))
		b += math.Max(0, q[i]-float64(e*p[i]))
	}
	return math.Max(a, b)
}

// Renyi is the larger divergence of order alpha of the two directions; order 1
// is the Kullback-Leibler divergence.
func Renyi(p, q []float64, alpha float64) float64 {
	return math.Max(renyi(p, q, alpha), renyi(q, p, alpha))
}

func renyi(p, q []float64, alpha float64) float64 {
	sum := 0.0
	for i := range p {
		switch {
		case p[i] == 0:
		case alpha == 1:
			sum += float64(p[i] * bitmath.Log(p[i]/q[i]))
		default:
			sum += bitmath.Exp(float64(alpha*bitmath.Log(p[i])) + float64((1-alpha)*bitmath.Log(q[i])))
		}
	}
	if alpha == 1 {
		return sum
	}
	return bitmath.Log(sum) / (alpha - 1)
}

// HiddenGaussian is the two-step Gaussian example on a square lattice of step h:
// the target is drawn with probability q and has mean m1 on one table, -m1 on the
// other; the other component has mean -1/2, and at step 2 mean +1/2 if the target
// was drawn at step 1. It returns the two laws as masses.
func HiddenGaussian(q, s, h float64) (p, r []float64) {
	half := int(math.Ceil((float64(9*s) + 6) / h))
	density := func(x, mean float64) float64 {
		return bitmath.Exp(-(x-mean)*(x-mean)/(2*s*s)) * h / (s * math.Sqrt(2*math.Pi))
	}
	n := 2*half + 1
	up, down := make([]float64, n), make([]float64, n)
	for i := range n {
		x := float64(float64(i-half) * h)
		up[i], down[i] = density(x, 0.5), density(x, -0.5)
	}
	for i := range n {
		for j := range n {
			p = append(p, hiddenStep(q, up[i], up[j], up[j], down[i], down[j]))
			r = append(r, hiddenStep(q, down[i], down[j], up[j], down[i], down[j]))
		}
	}
	return p, r
}

// hiddenStep mixes over the coins: the target's densities at both steps, the
// other's at step 2 after the target, at step 1, and at step 2 after itself.
func hiddenStep(q, target1, target2, after, other1, other2 float64) float64 {
	return float64(q*target1*(float64(q*target2)+float64((1-q)*after))) + float64((1-q)*other1*(float64(q*target2)+float64((1-q)*other2)))
}

// HalfSampledBit is the divergence, by order, of one step of the bit example taken
// alone: the target's bit with probability 1/2, else the bit that the target does
// not have on the second table... both laws share that half.
func HalfSampledBit(eps float64) func(alpha float64) float64 {
	t := 1 / (1 + bitmath.Exp(-eps))
	p, q := []float64{0.5, 0.5}, []float64{1 - t, t}
	return func(alpha float64) float64 { return Renyi(p, q, alpha) }
}
