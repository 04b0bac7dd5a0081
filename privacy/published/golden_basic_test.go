package published

import (
	"math"
	"sort"

	"weir/privacy"
	"weir/privacy/account"
	"weir/privacy/pld"
)

func laplace(c goldenCase) {
	var in struct {
		Sensitivity, Scale, Delta float64
		Alphas, Epsilons          []float64
		Compositions              []int64
	}
	c.in(&in)
	e := privacy.Laplace{NoiseMultiplier: in.Scale / in.Sensitivity}
	c.near("pure_epsilon", c.eps(account.RDP{}, 0, e))
	c.nearList("rdp", in.Alphas, c.rdp(e))
	for i, want := range c.nums("delta_at_epsilons") {
		c.within("delta", c.delta(pld.New(), in.Epsilons[i], e), want, c.Tolerance.PldRel, 1e-9)
	}
	for i, k := range in.Compositions {
		c.within("pld", c.eps(pld.New(), in.Delta, repeat(k, e)), c.nums("composed_epsilon_pld")[i], c.Tolerance.PldRel,
			c.Tolerance.PldAbs)
		c.within("pure", c.eps(account.Basic{}, 0, repeat(k, e)), c.nums("composed_epsilon_pure")[i], c.Tolerance.Rel, 0)
	}
}

func gaussianCalibration(c goldenCase) {
	var in struct{ Epsilon, Delta, Sensitivity float64 }
	c.in(&in)
	classic := ClassicNoise(in.Epsilon, in.Delta)
	c.near("classic_sigma", in.Sensitivity*classic)
	if (in.Epsilon < 1) != c.Expected["classic_valid"] {
		c.Errorf("classic_valid must be %v", c.Expected["classic_valid"])
	}
	c.near("analytic_sigma", in.Sensitivity*account.GaussianNoise(in.Epsilon, in.Delta))
	c.near("epsilon_of_classic_sigma", account.GaussianEpsilon(classic, in.Delta))
	c.near("delta_of_classic_sigma_at_epsilon", account.GaussianDelta(classic, in.Epsilon))
}

func gaussianEpsilon(c goldenCase) {
	var in struct {
		Sigma, Sensitivity, Delta float64
		Epsilons                  []float64
	}
	c.in(&in)
	s := in.Sigma / in.Sensitivity
	c.near("epsilon", account.GaussianEpsilon(s, in.Delta))
	c.nearList("delta_at_epsilons", in.Epsilons, func(e float64) float64 { return account.GaussianDelta(s, e) })
	c.near("zcdp_rho", 1/(2*s*s))
}

func discreteGaussian(c goldenCase) {
	var in struct {
		Sigma, Delta     float64
		Sensitivity      int
		Epsilons, Alphas []float64
	}
	c.in(&in)
	p, q := discretePair(in.Sigma, in.Sensitivity)
	c.nearList("rdp_exact", in.Alphas, func(a float64) float64 { return Renyi(p, q, a) })
	c.nearList("delta_at_epsilons", in.Epsilons, func(e float64) float64 { return HockeyStick(p, q, e) })
	rho := float64(in.Sensitivity*in.Sensitivity) / (2 * in.Sigma * in.Sigma)
	c.near("zcdp_rho", rho)
	c.nearList("rdp_bound", in.Alphas, c.rdp(privacy.ZCDP{Rho: rho}))
	if in.Sensitivity == 1 { // the event's bound on a contribution
		e := privacy.DiscreteGaussian{NoiseMultiplier: in.Sigma}
		c.nearList("rdp_bound", in.Alphas, c.rdp(e))
		c.nearPLD("epsilon_after_10_pld", c.eps(pld.New(), in.Delta, repeat(10, e)))
	}
}

// discretePair returns the discrete Gaussian and its shift, 40 sigma either way.
func discretePair(sigma float64, shift int) (p, q []float64) {
	half := int(math.Ceil(38*sigma)) + shift // masses down to e^-722; high orders weigh the tail
	norm := 0.0
	for x := -half; x <= half; x++ {
		norm += math.Exp(-float64(x*x) / (2 * sigma * sigma))
	}
	mass := func(x int) float64 { return math.Exp(-float64(x*x)/(2*sigma*sigma)) / norm }
	for x := -half; x <= half+shift; x++ {
		if mass(x) > 0 && mass(x-shift) > 0 {
			p, q = append(p, mass(x-shift)), append(q, mass(x))
		}
	}
	return p, q
}

func exponentialMechanism(c goldenCase) {
	var in struct {
		Epsilon, Delta float64
		Compositions   int64
	}
	c.in(&in)
	e := privacy.Exponential{Epsilon: in.Epsilon}
	all := repeat(in.Compositions, e)
	c.near("composed_epsilon_basic", c.eps(account.Basic{}, in.Delta, all))
	c.near("composed_epsilon_zcdp_improved", c.eps(account.ZCDP{}, in.Delta, all))
	rho := privacy.ZCDP{Rho: c.num("zcdp_rho_bounded_range")}
	c.near("composed_epsilon_zcdp_improved", c.eps(account.ZCDP{}, in.Delta, repeat(in.Compositions, rho)))
	c.near("composed_epsilon_rdp_bounded_range_default_grid", c.eps(gridRDP(account.Improved), in.Delta, all))
	c.nearPLD("composed_epsilon_pure_dp_pld", c.eps(pld.New(), in.Delta,
		repeat(in.Compositions, privacy.Pure{Epsilon: in.Epsilon})))
	valueAt := c.rdp(e)
	for _, row := range c.Expected["rdp_at_alpha"].([]any) {
		r := row.(map[string]any)
		c.within("rdp", valueAt(r["alpha"].(float64)), r["rdp"].(float64), c.Tolerance.Rel, 0)
	}
}

func randomizedResponse(c goldenCase) {
	var in struct {
		Buckets      int
		Noise        float64 `json:"noise_parameter"`
		Delta        float64
		Alphas       []float64
		Compositions []int64
	}
	c.in(&in)
	other := in.Noise / float64(in.Buckets)
	truth := 1 - in.Noise + other
	p, q := []float64{truth, other}, []float64{other, truth}
	for range in.Buckets - 2 {
		p, q = append(p, other), append(q, other)
	}
	c.near("truth_probability", truth)
	c.near("pure_epsilon", math.Log(truth/other))
	c.nearList("rdp", in.Alphas, func(a float64) float64 { return Renyi(p, q, a) })
	e := privacy.RandomizedResponse{Epsilon: math.Log(truth / other)}
	if at := c.rdp(e); in.Buckets == 2 {
		c.nearList("rdp", in.Alphas, at)
	}
	for i, k := range in.Compositions {
		got, want := c.eps(pld.New(), in.Delta, repeat(k, e)), c.nums("composed_epsilon_pld")[i]
		if in.Buckets == 2 {
			c.within("pld", got, want, c.Tolerance.PldRel, c.Tolerance.PldAbs)
		} else if got < c.nums("composed_epsilon_pure")[i]*(1-1e-9) && got < want*(1-c.Tolerance.PldRel)-c.Tolerance.PldAbs {
			c.Errorf("pld: the binary pair gives %v, below %v of %d buckets", got, want, in.Buckets)
		}
		c.within("pure", c.eps(account.RDP{}, 0, repeat(k, e)), c.nums("composed_epsilon_pure")[i], c.Tolerance.Rel, 0)
	}
}

func zcdpToDP(c goldenCase) {
	var in struct{ Rho, Delta float64 }
	c.in(&in)
	c.near("standard_epsilon", c.eps(account.ZCDP{Conversion: account.Classic}, in.Delta, privacy.ZCDP{Rho: in.Rho}))
	c.near("improved_epsilon", c.eps(account.ZCDP{}, in.Delta, privacy.ZCDP{Rho: in.Rho}))
	c.near("gaussian_tight_epsilon", account.GaussianEpsilon(1/math.Sqrt(2*in.Rho), in.Delta))
	c.near("rho_back_from_improved", account.Improved.LargestRho(c.num("improved_epsilon"), in.Delta))
}

func dpToZCDP(c goldenCase) {
	var in struct{ Epsilon, Delta float64 }
	c.in(&in)
	c.near("rho_from_pure_dp", in.Epsilon*in.Epsilon/2)
	c.near("rho_budget_improved", account.Improved.LargestRho(in.Epsilon, in.Delta))
	c.near("rho_budget_standard", account.Classic.LargestRho(in.Epsilon, in.Delta))
}

func groupPrivacy(c goldenCase) {
	var in struct {
		Epsilon, Delta, Rho, Sigma float64
		Size                       int `json:"group_size"`
	}
	c.in(&in)
	group := func(e privacy.Event) privacy.Event {
		g, err := privacy.Group(e, in.Size)
		if err != nil {
			c.Fatal(err)
		}
		return g
	}
	a := group(privacy.Approximate{Epsilon: in.Epsilon, Delta: in.Delta}).(privacy.Approximate)
	c.near("epsilon", a.Epsilon)
	c.near("delta_tight_sum", a.Delta)
	k := float64(in.Size)
	c.near("delta_loose", k*math.Exp((k-1)*in.Epsilon)*in.Delta)
	c.near("rho", group(privacy.ZCDP{Rho: in.Rho}).(privacy.ZCDP).Rho)
	c.near("gaussian_epsilon", account.GaussianEpsilon(group(privacy.Gaussian{NoiseMultiplier: in.Sigma}).(privacy.Gaussian).NoiseMultiplier, in.Delta))
}

func amplification(c goldenCase) {
	var in struct{ Epsilon, Delta, Q float64 }
	c.in(&in)
	c.near("epsilon", account.Amplify(in.Epsilon, in.Q))
	c.near("delta", in.Q*in.Delta)
	sampled := privacy.PoissonSampled{SamplingRate: in.Q, Event: privacy.Approximate{Epsilon: in.Epsilon, Delta: in.Delta}}
	c.near("epsilon", c.eps(account.Basic{}, in.Q*in.Delta, sampled))
}

func heterogeneous(c goldenCase) {
	type entry struct {
		Q, Sensitivity, Scale, Sigma, Epsilon float64
		Noise                                 float64 `json:"noise_multiplier"`
		Count, Steps                          int64
	}
	var in struct {
		Mechanisms map[string][]entry
		Delta      float64
	}
	c.in(&in)
	var forRDP, forPLD []privacy.Event
	add := func(n int64, e, worst privacy.Event) {
		forRDP, forPLD = append(forRDP, repeat(n, e)), append(forPLD, repeat(n, worst))
	}
	var kinds []string
	for kind := range in.Mechanisms {
		kinds = append(kinds, kind)
	}
	sort.Strings(kinds)
	for _, kind := range kinds {
		for _, m := range in.Mechanisms[kind] {
			switch kind {
			case "laplace":
				e := privacy.Laplace{NoiseMultiplier: m.Scale / m.Sensitivity}
				add(m.Count, e, e)
			case "gaussian":
				e := privacy.Gaussian{NoiseMultiplier: m.Sigma / m.Sensitivity}
				add(m.Count, e, e)
			case "dpsgd":
				e := privacy.PoissonSampled{SamplingRate: m.Q, Event: privacy.Gaussian{NoiseMultiplier: m.Noise}}
				add(m.Steps, e, e)
			case "exponential":
				add(m.Count, privacy.Exponential{Epsilon: m.Epsilon}, privacy.Pure{Epsilon: m.Epsilon})
			default:
				c.Fatalf("nobody knows the mechanism %q", kind)
			}
		}
	}
	best, err := account.Explain(gridRDP(account.Improved), forRDP, c.adj(), in.Delta)
	c.near("rdp_improved_default_grid", c.value(best.Epsilon, err))
	c.near("rdp_alpha", best.Order)
	c.near("rdp_classic_default_grid", c.eps(gridRDP(account.Classic), in.Delta, forRDP...))
	c.nearPLD("pld", c.eps(pld.New(), in.Delta, forPLD...))
}

func pateGAN(c goldenCase) {
	var in struct {
		Votes  [][2]float64
		Lambda float64 `json:"lambda_"`
		Delta  float64
		Orders int `json:"moment_orders"`
	}
	c.in(&in)
	var votes []Vote
	for _, v := range in.Votes {
		votes = append(votes, Vote{v[0], v[1]})
	}
	c.near("reference_code_epsilon_hat", PATEEpsilon(votes, in.Lambda, in.Delta, in.Orders, PATEMoment))
	orders := []float64{1, 2, 4, 8, 20}
	for i, want := range c.nums("reference_code_log_moments") {
		c.within("log moment", TotalMoment(votes, in.Lambda, orders[i], PATEMoment), want, c.Tolerance.Rel, 0)
	}
	c.near("synthcity_formula_epsilon_100_orders", PATEEpsilon(votes, in.Lambda, in.Delta, 100, SynthcityMoment))
	c.near("pate_data_dependent_epsilon_with_condition", PATEEpsilon(votes, in.Lambda, in.Delta, in.Orders,
		ConditionedMoment))
	c.near("pate_data_independent_moments_epsilon", PATEEpsilon(votes, in.Lambda, in.Delta, in.Orders, IndependentMoment))
	pateSound(c, votes, 1/in.Lambda, in.Delta)
	for _, row := range c.Expected["per_vote_instances_where_code_underestimates"].([]any) {
		r := row.(map[string]any)
		v, l := Vote{r["n0"].(float64), r["n1"].(float64)}, r["order"].(float64)
		c.within("code", PATEMoment(v, in.Lambda, l), r["code"].(float64), c.Tolerance.Rel, 0)
		c.within("instance", ThresholdMoment(v, 1/in.Lambda, l), r["true_instance"].(float64), c.Tolerance.Rel, 0)
	}
}

func pateSound(c goldenCase, votes []Vote, scale, delta float64) {
	sound := c.Expected["sound_threshold_vote"].(map[string]any)
	get := func(m map[string]any, key string) float64 { return m[key].(float64) }
	one := ThresholdVotes(len(votes), scale)
	eps := func(a privacy.Accountant, d float64, e privacy.Event) float64 {
		return c.epsUnder(a, privacy.AddRemove, d, e)
	}
	c.within("noise_scale", scale, get(sound, "noise_scale"), c.Tolerance.Rel, 0)
	c.within("pure", eps(account.Basic{}, 0, one), get(sound, "pure_epsilon"), c.Tolerance.Rel, 0)
	c.within("improved", eps(gridRDP(account.Improved), delta, one), get(sound, "rdp_improved_default_grid"),
		c.Tolerance.Rel, 0)
	c.within("classic", eps(gridRDP(account.Classic), delta, one), get(sound, "rdp_classic_default_grid"), c.Tolerance.Rel,
		0)
	c.within("pld", eps(pld.New(), delta, one), get(sound, "pld"), c.Tolerance.PldRel, c.Tolerance.PldAbs)
	two := c.Expected["sound_two_count_argmax"].(map[string]any)
	c.within("argmax pure", eps(account.Basic{}, 0, ArgmaxVotes(len(votes), scale)), get(two, "pure_epsilon"),
		c.Tolerance.Rel, 0)
	c.within("argmax pld", eps(pld.New(), delta, ArgmaxVotes(len(votes), scale)), get(two, "pure_dp_pld"),
		c.Tolerance.PldRel, c.Tolerance.PldAbs)
}

func pateVote(c goldenCase) {
	var in struct {
		Lambda float64 `json:"lambda_"`
		Scale  float64 `json:"noise_scale"`
	}
	c.in(&in)
	for _, row := range c.Expected["rows"].([]any) {
		r := row.(map[string]any)
		v, l := Vote{r["n0"].(float64), r["n1"].(float64)}, r["order"].(float64)
		code := PATEMoment(v, in.Lambda, l)
		if want, ok := r["code_log_moment"].(float64); ok {
			c.within("code", code, want, c.Tolerance.Rel, 0)
		} else if !math.IsNaN(code) {
			c.Errorf("code: got %v for %v, want none", code, v)
		}
		c.within("instance", ThresholdMoment(v, in.Scale, l), r["true_instance_log_moment"].(float64), c.Tolerance.Rel, 0)
		c.within("independent", c.value(LaplaceMoment(in.Scale, l)), r["data_independent_log_moment"].(float64),
			c.Tolerance.Rel, 0)
	}
}

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
	sampled := privacy.SampledWithoutReplacement{SampleSize: 1, Population: 2, Event: privacy.RandomizedResponse{
		Epsilon: in.Base}}
	c.within("claimed", c.delta(pld.New(), in.Epsilon, repeat(2, sampled)),
		c.num("delta_claimed_by_composing_amplified_steps"), 1e-3, 0)
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
	sampled := privacy.SampledWithoutReplacement{SampleSize: int64(math.Round(in.Q * n)), Population: n,
		Event: privacy.Gaussian{NoiseMultiplier: in.Noise}}
	c.near("delta_claimed_by_composing_amplified_steps", c.delta(pld.New(), in.Epsilon, repeat(2, sampled)))
}
