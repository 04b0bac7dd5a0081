package published

import (
	"math"
	"testing"

	"weir/internal/bitmath"
	"weir/privacy"
	"weir/privacy/account"
)

// TestUCLANESLBranch: Colorado (661,967 rows, delta 1/n^2, 10 epochs of batches of 64, 4
// tensors) at the budgets of both accountants. For .3 PAPERS section 2 prints T 103,440,
// epsilon a step 1.318, sigma 5.81 and a stop after T/4 steps; .7 and 5 are still their
// branches, whose multipliers the program has as numbers.
func TestUCLANESLBranch(t *testing.T) {
	u := UCLANESL{Rows: 661967, Batch: 64, Epochs: 10, Tensors: 4, Orders: 32}
	delta := 1 / (661967.0 * 661967)
	if u.Steps() != 103440 {
		t.Fatalf("%d steps, want 103440", u.Steps())
	}
	b := u.Branch(0.3, delta)
	if !b.Amortized || b.Steps != 103440/4 || math.Abs(b.NoiseMultiplier-5.81) > 0.005 {
		t.Errorf("at .3: %+v, want the amortised accountant, 25860 steps, sigma 5.81", b)
	}
	// After T/4 steps of 4 charges: sqrt(T) ln(1 + q(e^1.318 - 1)).
	want := math.Sqrt(103440) * math.Log1p(64.0/661967*math.Expm1(1.318))
	if got, err := u.Reported(b, delta); err != nil || math.Abs(got-want) > 1e-3*want {
		t.Errorf("at .3 its accountant reports %g (%v), want %g", got, err, want)
	}
	for epsilon, multiplier := range map[float64]float64{0.71: 3, 1: 3, 5: 3, 5.01: 1, 8: 1} {
		if b := u.Branch(epsilon, delta); b.Amortized || b.NoiseMultiplier != multiplier {
			t.Errorf("at %g: %+v, want the moments accountant and a multiplier of %g", epsilon, b, multiplier)
		}
	}
	if b := u.Branch(0.7, delta); !b.Amortized {
		t.Error("at .7 the moments accountant")
	}
}

// TestBranchStopsWithinTheBudget: at the stop the report is within the budget, one step
// later it is not, unless the epochs have ended.
func TestBranchStopsWithinTheBudget(t *testing.T) {
	for _, rows := range []int64{500, 3000, 27253} {
		u := UCLANESL{Rows: rows, Batch: 64, Epochs: 10, Tensors: 4, Orders: 32}
		for _, epsilon := range []float64{1, 3, 8} {
			b := u.Branch(epsilon, 1e-9)
			at, err := u.Reported(b, 1e-9)
			if err != nil || b.Steps > 0 && at > epsilon {
				t.Errorf("%d rows, budget %g: %g reported after %d steps (%v)", rows, epsilon, at, b.Steps, err)
			}
			b.Steps++
			if over, _ := u.Reported(b, 1e-9); over <= epsilon && b.Steps <= u.Steps() {
				t.Errorf("%d rows, budget %g: stops at %d steps, before the budget ends", rows, epsilon, b.Steps-1)
			}
		}
	}
}

// The counterexamples of docs/accounting.md section 3.4: one amplification a step does
// not compose when a component remembers that it was drawn.

// HiddenBits returns the law of the released bits, first release first, of two
// components of which each step draws one with probability 1/2 and releases its
// bit by randomized response of ratio e^eps. The target's bit at step t (from 0)
// is target[t]; the other's is other(t, whether it was drawn before).
func HiddenBits(eps float64, target []int, other func(step int, drawn bool) int) []float64 {
	law := make([]float64, 1<<len(target))
	for coins := range 1 << len(target) {
		bits, isDrawn := make([]int, len(target)), false
		for t := range target {
			if coins>>t&1 == 1 {
				bits[t] = target[t]
				continue
			}
			bits[t] = other(t, isDrawn)
			isDrawn = true
		}
		for out := range law {
			law[out] += responses(eps, bits, out) / float64(len(law))
		}
	}
	return law
}

// responses returns the probability of the released bits, the first the highest.
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

// ForgetsFirst returns the other component of the two-step example: bit 1, then 1
// unless it was drawn before.
func ForgetsFirst(step int, drawn bool) int {
	if step == 0 || !drawn {
		return 1
	}
	return 0
}

// NeverDrawn returns the answer of the three-step example: bit 0, then 1 unless drawn before.
func NeverDrawn(step int, drawn bool) int {
	if step == 0 || drawn {
		return 0
	}
	return 1
}

// HockeyStick returns the larger of sum max(0, p - e^eps q) and its mirror.
func HockeyStick(p, q []float64, eps float64) float64 {
	a, b, e := 0.0, 0.0, bitmath.Exp(eps)
	for i := range p {
		a += math.Max(0, p[i]-float64(e*q[i]))
		b += math.Max(0, q[i]-float64(e*p[i]))
	}
	return math.Max(a, b)
}

// Renyi returns the larger divergence of order alpha of the two directions; order 1
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

// HiddenGaussian returns the two-step Gaussian example on a square lattice of step h:
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
	return float64(q*target1*(float64(q*target2)+float64((1-q)*after))) +
		float64((1-q)*other1*(float64(q*target2)+float64((1-q)*other2)))
}

// HalfSampledBit returns the divergence, by order, of one step of the bit example taken
// alone: the target's bit with probability 1/2, else the bit that the target does
// not have on the second table... both laws share that half.
func HalfSampledBit(eps float64) func(alpha float64) float64 {
	t := 1 / (1 + bitmath.Exp(-eps))
	p, q := []float64{0.5, 0.5}, []float64{1 - t, t}
	return func(alpha float64) float64 { return Renyi(p, q, alpha) }
}

// EncoderAttack is what one record can do to a decoder step when the encoder has
// no noise: the clipped gradients of a batch all turn around.
type EncoderAttack struct {
	Sensitivity    float64 // of the decoder sum, in clipping bounds; claimed is 1
	Separation     float64 // of the two hypotheses, in standard deviations
	TotalVariation float64
}

// NoiselessEncoder returns the attack of docs/accounting.md section 2.1.
func NoiselessEncoder(noiseMultiplier float64, batch int64) EncoderAttack {
	s := 2 * float64(batch)
	d := s / noiseMultiplier
	return EncoderAttack{s, d, math.Erf(d / (2 * math.Sqrt2))}
}

// RoundedUp returns epsilon as the paper prints it, to two decimals.
func RoundedUp(epsilon float64) float64 { return math.Ceil(epsilon*100) / 100 }

// SharedCoin compares one generator step of a batch at a Renyi order: with a coin
// for every sample, as the script charges, and with one for the batch, as it runs.
func SharedCoin(q, noiseMultiplier float64, batch int64, alpha float64) (independent, shared float64) {
	independent = float64(batch) * account.PoissonGaussian(q, noiseMultiplier, alpha, privacy.AddRemove)
	shared = account.PoissonGaussian(q, noiseMultiplier/math.Sqrt(float64(batch)), alpha, privacy.AddRemove)
	return independent, shared
}
