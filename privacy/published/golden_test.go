package published

import (
	"encoding/json"
	"math"
	"testing"

	"weir/internal/stattest"
	"weir/privacy"
	"weir/privacy/account"
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

// has says whether the case gives expected[key]; a null is not a value.
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

func (c goldenCase) nearList(key string, places []float64, f func(x float64) float64) {
	c.Helper()
	for i, want := range c.nums(key) {
		c.within(key, f(places[i]), want, c.Tolerance.Rel, c.Tolerance.Abs)
	}
}

// eps returns a proven epsilon; adjacency defaults to add_remove where it does not matter.
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

func (c goldenCase) epsUnder(acc privacy.Accountant, adj privacy.Adjacency, delta float64,
	events ...privacy.Event) float64 {
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

// rdp returns the divergence of events as a function of the order.
func (c goldenCase) rdp(events ...privacy.Event) func(float64) float64 {
	c.Helper()
	valueAt, err := account.Divergence(events, c.adj())
	if err != nil {
		c.Fatal(err)
	}
	return valueAt
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

// TestGoldenAccounting: every case of accounting.json is answered here or in a package named by
// elsewhere; a kind that nobody knows fails.
func TestGoldenAccounting(t *testing.T) {
	var file struct{ Cases []goldenCase }
	stattest.LoadGolden(t, "accounting.json", &file)
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
