package published

import (
	"math"
	"slices"

	"weir/privacy"
	"weir/privacy/account"
	"weir/privacy/calibrate"
	"weir/privacy/pld"
)

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
		slope := (math.Log(c.eps(acc, in.Delta, events(s*1.01)...)) - math.Log(c.eps(acc, in.Delta, events(s)...))) / math.Log(1.01)
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
	if adv := c.eps(account.Advanced{}, total, event); adv < tight*(1-1e-4) || adv > kairouzComposition(in.Epsilon, in.Steps, in.Slack)*(1+1e-9) {
		c.Errorf("advanced: %v is not between the tight value and the closed form", adv)
	}
}

// strongComposition is the epsilon of count uses of an (epsilon, .)-DP release at
// slack delta: eps sqrt(2 T ln(1/slack)) + T eps (e^eps - 1) (Dwork, Rothblum,
// Vadhan 2010, theorem III.3). The total delta is count times theirs plus slack.
func strongComposition(epsilon float64, count int64, slack float64) float64 {
	t := float64(count)
	return epsilon*math.Sqrt(2*t*math.Log(1/slack)) + t*epsilon*math.Expm1(epsilon)
}

// kairouzComposition is the smallest of the three forms of Kairouz, Oh,
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
	tight := c.epsUnder(pld.New(), privacy.AddRemove, a.Delta, Events(Phase{in.Q, a.NoiseMultiplier / math.Sqrt(float64(in.Releases)), in.Steps})...)
	c.nearPLD("tight_epsilon_at_reported_delta", tight)
	if valid := tight <= a.Epsilon; valid != c.Expected["reported_is_upper_bound"] {
		c.Errorf("reported %v, tight %v: want reported_is_upper_bound %v", a.Epsilon, tight, c.Expected["reported_is_upper_bound"])
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
