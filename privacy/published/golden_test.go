package published

import (
	"encoding/json"
	"math"
	"testing"

	"weir/internal/golden"
	"weir/privacy"
	"weir/privacy/account"
	"weir/privacy/calibrate"
	"weir/privacy/pld"
)

// goldenCase is one case of accounting.json; its sources are named in the file.
type goldenCase struct {
	*testing.T
	ID, Kind  string
	Adjacency privacy.Adjacency
	Inputs    json.RawMessage
	Expected  map[string]any
	Tolerance struct {
		Rel, Abs float64
		PldRel   float64 `json:"pld_rel"`
		PldAbs   float64 `json:"pld_abs"`
		RelPld   float64 `json:"rel_pld"`
	}
}

// in decodes the inputs, with the names of the file.
func (c goldenCase) in(v any) {
	c.Helper()
	if err := json.Unmarshal(c.Inputs, v); err != nil {
		c.Fatal(err)
	}
}

func (c goldenCase) num(key string) float64 {
	c.Helper()
	v, ok := c.Expected[key].(float64)
	if !ok {
		c.Fatalf("%s is %v, not a number", key, c.Expected[key])
	}
	return v
}

func (c goldenCase) nums(key string) []float64 {
	c.Helper()
	list, ok := c.Expected[key].([]any)
	if !ok {
		c.Fatalf("%s is %v, not a list", key, c.Expected[key])
	}
	out := make([]float64, len(list))
	for i, v := range list {
		if out[i], ok = v.(float64); !ok {
			out[i] = math.NaN() // null: not defined
		}
	}
	return out
}

func (c goldenCase) within(what string, got, want, rel, abs float64) {
	c.Helper()
	if math.IsNaN(want) && math.IsNaN(got) {
		return
	}
	if !(math.Abs(got-want) <= abs+rel*math.Abs(want)) {
		c.Errorf("%s: got %.17g, want %.17g (off by %.2g)", what, got, want, math.Abs(got/want-1))
	}
}

// has says whether the case gives expected[key]; a null is no value.
func (c goldenCase) has(key string) bool { return c.Expected[key] != nil }

// near and nearPLD compare with expected[key]; rounding of the last place is
// always granted.
func (c goldenCase) near(key string, got float64) {
	c.Helper()
	want := math.NaN()
	if c.has(key) {
		want = c.num(key)
	}
	c.within(key, got, want, math.Max(c.Tolerance.Rel, 1e-14), c.Tolerance.Abs)
}

func (c goldenCase) nearPLD(key string, got float64) {
	c.Helper()
	c.within(key, got, c.num(key), c.Tolerance.PldRel, c.Tolerance.PldAbs)
}

func (c goldenCase) nearList(key string, at []float64, f func(x float64) float64) {
	c.Helper()
	for i, want := range c.nums(key) {
		c.within(key, f(at[i]), want, c.Tolerance.Rel, c.Tolerance.Abs)
	}
}

// eps is a proven epsilon; adjacency defaults to add_remove where it does not matter.
func (c goldenCase) eps(acc privacy.Accountant, delta float64, events ...privacy.Event) float64 {
	c.Helper()
	return c.epsUnder(acc, c.adj(), delta, events...)
}

func (c goldenCase) adj() privacy.Adjacency {
	if c.Adjacency == "" {
		return privacy.AddRemove
	}
	return c.Adjacency
}

func (c goldenCase) epsUnder(acc privacy.Accountant, adj privacy.Adjacency, delta float64, events ...privacy.Event) float64 {
	c.Helper()
	v, err := acc.Epsilon(events, adj, delta)
	if err != nil {
		c.Fatal(err)
	}
	return v
}

func (c goldenCase) delta(acc privacy.Accountant, epsilon float64, events ...privacy.Event) float64 {
	c.Helper()
	v, err := acc.Delta(events, c.adj(), epsilon)
	if err != nil {
		c.Fatal(err)
	}
	return v
}

// rdp is the divergence of events as a function of the order.
func (c goldenCase) rdp(events ...privacy.Event) func(float64) float64 {
	c.Helper()
	at, err := account.Divergence(events, c.adj())
	if err != nil {
		c.Fatal(err)
	}
	return at
}

func (c goldenCase) value(v float64, err error) float64 {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
	return v
}

func gridRDP(conv account.Conversion) account.RDP {
	return account.RDP{Conversion: conv, Orders: account.DefaultOrders()}
}

func repeat(n int64, e privacy.Event) privacy.Event {
	if n == 1 {
		return e
	}
	return privacy.Repeated{Count: n, Event: e}
}

// elsewhere names the kinds that other packages answer.
func elsewhere() map[string]string {
	return map[string]string{
		"rdp_poisson_gaussian_per_order":   "privacy/account",
		"rdp_epsilon_after_steps":          "privacy/account",
		"rdp_wor_gaussian_per_order":       "privacy/account",
		"wor_gaussian_epsilon_after_steps": "privacy/account",
		"pld_poisson_gaussian":             "privacy/pld",
		"report_noisy_max":                 "privacy/mechanism",
	}
}

func answers() map[string]func(goldenCase) {
	return map[string]func(goldenCase){
		"calibrate_noise_multiplier":           calibrateNoise,
		"moments_accountant_gaussian":          momentsGaussian,
		"advanced_composition":                 advancedComposition,
		"amortized_accountant_tf2016":          amortized,
		"laplace":                              laplace,
		"gaussian_calibration":                 gaussianCalibration,
		"gaussian_epsilon":                     gaussianEpsilon,
		"discrete_gaussian":                    discreteGaussian,
		"exponential_mechanism":                exponentialMechanism,
		"randomized_response":                  randomizedResponse,
		"zcdp_to_dp":                           zcdpToDP,
		"dp_to_zcdp":                           dpToZCDP,
		"group_privacy":                        groupPrivacy,
		"amplification_by_subsampling":         amplification,
		"heterogeneous_composition":            heterogeneous,
		"parallel_composition":                 parallel,
		"pategan_accounting":                   pateGAN,
		"pategan_single_vote":                  pateVote,
		"paper_dpautogan_adult":                dpAutoGAN,
		"paper_dpautogan_mimic":                dpAutoGAN,
		"two_phase_epsilon":                    twoPhases,
		"paper_gswgan":                         gsWGAN,
		"gswgan_code_epsilon":                  gsWGANCode,
		"noiseless_encoder_attack":             encoderAttack,
		"shared_coin_batch_rdp":                sharedCoin,
		"hidden_state_counterexample_rr":       hiddenBits,
		"hidden_state_counterexample_rr_rdp":   hiddenBitsRDP,
		"hidden_state_counterexample_gaussian": hiddenGaussian,
		"nist_uclanesl_budget":                 uclanesl,
		"twinify_dpvi":                         twinify,
		"napsu_mq_sigma":                       napsuMQ,
		"privbayes_budget":                     privBayes,
	}
}

// Every case of accounting.json is answered here or in a package named by
// elsewhere; a kind that nobody knows fails.
func TestGoldenAccounting(t *testing.T) {
	var file struct{ Cases []goldenCase }
	golden.Load(t, "accounting.json", &file)
	for _, c := range file.Cases {
		answer, ok := answers()[c.Kind]
		if _, other := elsewhere()[c.Kind]; !ok && !other {
			t.Errorf("%s: nobody answers the kind %q", c.ID, c.Kind)
		}
		if ok {
			t.Run(c.ID, func(t *testing.T) { c.T = t; answer(c) })
		}
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
	c.near("dwork_rothblum_vadhan_epsilon", account.StrongComposition(in.Epsilon, in.Steps, in.Slack))
	c.near("total_delta", total)
	c.near("kairouz_closed_form_epsilon", account.KairouzComposition(in.Epsilon, in.Steps, in.Slack))
	tight := c.eps(pld.New(), total, event)
	c.nearPLD("optimal_composition_epsilon_pld", tight)
	if adv := c.eps(account.Advanced{}, total, event); adv < tight*(1-1e-4) || adv > account.KairouzComposition(in.Epsilon, in.Steps, in.Slack)*(1+1e-9) {
		c.Errorf("advanced: %v is not between the tight value and the closed form", adv)
	}
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
