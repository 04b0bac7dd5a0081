package published

import (
	"math"
	"slices"

	"weir/privacy"
	"weir/privacy/account"
	"weir/privacy/calibrate"
	"weir/privacy/pld"
)

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
	best, err := account.Explain(account.RDP{Conversion: account.Classic, Orders: Orders()}, Events(in.Phases...),
		privacy.AddRemove, in.Delta)
	c.near("recomputed_classic_alpha", c.value(best.Order, err))
	c.near("improved_epsilon", c.eps(account.RDP{Orders: Orders()}, in.Delta, Events(in.Phases...)...))
	for key, adj := range map[string]privacy.Adjacency{"pld_epsilon_add_remove": privacy.AddRemove,
		"pld_epsilon_replace_one": privacy.ReplaceOne} {
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
		c.within("batch 1000", c.value(DPAutoGAN(in.Delta, in.Phases[0], big)), other["gan_batch_1000"].(float64),
			c.Tolerance.Rel, 0)
		c.within("doubled", c.value(DPAutoGAN(in.Delta, in.Phases[0], long)), other["gan_steps_doubled"].(float64),
			c.Tolerance.Rel, 0)
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

// twinify: the paper's Fourier accountant charges Poisson batches under replace_one; the program
// draws batches without replacement, whose proven event has its inner multiplier over the
// distance 2C of an exchange.
func twinify(c goldenCase) {
	var in struct {
		N, Steps int64
		Q        float64 `json:"subsample_ratio"`
		Delta    float64
	}
	c.in(&in)
	s := c.num("noise_multiplier")
	c.nearPLD("epsilon_substitute_fourier", c.eps(pld.New(), in.Delta, Events(Phase{in.Q, s, in.Steps})...))
	c.nearPLD("epsilon_substitute_at_1_2_times_noise", c.eps(pld.New(), in.Delta,
		Events(Phase{in.Q, 1.2 * s, in.Steps})...))
	c.nearPLD("epsilon_substitute_pld_poisson", c.eps(pld.New(), in.Delta, Events(Phase{in.Q, s, in.Steps})...))
	c.nearPLD("epsilon_add_remove_pld", c.epsUnder(pld.New(), privacy.AddRemove, in.Delta,
		Events(Phase{in.Q, s, in.Steps})...))
	batch := int64(math.Round(in.Q * float64(in.N)))
	drawn := privacy.Repeated{Count: in.Steps, Event: privacy.SampledWithoutReplacement{SampleSize: batch,
		Population: in.N, Event: privacy.Gaussian{NoiseMultiplier: s / 2}}}
	c.nearPLD("epsilon_substitute_without_replacement_pld_profile", c.eps(pld.New(), in.Delta, drawn))
}

// napsuMQ checks the noise of Raisa et al. 2023: marginal counts released together under
// replace_one, whose L2 sensitivity is sqrt(2 queries).
func napsuMQ(c goldenCase) {
	var in struct {
		Epsilon, Delta float64
		Queries        int64
	}
	c.in(&in)
	sensitivity := math.Sqrt(2 * float64(in.Queries))
	c.near("sensitivity", sensitivity)
	c.near("sigma", sensitivity*account.GaussianNoise(in.Epsilon, in.Delta))
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
		"total_rdp_epsilon_at_delta": c.epsUnder(gridRDP(account.Improved), privacy.AddRemove, in.Delta,
			p.RenyiEvents()...),
	} {
		c.near(key, got)
	}
}

func calibrateNoise(c goldenCase) {
	var in struct {
		Q, Delta float64
		Steps    int64
		Target   float64 `json:"target_epsilon"`
	}
	c.in(&in)
	find := func(key string, acc privacy.Accountant, rel float64) {
		events := func(s float64) []privacy.Event { return Events(Phase{in.Q, s, in.Steps}) }
		s, err := calibrate.Noise(acc, calibrate.Target{Epsilon: in.Target, Delta: in.Delta, Adjacency: c.adj()}, events)
		if err != nil {
			c.Fatal(err)
		}
		if eps := c.eps(acc, in.Delta, events(s)...); eps > in.Target {
			c.Errorf("%s: epsilon %v is above the target", key, eps)
		}
		// Noise stops within 5e-4 of epsilon (1e-3 for pld), which may be more of
		// the multiplier than rel; what it may be is the slope there.
		slope := (math.Log(c.eps(acc, in.Delta, events(s*1.01)...)) - math.Log(c.eps(acc, in.Delta, events(s)...))) /
			math.Log(1.01)
		c.within(key, s, c.num(key), rel+1e-3/math.Abs(slope), 0)
	}
	orders := account.IntegerOrders(2, 512)
	find("rdp_integer_orders_2_to_512_classic", account.RDP{Conversion: account.Classic, Orders: orders}, c.Tolerance.Rel)
	find("rdp_integer_orders_2_to_512_improved", account.RDP{Orders: orders}, c.Tolerance.Rel)
	find("pld", pld.New(), c.Tolerance.RelPld)
}

func momentsGaussian(c goldenCase) {
	var in struct {
		Q, Sigma, Delta float64
		Steps           int64
		Orders          []float64 `json:"log_moment_orders"`
		Target          float64   `json:"target_epsilon"`
	}
	c.in(&in)
	c.nearList("log_moment_per_step", in.Orders, func(l float64) float64 {
		return l * account.PoissonGaussian(in.Q, in.Sigma, l+1, c.adj())
	})
	events := Events(Phase{in.Q, in.Sigma, in.Steps})
	for key, orders := range map[string]int{"max_order_32": 32, "max_order_64": 64} {
		want := c.Expected["epsilon"].(map[string]any)[key].(map[string]any)
		best, err := account.Explain(account.Moments{MaxLambda: orders}, events, c.adj(), in.Delta)
		c.within(key, c.value(best.Epsilon, err), want["epsilon"].(float64), c.Tolerance.Rel, c.Tolerance.Abs)
		c.within(key+" order", best.Order-1, want["order"].(float64), 1e-12, 0) // of the log moment
	}
	c.near("delta_at_target_epsilon_max_order_32", c.delta(account.Moments{}, in.Target, events...))
}

func advancedComposition(c goldenCase) {
	var in struct {
		Epsilon, Delta float64
		Steps          int64
		Slack          float64 `json:"delta_prime"`
	}
	c.in(&in)
	total := float64(in.Steps)*in.Delta + in.Slack
	event := privacy.Repeated{Count: in.Steps, Event: privacy.Approximate{Epsilon: in.Epsilon, Delta: in.Delta}}
	c.near("basic_epsilon", c.eps(account.Basic{}, total, event))
	c.near("basic_delta", float64(in.Steps)*in.Delta)
	c.near("dwork_rothblum_vadhan_epsilon", strongComposition(in.Epsilon, in.Steps, in.Slack))
	c.near("total_delta", total)
	c.near("kairouz_closed_form_epsilon", kairouzComposition(in.Epsilon, in.Steps, in.Slack))
	tight := c.eps(pld.New(), total, event)
	c.nearPLD("optimal_composition_epsilon_pld", tight)
	if adv := c.eps(account.Advanced{}, total, event); adv < tight*(1-1e-4) || adv > kairouzComposition(in.Epsilon,
		in.Steps, in.Slack)*(1+1e-9) {
		c.Errorf("advanced: %v is not between the tight value and the closed form", adv)
	}
}

// strongComposition returns the epsilon of count uses of an (epsilon, .)-DP release at
// slack delta: eps sqrt(2 T ln(1/slack)) + T eps (e^eps - 1) (Dwork, Rothblum,
// Vadhan 2010, theorem III.3). The total delta is count times theirs plus slack.
func strongComposition(epsilon float64, count int64, slack float64) float64 {
	t := float64(count)
	return epsilon*math.Sqrt(2*t*math.Log(1/slack)) + t*epsilon*math.Expm1(epsilon)
}

// kairouzComposition returns the smallest of the three forms of Kairouz, Oh,
// Viswanath 2015, theorem 3.4, for the same.
func kairouzComposition(epsilon float64, count int64, slack float64) float64 {
	t := float64(count)
	drift := t * epsilon * math.Tanh(epsilon/2)
	log := math.Min(math.Log(math.E+epsilon*math.Sqrt(t)/slack), math.Log(1/slack))
	return math.Min(t*epsilon, drift+epsilon*math.Sqrt(2*t*log))
}

func amortized(c goldenCase) {
	var in struct {
		Q         float64
		Steps     int64
		Releases  int64   `json:"releases_per_step"`
		EpsEach   float64 `json:"eps_per_step"`
		DeltaEach float64 `json:"delta_per_step"`
	}
	c.in(&in)
	a := AmortizedAccountant(in.Q, in.EpsEach, in.DeltaEach, in.Steps, in.Releases)
	c.near("amortized_eps_per_step", a.EpsilonEach)
	c.near("amortized_delta_per_step", a.DeltaEach)
	c.near("reported_epsilon", a.Epsilon)
	c.near("reported_delta", a.Delta)
	c.near("sigma_classic_gaussian", a.NoiseMultiplier)
	tight := c.epsUnder(pld.New(), privacy.AddRemove, a.Delta,
		Events(Phase{in.Q, a.NoiseMultiplier / math.Sqrt(float64(in.Releases)), in.Steps})...)
	c.nearPLD("tight_epsilon_at_reported_delta", tight)
	if valid := tight <= a.Epsilon; valid != c.Expected["reported_is_upper_bound"] {
		c.Errorf("reported %v, tight %v: want reported_is_upper_bound %v", a.Epsilon, tight,
			c.Expected["reported_is_upper_bound"])
	}
}

func parallel(c goldenCase) {
	var in struct {
		Epsilons []float64 `json:"partition_epsilons"`
	}
	c.in(&in)
	var parts []privacy.Event
	for _, e := range in.Epsilons {
		parts = append(parts, privacy.Pure{Epsilon: e})
	}
	e := privacy.Parallel{Events: parts}
	for _, acc := range []privacy.Accountant{account.RDP{}, account.Basic{}, pld.New()} {
		c.near("add_remove_epsilon", c.epsUnder(acc, privacy.AddRemove, 0, e))
		c.near("replace_one_epsilon", c.epsUnder(acc, privacy.ReplaceOne, 0, e))
	}
	// Where the new record stays in the part of the old one, the charge is the most
	// expensive part's event (see privacy.Parallel).
	worst := privacy.Pure{Epsilon: slices.Max(in.Epsilons)}
	c.near("replace_one_within_partition_epsilon", c.epsUnder(account.Basic{}, privacy.ReplaceOne, 0, worst))
}
