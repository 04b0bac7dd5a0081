package published

import (
	"math"

	"weir/privacy"
	"weir/privacy/account"
	"weir/privacy/pld"
)

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
	c.near("pate_data_dependent_epsilon_with_condition", PATEEpsilon(votes, in.Lambda, in.Delta, in.Orders, ConditionedMoment))
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
	c.within("improved", eps(gridRDP(account.Improved), delta, one), get(sound, "rdp_improved_default_grid"), c.Tolerance.Rel, 0)
	c.within("classic", eps(gridRDP(account.Classic), delta, one), get(sound, "rdp_classic_default_grid"), c.Tolerance.Rel, 0)
	c.within("pld", eps(pld.New(), delta, one), get(sound, "pld"), c.Tolerance.PldRel, c.Tolerance.PldAbs)
	two := c.Expected["sound_two_count_argmax"].(map[string]any)
	c.within("argmax pure", eps(account.Basic{}, 0, ArgmaxVotes(len(votes), scale)), get(two, "pure_epsilon"), c.Tolerance.Rel, 0)
	c.within("argmax pld", eps(pld.New(), delta, ArgmaxVotes(len(votes), scale)), get(two, "pure_dp_pld"), c.Tolerance.PldRel, c.Tolerance.PldAbs)
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
		c.within("independent", c.value(LaplaceMoment(in.Scale, l)), r["data_independent_log_moment"].(float64), c.Tolerance.Rel, 0)
	}
}

type phases struct {
	N      float64
	Delta  float64
	Phases []Phase
}

// twoPhases answers what a case has with and without a paper's number.
func twoPhases(c goldenCase) {
	var in phases
	c.in(&in)
	c.near("recomputed_classic_epsilon", c.value(DPAutoGAN(in.Delta, in.Phases...)))
	best, err := account.Explain(account.RDP{Conversion: account.Classic, Orders: Orders()}, Events(in.Phases...), privacy.AddRemove, in.Delta)
	c.near("recomputed_classic_alpha", c.value(best.Order, err))
	c.near("improved_epsilon", c.eps(account.RDP{Orders: Orders()}, in.Delta, Events(in.Phases...)...))
	for key, adj := range map[string]privacy.Adjacency{"pld_epsilon_add_remove": privacy.AddRemove, "pld_epsilon_replace_one": privacy.ReplaceOne} {
		if c.has(key) {
			c.nearPLD(key, c.epsUnder(pld.New(), adj, in.Delta, Events(in.Phases...)...))
		}
	}
}

func dpAutoGAN(c goldenCase) {
	twoPhases(c)
	var in phases
	c.in(&in)
	c.near("recomputed_rounded_up_2_decimals", RoundedUp(c.value(DPAutoGAN(in.Delta, in.Phases...))))
	if c.has("paper_epsilon") && c.num("paper_epsilon") != c.num("recomputed_rounded_up_2_decimals") {
		c.Error("the paper's number is not the recomputed one")
	}
	if c.has("phase_classic_epsilons") {
		for i, want := range c.nums("phase_classic_epsilons") {
			c.within("phase", c.value(DPAutoGAN(in.Delta, in.Phases[i])), want, c.Tolerance.Rel, 0)
		}
	}
	if other, ok := c.Expected["other_readings"].(map[string]any); ok {
		last := in.Phases[1]
		big, long := last, last
		big.SamplingRate, long.Steps = 1000/in.N, 2*last.Steps
		c.within("batch 1000", c.value(DPAutoGAN(in.Delta, in.Phases[0], big)), other["gan_batch_1000"].(float64), c.Tolerance.Rel, 0)
		c.within("doubled", c.value(DPAutoGAN(in.Delta, in.Phases[0], long)), other["gan_steps_doubled"].(float64), c.Tolerance.Rel, 0)
		c.within("alone", c.value(DPAutoGAN(in.Delta, last)), other["gan_phase_only"].(float64), c.Tolerance.Rel, 0)
	}
}

func (c goldenCase) gsWGAN() (GSWGAN, float64) {
	var in struct {
		Discriminators int64
		Steps          int64 `json:"generator_steps"`
		Batch          int64
		Noise          float64 `json:"noise_multiplier"`
		Delta          float64
	}
	c.in(&in)
	return GSWGAN{in.Discriminators, in.Steps, in.Batch, in.Noise}, in.Delta
}

func gsWGANCode(c goldenCase) {
	g, delta := c.gsWGAN()
	c.near("code_epsilon", c.value(g.Published(delta)))
}

func gsWGAN(c goldenCase) {
	gsWGANCode(c)
	g, delta := c.gsWGAN()
	half := g
	half.NoiseMultiplier /= 2
	c.near("code_epsilon_if_factor_2_sensitivity_missing", c.value(half.Published(delta)))
	if c.has("paper_epsilon") {
		c.near("generator_steps_matching_paper_exactly", c.value(g.StepsFor(c.num("paper_epsilon"), delta)))
	} else if c.has("generator_steps_matching_paper_exactly") {
		c.Error("steps match a paper's epsilon that the case does not give")
	}
	c.near("sound_as_implemented_schedule_revealed", g.ScheduleRevealed(delta))
	c.near("sound_as_implemented_if_factor_2_missing", half.ScheduleRevealed(delta))
	c.near("sound_public_round_robin_one_discriminator_per_step", g.RoundRobin(delta))
	c.near("fixed_algorithm_wbk_rdp", c.value(g.Published(delta)))
	c.nearPLD("fixed_algorithm_independent_draw_per_sample_pld", c.eps(pld.New(), delta, g.PerSample()))
	c.nearPLD("batch_amplified_once_public_update_schedule_pld", c.eps(pld.New(), delta, g.PerBatch()))
	c.nearPLD("worst_case_lower_bound_as_implemented_pld", c.epsUnder(pld.New(), privacy.AddRemove, delta, g.WorstCase()))
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

func uclanesl(c goldenCase) {
	var in struct {
		N, Batch, Epochs int64
		Sigma, Delta     float64
		Tensors          int64   `json:"weight_tensors"`
		Budget           float64 `json:"budget_epsilon"`
		Orders           int     `json:"moment_orders"`
	}
	c.in(&in)
	u := UCLANESL{in.N, in.Batch, in.Epochs, in.Sigma, in.Tensors, in.Orders}
	c.near("steps", float64(u.Steps()))
	c.near("published_accounting_epsilon", c.value(u.Published(in.Delta)))
	c.near("published_steps_within_budget", float64(u.PublishedSteps(in.Budget, in.Delta)))
	c.near("joint_release_moments_epsilon", c.value(u.JointMoments(in.Delta)))
	c.nearPLD("joint_release_pld_epsilon", c.eps(pld.New(), in.Delta, u.Joint()...))
}

func twinify(c goldenCase) {
	var in struct {
		N, Steps int64
		Q        float64 `json:"subsample_ratio"`
		Delta    float64
	}
	c.in(&in)
	s := c.num("noise_multiplier")
	c.nearPLD("epsilon_substitute_fourier", c.eps(pld.New(), in.Delta, Twinify(in.Q, s, in.Steps)...))
	c.nearPLD("epsilon_substitute_at_1_2_times_noise", c.eps(pld.New(), in.Delta, Twinify(in.Q, 1.2*s, in.Steps)...))
	c.nearPLD("epsilon_substitute_pld_poisson", c.eps(pld.New(), in.Delta, Twinify(in.Q, s, in.Steps)...))
	c.nearPLD("epsilon_add_remove_pld", c.epsUnder(pld.New(), privacy.AddRemove, in.Delta, Twinify(in.Q, s, in.Steps)...))
	batch := int64(math.Round(in.Q * float64(in.N)))
	c.nearPLD("epsilon_substitute_without_replacement_pld_profile", c.eps(pld.New(), in.Delta, TwinifyWithoutReplacement(batch, in.N, s, in.Steps)...))
}

func napsuMQ(c goldenCase) {
	var in struct {
		Epsilon, Delta float64
		Queries        int64
	}
	c.in(&in)
	sensitivity, sigma := NAPSUMQ(in.Epsilon, in.Delta, in.Queries)
	c.near("sensitivity", sensitivity)
	c.near("sigma", sigma)
}

func privBayes(c goldenCase) {
	var in struct {
		N, Attributes, Degree int64
		Epsilon, Beta, Delta  float64
	}
	c.in(&in)
	p := PrivBayes{in.N, in.Attributes, in.Degree, in.Epsilon, in.Beta}
	structure, selection := p.Structure()
	marginals, marginal := p.Marginals()
	for key, got := range map[string]float64{
		"structure_epsilon": structure, "structure_epsilon_per_selection": selection,
		"marginal_epsilon": marginals, "marginal_epsilon_each": marginal,
		"laplace_scale_counts_replace_one":              p.CountScale(privacy.ReplaceOne),
		"laplace_scale_counts_add_remove":               p.CountScale(privacy.AddRemove),
		"laplace_scale_probabilities_replace_one":       p.CountScale(privacy.ReplaceOne) / float64(in.N),
		"mutual_information_sensitivity_nats_nonbinary": p.InformationSensitivity(false),
		"mutual_information_sensitivity_nats_binary":    p.InformationSensitivity(true),
		"mutual_information_sensitivity_bits_nonbinary": p.InformationSensitivity(false) / math.Ln2,
		"exponential_mechanism_coefficient_nonbinary":   p.Coefficient(false),
		"usefulness_binary":                             p.Usefulness(),
		"total_pure_epsilon":                            c.eps(account.Basic{}, 0, p.Events()...),
		"total_rdp_epsilon_at_delta":                    c.epsUnder(gridRDP(account.Improved), privacy.AddRemove, in.Delta, p.RenyiEvents()...),
	} {
		c.near(key, got)
	}
}
