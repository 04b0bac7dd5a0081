package pld

import (
	"math"
	"strings"
	"testing"

	"weir/internal/stattest"
	"weir/privacy"
)

// values is a JSON object of a golden case.
type values map[string]any

func (v values) f(key string) float64 {
	x, ok := v[key].(float64)
	if !ok {
		return math.NaN()
	}
	return x
}

func (v values) list(key string) []float64 {
	var out []float64
	for _, x := range v[key].([]any) {
		out = append(out, x.(float64))
	}
	return out
}

func (v values) objects(key string) []values {
	var out []values
	list, _ := v[key].([]any)
	for _, x := range list {
		out = append(out, values(x.(map[string]any)))
	}
	return out
}

func (v values) object(key string) values {
	m, _ := v[key].(map[string]any)
	return values(m)
}

type goldenCase struct {
	ID, Kind                    string
	Adjacency                   privacy.Adjacency
	Inputs, Expected, Tolerance values
	Sources                     []string
	LibraryValues               values `json:"library_values"`
}

// check is what a golden case is compared with. Tolerances come from the file;
// where it gives none for pld, 2e-3, the widest of its groups B and C.
type check struct {
	t *testing.T
	c goldenCase
}

// near compares where the case gives a value.
func (k check) near(field string, got, want float64) {
	k.t.Helper()
	rel, abs := k.c.Tolerance.f("pld_rel"), k.c.Tolerance.f("pld_abs")
	if math.IsNaN(rel) {
		rel = 2e-3
	}
	if math.IsNaN(abs) {
		abs = 0
	}
	if math.IsNaN(want) {
		return
	}
	if !(math.Abs(got-want) <= abs+rel*math.Abs(want)) {
		k.t.Errorf("%s %s %s: got %.10g, want %.10g (%s)", k.c.ID, k.c.Kind, field, got, want, strings.Join(k.c.Sources,
			"; "))
	}
}

// epsilon returns Epsilon and checks that Optimistic is not above it and close.
func (k check) epsilon(events []privacy.Event, a privacy.Adjacency, delta float64) float64 {
	k.t.Helper()
	eps, err := New().Epsilon(events, a, delta)
	low, err2 := New().Optimistic(events, a, delta)
	if err != nil || err2 != nil {
		k.t.Errorf("%s: %v %v", k.c.ID, err, err2)
	}
	if !(low <= eps) || eps-low > 5e-4+5e-4*eps {
		k.t.Errorf("%s: optimistic %v, pessimistic %v: further apart than 5e-4 + 5e-4 of it", k.c.ID, low, eps)
	}
	return eps
}

func (k check) direct(pair *pair, n, delta float64) float64 {
	return (&composition{parts: []part{{pair, n}}, fineness: fineness}).epsilon(delta)
}

func sampled(q, noise float64, n float64) privacy.Event {
	e := privacy.Event(privacy.PoissonSampled{SamplingRate: q, Event: privacy.Gaussian{NoiseMultiplier: noise}})
	return privacy.Repeated{Count: int64(n), Event: e}
}

func fixedSize(rate, n float64, e privacy.Event) privacy.Event {
	const population = 1e12
	s := privacy.SampledWithoutReplacement{SampleSize: int64(math.Round(rate * population)), Population: population,
		Event: e}
	return privacy.Repeated{Count: int64(n), Event: s}
}

func phases(v values) []privacy.Event {
	var out []privacy.Event
	for _, p := range v.objects("phases") {
		out = append(out, sampled(p.f("q"), p.f("noise_multiplier"), p.f("steps")))
	}
	return out
}

// handlers returns the kinds of accounting.json that have values of a privacy loss
// distribution, each with what it compares.
func handlers() map[string]func(check, values, values) {
	return map[string]func(check, values, values){
		"pld_poisson_gaussian":                 goldenPoisson,
		"wor_gaussian_epsilon_after_steps":     goldenFixed,
		"calibrate_noise_multiplier":           goldenCalibration,
		"advanced_composition":                 goldenAdvanced,
		"amortized_accountant_tf2016":          goldenAmortized,
		"laplace":                              goldenLaplace,
		"gaussian_epsilon":                     goldenGaussian,
		"discrete_gaussian":                    goldenDiscrete,
		"exponential_mechanism":                goldenExponential,
		"randomized_response":                  goldenResponse,
		"zcdp_to_dp":                           goldenZCDP,
		"heterogeneous_composition":            goldenMix,
		"parallel_composition":                 goldenParallel,
		"pategan_accounting":                   goldenVotes,
		"paper_dpautogan_adult":                goldenAutoGAN,
		"paper_dpautogan_mimic":                goldenAutoGAN,
		"two_phase_epsilon":                    goldenAutoGAN,
		"paper_gswgan":                         goldenGSWGAN,
		"nist_uclanesl_budget":                 goldenNIST,
		"hidden_state_counterexample_rr":       goldenHiddenResponse,
		"hidden_state_counterexample_gaussian": goldenHiddenGaussian,
		"twinify_dpvi":                         goldenTwinify,
	}
}

// TestGoldenAccounting compares every case of accounting.json that has a value of
// a privacy loss distribution; each case names its sources.
func TestGoldenAccounting(t *testing.T) {
	var file struct{ Cases []goldenCase }
	stattest.LoadGolden(t, "accounting.json", &file)
	known := handlers()
	for _, c := range file.Cases {
		h, ok := known[c.Kind]
		if !ok {
			for field := range c.Expected {
				if strings.Contains(field, "pld") {
					t.Errorf("%s: nobody compares %s of kind %s", c.ID, field, c.Kind)
				}
			}
			continue
		}
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			h(check{t, c}, c.Inputs, c.Expected)
		})
	}
}

func goldenPoisson(k check, in, want values) {
	events := phases(in)
	got := k.epsilon(events, k.c.Adjacency, in.f("delta"))
	abs, rel := k.c.Tolerance.f("abs"), k.c.Tolerance.f("rel")
	if e := want.f("epsilon"); math.Abs(got-e) > abs+rel*e {
		k.t.Errorf("%s: epsilon %v, want %v", k.c.ID, got, e)
	}
	if high := want.f("epsilon_upper"); got > high+abs+rel*high {
		k.t.Errorf("%s: epsilon %v is above the upper bound %v", k.c.ID, got, high)
	}
	if got < want.f("epsilon_lower") {
		k.t.Errorf("%s: epsilon %v is below the lower bound %v", k.c.ID, got, want.f("epsilon_lower"))
	}
	curve, err := New().Curve(events, k.c.Adjacency, in.list("epsilons"))
	if err != nil {
		k.t.Fatal(err)
	}
	for i, d := range want.list("delta_at_epsilons") {
		// The file's deltas come from a transform in double precision without a
		// tilt: dp_accounting's own values for B16 are 2.3e-12 at interval 1e-4
		// and 3.1e-12 at 2e-5, so 1e-12 is its absolute error.
		if math.Abs(curve[i]-d) > k.c.Tolerance.f("delta_rel")*d+1e-12 {
			k.t.Errorf("%s: delta(%v) = %v, want %v", k.c.ID, in.list("epsilons")[i], curve[i], d)
		}
	}
}

func goldenFixed(k check, in, want values) {
	e := fixedSize(in.f("gamma"), in.f("steps"), privacy.Gaussian{NoiseMultiplier: in.f("noise_multiplier")})
	got := k.epsilon([]privacy.Event{e}, privacy.ReplaceOne, in.f("delta"))
	k.near("pld_profile_epsilon", got, want.f("pld_profile_epsilon"))
	if low := k.c.LibraryValues.object("prv_accountant_profile").f("lower"); got < low {
		k.t.Errorf("%s: %v is below the lower bound %v", k.c.ID, got, low)
	}
}

func goldenLaplace(k check, in, want values) {
	base := privacy.Laplace{NoiseMultiplier: in.f("scale") / in.f("sensitivity")}
	pld := want.list("composed_epsilon_pld")
	for i, n := range in.list("compositions") {
		e := privacy.Repeated{Count: int64(n), Event: base}
		k.near("composed_epsilon_pld", k.epsilon([]privacy.Event{e}, privacy.AddRemove, in.f("delta")), pld[i])
	}
	curve, err := New().Curve([]privacy.Event{base}, privacy.AddRemove, in.list("epsilons"))
	if err != nil {
		k.t.Fatal(err)
	}
	for i, d := range want.list("delta_at_epsilons") {
		k.near("delta_at_epsilons", curve[i], d)
	}
}

func goldenGaussian(k check, in, want values) {
	e := []privacy.Event{privacy.Gaussian{NoiseMultiplier: in.f("sigma") / in.f("sensitivity")}}
	got := k.epsilon(e, privacy.AddRemove, in.f("delta"))
	if w := want.f("epsilon"); math.Abs(got-w) > 1e-7*w {
		k.t.Errorf("%s: %v, want %v", k.c.ID, got, w)
	}
	curve, _ := New().Curve(e, privacy.AddRemove, in.list("epsilons"))
	for i, d := range want.list("delta_at_epsilons") {
		if math.Abs(curve[i]-d) > 1e-7*d {
			k.t.Errorf("%s: delta %v, want %v", k.c.ID, curve[i], d)
		}
	}
}

func goldenDiscrete(k check, in, want values) {
	p := discreteGaussian(in.f("sigma"), int(in.f("sensitivity")), false)
	k.near("epsilon_after_10_pld", k.direct(p, 10, in.f("delta")), want.f("epsilon_after_10_pld"))
	d := p.divergences(in.list("epsilons"))
	for i, w := range want.list("delta_at_epsilons") {
		if math.Abs(d[i]-w) > 1e-7*w+1e-16 {
			k.t.Errorf("%s: delta %v, want %v", k.c.ID, d[i], w)
		}
	}
}

func goldenExponential(k check, in, want values) {
	n := int64(in.f("compositions"))
	pure := privacy.Repeated{Count: n, Event: privacy.Pure{Epsilon: in.f("epsilon")}}
	got := k.epsilon([]privacy.Event{pure}, privacy.AddRemove, in.f("delta"))
	k.near("composed_epsilon_pure_dp_pld", got, want.f("composed_epsilon_pure_dp_pld"))
	// the range of the mechanism is bounded: the Renyi bound is never undercut by more than it proves
	e := privacy.Repeated{Count: n, Event: privacy.Exponential{Epsilon: in.f("epsilon")}}
	ranged := epsilonOf(k.t, e, privacy.AddRemove, in.f("delta"))
	if rdp := want.f("composed_epsilon_rdp_bounded_range_default_grid"); ranged > math.Min(got, rdp)*(1+1e-6) {
		k.t.Errorf("%s: %v, must not be above the pure %v and the Renyi bound %v", k.c.ID, ranged, got, rdp)
	}
}

// goldenResponse composes the pure pair for two buckets; more buckets add outcomes
// of loss 0, which only an internal pair can say.
func goldenResponse(k check, in, want values) {
	b, p := in.f("buckets"), in.f("noise_parameter")
	hi, lo := 1-p+p/b, p/b
	l := math.Log(hi / lo)
	rr := &pair{atoms: []atom{{lo, hi, -l}, {1 - hi - lo, 1 - hi - lo, 0}, {hi, lo, l}}, bound: l, lattice: l, exact: true,
		symmetric: true}
	pld := want.list("composed_epsilon_pld")
	for i, n := range in.list("compositions") {
		k.near("composed_epsilon_pld", k.direct(rr, n, in.f("delta")), pld[i])
		e := privacy.Repeated{Count: int64(n), Event: privacy.RandomizedResponse{Epsilon: l}}
		if got := k.epsilon([]privacy.Event{e}, k.c.Adjacency, in.f("delta")); got < k.direct(rr, n, in.f("delta"))*(1-1e-9) {
			k.t.Errorf("%s: the binary pair gives %v, less than the exact one", k.c.ID, got)
		}
	}
}

func goldenZCDP(k check, in, want values) {
	got := k.epsilon([]privacy.Event{privacy.ZCDP{Rho: in.f("rho")}}, privacy.ReplaceOne, in.f("delta"))
	if got < want.f("gaussian_tight_epsilon") || math.Abs(got-want.f("improved_epsilon")) > 1e-3*got {
		k.t.Errorf("%s: %v, want %v and not below %v", k.c.ID, got, want.f("improved_epsilon"),
			want.f("gaussian_tight_epsilon"))
	}
}

func goldenMix(k check, in, want values) {
	var events []privacy.Event
	m := in.object("mechanisms")
	for kind := range m {
		for _, x := range m.objects(kind) {
			var e privacy.Event
			switch kind {
			case "laplace":
				e = privacy.Laplace{NoiseMultiplier: x.f("scale") / x.f("sensitivity")}
			case "gaussian":
				e = privacy.Gaussian{NoiseMultiplier: x.f("sigma") / x.f("sensitivity")}
			case "exponential":
				e = privacy.Pure{Epsilon: x.f("epsilon")} // as the reference composes it
			case "dpsgd":
				events = append(events, sampled(x.f("q"), x.f("noise_multiplier"), x.f("steps")))
				continue
			default:
				k.t.Fatalf("%s: nobody composes a %s", k.c.ID, kind)
			}
			events = append(events, privacy.Repeated{Count: int64(x.f("count")), Event: e})
		}
	}
	k.near("pld", k.epsilon(events, k.c.Adjacency, in.f("delta")), want.f("pld"))
}

func goldenParallel(k check, in, want values) {
	var branches []privacy.Event
	for _, e := range in.list("partition_epsilons") {
		branches = append(branches, privacy.Pure{Epsilon: e})
	}
	events := []privacy.Event{privacy.Parallel{Events: branches}}
	k.near("add_remove_epsilon", k.epsilon(events, privacy.AddRemove, 0), want.f("add_remove_epsilon"))
	k.near("replace_one_epsilon", k.epsilon(events, privacy.ReplaceOne, 0), want.f("replace_one_epsilon"))
}
