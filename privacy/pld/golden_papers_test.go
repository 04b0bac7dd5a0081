package pld

import (
	"math"

	"weir/privacy"
)

// goldenVotes: one record moves a count by 1 under replace_one, where an event's
// bound is moved twice: hence twice the scale.
func goldenVotes(k check, in, want values) {
	n := int64(len(in["votes"].([]any)))
	one, two := want.object("sound_threshold_vote"), want.object("sound_two_count_argmax")
	e := privacy.Repeated{Count: n, Event: privacy.Laplace{NoiseMultiplier: 2 * one.f("noise_scale")}}
	k.near("sound_threshold_vote.pld", k.epsilon([]privacy.Event{e}, privacy.ReplaceOne, in.f("delta")), one.f("pld"))
	p := privacy.Repeated{Count: n, Event: privacy.Pure{Epsilon: 2 / two.f("noise_scale_each_count")}}
	k.near("pure_dp_pld", k.epsilon([]privacy.Event{p}, privacy.ReplaceOne, in.f("delta")), two.f("pure_dp_pld"))
}

func goldenAutoGAN(k check, in, want values) {
	k.near("pld_epsilon_add_remove", k.epsilon(phases(in), privacy.AddRemove, in.f("delta")),
		want.f("pld_epsilon_add_remove"))
	k.near("pld_epsilon_replace_one", k.epsilon(phases(in), privacy.ReplaceOne, in.f("delta")),
		want.f("pld_epsilon_replace_one"))
	goldenAsCoded(k, in, want)
}

// goldenAsCoded: the program draws Binomial(n, q) rows with replacement, so that a row
// is there Binomial(n, q/n) times; five and more are put at infinite loss.
func goldenAsCoded(k check, in, want values) {
	if math.IsNaN(want.f("pld_epsilon_sampling_with_replacement_as_coded")) {
		return
	}
	c := &composition{fineness: fineness}
	for _, p := range in.objects("phases") {
		c.parts = append(c.parts, part{multiple(in.f("n"), p.f("q")/in.f("n"), 1/p.f("noise_multiplier")), p.f("steps")})
	}
	got := math.Max(c.epsilon(in.f("delta")), c.swap().epsilon(in.f("delta")))
	k.near("pld_epsilon_sampling_with_replacement_as_coded", got, want.f("pld_epsilon_sampling_with_replacement_as_coded"))
}

// multiple returns the pair of the mixture of N(i mu, 1) with i binomial, and N(0, 1).
func multiple(n, p, mu float64) *pair {
	weight, rest := [5]float64{}, 1.0
	for i := range weight {
		x := float64(i)
		weight[i] = math.Exp(lgamma(n+1) - lgamma(x+1) - lgamma(n-x+1) + x*math.Log(p) + (n-x)*math.Log1p(-p))
		rest -= weight[i]
	}
	odds := func(x float64) (sum float64) {
		for i, w := range weight {
			m := mu * float64(i)
			sum += w * math.Exp(m*x-m*m/2)
		}
		return sum
	}
	d := density{
		at:   func(x float64) (float64, float64) { return odds(x) * normal(x), normal(x) },
		loss: func(x float64) float64 { return math.Log(odds(x)) },
	}
	m := &pair{atoms: discretise(d, -20, 0.01, 4400, false)}
	m = tails(m, false)
	m.inf += math.Max(0, rest)
	return m
}

// goldenGSWGAN: the multiplier is over the replace-one sensitivity.
func goldenGSWGAN(k check, in, want values) {
	rate, steps, batch, s, delta := 1/in.f("discriminators"), in.f("generator_steps"), in.f("batch"),
		in.f("noise_multiplier"), in.f("delta")
	g := privacy.Gaussian{NoiseMultiplier: s}
	eps := func(e privacy.Event) float64 { return k.epsilon([]privacy.Event{e}, privacy.ReplaceOne, delta) }
	k.near("fixed_algorithm_independent_draw_per_sample_pld", eps(fixedSize(rate, steps*batch, g)),
		want.f("fixed_algorithm_independent_draw_per_sample_pld"))
	joint := privacy.Repeated{Count: int64(batch), Event: g}
	k.near("batch_amplified_once_public_update_schedule_pld", eps(fixedSize(rate, steps, joint)),
		want.f("batch_amplified_once_public_update_schedule_pld"))
	robin := privacy.Repeated{Count: int64(math.Ceil(steps*rate) * batch), Event: privacy.Gaussian{NoiseMultiplier: 2 * s}}
	k.near("sound_public_round_robin_one_discriminator_per_step", eps(robin),
		want.f("sound_public_round_robin_one_discriminator_per_step"))
	worst, err := New().Epsilon([]privacy.Event{sampled(rate, s/math.Sqrt(batch), steps)}, privacy.AddRemove, delta)
	if err != nil {
		k.t.Fatal(err)
	}
	k.near("worst_case_lower_bound_as_implemented_pld", worst, want.f("worst_case_lower_bound_as_implemented_pld"))
}

func goldenNIST(k check, in, want values) {
	joint := privacy.Repeated{Count: int64(in.f("weight_tensors")),
		Event: privacy.Gaussian{NoiseMultiplier: in.f("sigma")}}
	e := privacy.Repeated{Count: int64(want.f("steps")), Event: privacy.PoissonSampled{SamplingRate: in.f("batch") /
		in.f("n"), Event: joint}}
	k.near("joint_release_pld_epsilon", k.epsilon([]privacy.Event{e}, k.c.Adjacency, in.f("delta")),
		want.f("joint_release_pld_epsilon"))
}

func goldenHiddenResponse(k check, in, want values) {
	e := fixedSize(1/in.f("discriminators"), in.f("steps"), privacy.RandomizedResponse{Epsilon: in.f("base_epsilon")})
	got, err := New().Delta([]privacy.Event{e}, k.c.Adjacency, in.f("epsilon"))
	if w := want.f("delta_claimed_by_composing_amplified_steps"); err != nil || math.Abs(got-w) > 1e-8*w {
		k.t.Errorf("%s: delta %v, want %v (%v)", k.c.ID, got, w, err)
	}
}

func goldenHiddenGaussian(k check, in, want values) {
	e := fixedSize(in.f("selection_probability"), in.f("steps"),
		privacy.Gaussian{NoiseMultiplier: in.f("noise_multiplier")})
	got, err := New().Delta([]privacy.Event{e}, k.c.Adjacency, in.f("epsilon"))
	if w := want.f("delta_claimed_by_composing_amplified_steps"); err != nil || math.Abs(got-w) > 1e-3*w {
		k.t.Errorf("%s: delta %v, want %v (%v)", k.c.ID, got, w, err)
	}
}

func goldenTwinify(k check, in, want values) {
	s, q, n, delta := want.f("noise_multiplier"), in.f("subsample_ratio"), in.f("steps"), in.f("delta")
	k.near("epsilon_substitute_pld_poisson", k.epsilon([]privacy.Event{sampled(q, s, n)}, privacy.ReplaceOne, delta),
		want.f("epsilon_substitute_pld_poisson"))
	k.near("epsilon_substitute_at_1_2_times_noise", k.epsilon([]privacy.Event{sampled(q, 1.2*s, n)}, privacy.ReplaceOne,
		delta), want.f("epsilon_substitute_at_1_2_times_noise"))
	k.near("epsilon_add_remove_pld", k.epsilon([]privacy.Event{sampled(q, s, n)}, privacy.AddRemove, delta),
		want.f("epsilon_add_remove_pld"))
	e := fixedSize(q, n, privacy.Gaussian{NoiseMultiplier: s / 2})
	k.near("epsilon_substitute_without_replacement_pld_profile", k.epsilon([]privacy.Event{e}, privacy.ReplaceOne, delta),
		want.f("epsilon_substitute_without_replacement_pld_profile"))
}

// goldenCalibration: the least multiplier that meets the target lies within the tolerance of the file.
func goldenCalibration(k check, in, want values) {
	w, rel := want.f("pld"), k.c.Tolerance.f("rel_pld")
	for _, s := range []float64{w * (1 - rel), w * (1 + rel)} {
		eps, err := New().Epsilon([]privacy.Event{sampled(in.f("q"), s, in.f("steps"))}, k.c.Adjacency, in.f("delta"))
		if target := in.f("target_epsilon"); err != nil || (eps <= target) != (s >= w) {
			k.t.Errorf("%s: noise multiplier %v has epsilon %v, the least that meets %v is %v (%v)", k.c.ID, s, eps, target, w,
				err)
		}
	}
}

// goldenAdvanced also holds the answer against the exact optimum, a binomial sum
// (Kairouz, Oh and Viswanath 2015, theorem 3.3), closer than the file's tolerance.
func goldenAdvanced(k check, in, want values) {
	e := privacy.Repeated{Count: int64(in.f("steps")), Event: privacy.Approximate{Epsilon: in.f("epsilon"),
		Delta: in.f("delta")}}
	total := want.f("total_delta")
	got := k.epsilon([]privacy.Event{e}, privacy.AddRemove, total)
	k.near("optimal_composition_epsilon_pld", got, want.f("optimal_composition_epsilon_pld"))
	exact := binomialEpsilon(in.f("epsilon"), in.f("delta"), in.f("steps"), total)
	if got < exact*(1-1e-9) || got > exact*(1+1e-6) {
		k.t.Errorf("%s: %v, the exact optimum is %v", k.c.ID, got, exact)
	}
}

// binomialEpsilon inverts delta(eps) = 1-(1-d)^n + (1-d)^n sum_i Bin(n,p)(i)
// (1 - e^{eps - (2i-n)e})+ with p = 1/(1+e^-e) by bisection.
func binomialEpsilon(e, d, n, target float64) float64 {
	valueAt := func(eps float64) float64 {
		sum, lgn := 0.0, lgamma(n+1)
		for i := 0.0; i <= n; i++ {
			if l := (2*i - n) * e; l > eps {
				sum -= math.Exp(lgn-lgamma(i+1)-lgamma(n-i+1)-i*math.Log1p(math.Exp(-e))-(n-i)*math.Log1p(math.Exp(e))) *
					math.Expm1(eps-l)
			}
		}
		keep := n * math.Log1p(-d)
		return -math.Expm1(keep) + math.Exp(keep)*sum
	}
	lo, hi := 0.0, n*e
	for range 60 {
		if mid := (lo + hi) / 2; valueAt(mid) > target {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

// goldenAmortized: the releases of a step share its batch.
func goldenAmortized(k check, in, want values) {
	step := privacy.Repeated{Count: int64(in.f("releases_per_step")),
		Event: privacy.Gaussian{NoiseMultiplier: want.f("sigma_classic_gaussian")}}
	e := privacy.Repeated{Count: int64(in.f("steps")), Event: privacy.PoissonSampled{SamplingRate: in.f("q"), Event: step}}
	got := k.epsilon([]privacy.Event{e}, k.c.Adjacency, want.f("reported_delta"))
	k.near("tight_epsilon_at_reported_delta", got, want.f("tight_epsilon_at_reported_delta"))
}

func lgamma(x float64) float64 { l, _ := math.Lgamma(x); return l }
