package pld

import (
	"math"

	"weir/privacy"
)

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
	rr := &pair{atoms: []atom{{lo, hi, -l}, {1 - hi - lo, 1 - hi - lo, 0}, {hi, lo, l}}, bound: l, lattice: l, exact: true, symmetric: true}
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
		k.t.Errorf("%s: %v, want %v and not below %v", k.c.ID, got, want.f("improved_epsilon"), want.f("gaussian_tight_epsilon"))
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
