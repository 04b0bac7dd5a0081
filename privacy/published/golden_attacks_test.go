package published

import (
	"math"

	"weir/privacy"
	"weir/privacy/account"
	"weir/privacy/pld"
)

func encoderAttack(c goldenCase) {
	var in struct {
		Noise float64 `json:"noise_multiplier"`
		Batch int64
	}
	c.in(&in)
	a := NoiselessEncoder(in.Noise, in.Batch)
	c.near("claimed_sensitivity", a.Sensitivity/float64(2*in.Batch)) // the batch turned around, each by 2C
	c.near("actual_sensitivity_after_record_seen", a.Sensitivity)
	c.near("one_step_separation_in_noise_std", a.Separation)
	c.near("one_step_total_variation", a.TotalVariation)
	c.near("one_step_gaussian_epsilon_at_1e_5", account.GaussianEpsilon(1/a.Separation, 1e-5))
	c.near("rdp_bound_per_step_at_alpha_2", c.rdp(privacy.Gaussian{NoiseMultiplier: 1 / a.Separation})(2))
}

func sharedCoin(c goldenCase) {
	var in struct {
		Q      float64
		Batch  int64
		Noise  float64 `json:"noise_multiplier"`
		Alphas []float64
	}
	c.in(&in)
	for i, a := range in.Alphas {
		independent, shared := SharedCoin(in.Q, in.Noise, in.Batch, a)
		c.within("independent", independent, c.nums("independent_coins_rdp")[i], c.Tolerance.Rel, 0)
		c.within("shared", shared, c.nums("shared_coin_rdp")[i], c.Tolerance.Rel, 0)
	}
}

func hiddenBits(c goldenCase) {
	var in struct {
		Base    float64 `json:"base_epsilon"`
		Epsilon float64
	}
	c.in(&in)
	p := HiddenBits(in.Base, []int{0, 1}, ForgetsFirst)
	q := HiddenBits(in.Base, []int{1, 0}, ForgetsFirst)
	for i := range p {
		c.within("law on X", p[i], c.nums("output_probabilities_x")[i], c.Tolerance.Rel, 0)
		c.within("law on X'", q[i], c.nums("output_probabilities_x_prime")[i], c.Tolerance.Rel, 0)
	}
	c.near("actual_delta", HockeyStick(p, q, in.Epsilon))
	sampled := privacy.SampledWithoutReplacement{SampleSize: 1, Population: 2, Event: privacy.RandomizedResponse{Epsilon: in.Base}}
	c.within("claimed", c.delta(pld.New(), in.Epsilon, repeat(2, sampled)), c.num("delta_claimed_by_composing_amplified_steps"), 1e-3, 0)
}

func hiddenBitsRDP(c goldenCase) {
	var in struct {
		Base   float64 `json:"base_epsilon"`
		Steps  float64
		Alphas []float64
	}
	c.in(&in)
	p := HiddenBits(in.Base, []int{1, 1, 1}, NeverDrawn)
	q := HiddenBits(in.Base, []int{0, 0, 0}, NeverDrawn)
	c.nearList("actual_rdp", in.Alphas, func(a float64) float64 { return Renyi(p, q, a) })
	c.near("actual_kl", Renyi(p, q, 1))
	one := HalfSampledBit(in.Base)
	c.nearList("rdp_claimed", in.Alphas, func(a float64) float64 { return in.Steps * one(a) })
	c.near("kl_claimed", in.Steps*one(1))
}

func hiddenGaussian(c goldenCase) {
	var in struct {
		Q       float64 `json:"selection_probability"`
		Noise   float64 `json:"noise_multiplier"`
		Epsilon float64
		Alphas  []float64
	}
	c.in(&in)
	p, q := HiddenGaussian(in.Q, in.Noise, in.Noise/20)
	c.near("actual_delta", HockeyStick(p, q, in.Epsilon))
	c.nearList("actual_rdp", in.Alphas, func(a float64) float64 { return Renyi(p, q, a) })
	c.nearList("rdp_claimed", in.Alphas, func(a float64) float64 {
		return 2 * account.PoissonGaussian(in.Q, in.Noise, a, privacy.AddRemove)
	})
	const n = 1 << 30
	sampled := privacy.SampledWithoutReplacement{SampleSize: int64(math.Round(in.Q * n)), Population: n, Event: privacy.Gaussian{NoiseMultiplier: in.Noise}}
	c.near("delta_claimed_by_composing_amplified_steps", c.delta(pld.New(), in.Epsilon, repeat(2, sampled)))
}
