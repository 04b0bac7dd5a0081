// Package published computes the epsilons that papers and their programs print,
// by their own arithmetic, and beside them what can be proven for the same
// algorithms. Claims says of each where it comes from and on what condition it
// holds; a published number is never a guarantee of weir's (docs/accounting.md).
package published

import (
	"math"

	"weir/internal/bitmath"
	"weir/privacy"
	"weir/privacy/account"
)

// Phase is one run of DP-SGD: Steps Poisson batches of rate SamplingRate.
type Phase struct {
	SamplingRate    float64 `json:"q"`
	NoiseMultiplier float64 `json:"noise_multiplier"`
	Steps           int64   `json:"steps"`
}

// Events returns the phases as events.
func Events(phases ...Phase) []privacy.Event {
	var out []privacy.Event
	for _, p := range phases {
		out = append(out, privacy.Repeated{Count: p.Steps, Event: privacy.PoissonSampled{SamplingRate: p.SamplingRate,
			Event: privacy.Gaussian{NoiseMultiplier: p.NoiseMultiplier}}})
	}
	return out
}

// Orders returns the Renyi orders up to 512, the end of the program's search, that the
// recomputed values of docs/accounting.md are taken on: tenths to 10.9, integers above.
func Orders() []float64 {
	var orders []float64
	for i := 11; i < 110; i++ {
		orders = append(orders, float64(i)/10)
	}
	return append(orders, account.IntegerOrders(11, 512)...)
}

// DPAutoGAN returns the epsilon of Tantipongpipat et al. 2021: the Renyi divergences of
// the phases added, converted once by the classic formula.
func DPAutoGAN(delta float64, phases ...Phase) (float64, error) {
	return account.RDP{Conversion: account.Classic, Orders: Orders()}.Epsilon(Events(phases...), privacy.AddRemove, delta)
}

// DPWGAN returns the epsilon that Tantipongpipat et al. 2021 count for their baseline DP-WGAN: log moments up to
// 32, so that no noise brings it below ln(1/delta)/32.
func DPWGAN(delta float64, p Phase) (float64, error) {
	return account.Moments{MaxLambda: 32}.Epsilon(Events(p), privacy.AddRemove, delta)
}

// UCLANESL holds the settings of the NIST challenge's WGAN.
type UCLANESL struct {
	Rows, Batch, Epochs int64
	NoiseMultiplier     float64 // per weight tensor
	Tensors             int64
	Orders              int // log moments, 32 in the program
}

// Steps returns the number of critic steps: whole batches a shuffle, times epochs.
func (u UCLANESL) Steps() int64 { return (u.Rows + u.Batch - 1) / u.Batch * u.Epochs }

func (u UCLANESL) rate() float64 { return float64(u.Batch) / float64(u.Rows) }

// moments returns the least over lambda of (releases alpha(lambda) + ln(1/delta))/lambda.
func (u UCLANESL) moments(s float64, releases int64, delta float64) (float64, error) {
	return account.Moments{MaxLambda: u.Orders}.Epsilon(Events(Phase{u.rate(), s, releases}), privacy.AddRemove, delta)
}

// Published charges every tensor as a release with a coin of its own.
func (u UCLANESL) Published(delta float64) (float64, error) {
	return u.moments(u.NoiseMultiplier, u.Tensors*u.Steps(), delta)
}

// PublishedSteps returns how many steps Published allows within epsilon.
func (u UCLANESL) PublishedSteps(epsilon, delta float64) int64 {
	best := 0.0
	for l := 1; l <= u.Orders; l++ {
		moment := float64(l) * account.PoissonGaussian(u.rate(), u.NoiseMultiplier, float64(l+1), privacy.AddRemove)
		best = math.Max(best, (float64(float64(l)*epsilon)-bitmath.Log(1/delta))/(float64(u.Tensors)*moment))
	}
	return int64(best)
}

// Joint returns the proven event, given Poisson batches: the tensors share a batch, so
// that they are one release (McMahan et al. 2018).
func (u UCLANESL) Joint() []privacy.Event {
	return Events(Phase{u.rate(), u.NoiseMultiplier / math.Sqrt(float64(u.Tensors)), u.Steps()})
}

// JointMoments returns the moments accountant on Joint.
func (u UCLANESL) JointMoments(delta float64) (float64, error) {
	return u.moments(u.NoiseMultiplier/math.Sqrt(float64(u.Tensors)), u.Steps(), delta)
}

// Amortized is the report of the amortized accountant of TensorFlow 2016, which
// UCLANESL uses for epsilon up to 0.7: per release (ln(1+q(e^eps-1)), q delta), in
// total (root of the sum of squares, sum). It is not a composition theorem and can
// be below the true epsilon.
type Amortized struct {
	EpsilonEach, DeltaEach float64 // after sampling
	Epsilon, Delta         float64 // as reported
	NoiseMultiplier        float64 // sqrt(2 ln(1.25/delta))/eps, proven only for eps < 1
}

// AmortizedAccountant computes the report for steps of releases at rate q.
func AmortizedAccountant(q, epsilon, delta float64, steps, releases int64) Amortized {
	a := Amortized{EpsilonEach: account.Amplify(epsilon, q), DeltaEach: q * delta, NoiseMultiplier: ClassicNoise(epsilon,
		delta)}
	n := float64(steps) * float64(releases)
	a.Epsilon, a.Delta = a.EpsilonEach*math.Sqrt(n), a.DeltaEach*n
	return a
}

// ClassicNoise returns the noise over sensitivity of Dwork, Roth 2014, theorem A.1:
// sqrt(2 ln(1.25/delta))/eps, proven for epsilon below 1 only.
func ClassicNoise(epsilon, delta float64) float64 {
	return math.Sqrt(2*bitmath.Log(1.25/delta)) / epsilon
}

// Branch is what the program of UCLANESL makes of its budget before it begins, from
// public numbers alone: how much noise, and after how many critic steps its accountant
// stops it (or its epochs end).
type Branch struct {
	NoiseMultiplier float64 // per weight tensor
	Steps           int64
	Amortized       bool // which of its two accountants
	step            Amortized
}

// Bounds between the branches: up to the first the amortised accountant, above the
// second a multiplier of 1 instead of 3.
const (
	mostAmortized = 0.7
	mostNoisy     = 5
)

// Branch returns the branch that the program takes for a budget. NoiseMultiplier of u is not used.
//
// The amortised accountant is charged once a tensor while delta_step is cut for one
// release a step, so that delta ends after a part of the steps that is 1/Tensors.
func (u UCLANESL) Branch(epsilon, delta float64) Branch {
	if epsilon > mostAmortized {
		u.NoiseMultiplier = 3
		if epsilon > mostNoisy {
			u.NoiseMultiplier = 1
		}
		return Branch{NoiseMultiplier: u.NoiseMultiplier, Steps: min(u.Steps(), u.PublishedSteps(epsilon, delta))}
	}
	steps := float64(u.Steps())
	each := epsilon / (u.rate() * math.Sqrt(2*steps*bitmath.Log(1/delta)))
	a := AmortizedAccountant(u.rate(), each, delta/(steps*u.rate()), 1, u.Tensors)
	root := epsilon / a.Epsilon
	most := math.Min(steps, math.Min(delta/a.Delta, float64(root*root)))
	return Branch{NoiseMultiplier: a.NoiseMultiplier, Steps: int64(most * (1 + 1e-12)), Amortized: true, step: a}
}

// Reported returns what the program's accountant says after the steps of a branch.
func (u UCLANESL) Reported(b Branch, delta float64) (float64, error) {
	if b.Amortized {
		return b.step.Epsilon * math.Sqrt(float64(b.Steps)), nil
	}
	return u.moments(b.NoiseMultiplier, u.Tensors*b.Steps, delta)
}
