package account

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"weir/internal/stattest"
	"weir/privacy"
)

// TestCorners: every corner that issue 3 names gives a number of at least 0 (+Inf where there is
// no finite one) or says that nothing is proven, for every accountant.
func TestCorners(t *testing.T) {
	for name, acc := range everyAccountant(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for i, q := range []float64{0, 1e-9, 0.02, 1} {
				for j, s := range []float64{0.1, 1, 1e4} {
					for k, n := range []int64{1, 1e7} {
						if (i+j+k)%stattest.Rounds(2, 1) > 0 { // an ordinary run takes every second corner
							continue
						}
						if name == "pld" && q == 1e-9 && n == 1e7 && s < 1e4 {
							continue // seconds each; package pld tries them
						}
						corner(t, acc, sgd(q, s, n))
					}
				}
			}
		})
	}
}

func corner(t *testing.T, acc privacy.Accountant, events []privacy.Event) {
	t.Helper()
	for _, adj := range adjacencies() {
		last := math.Inf(1)
		for _, delta := range []float64{1e-15, 1e-5, 0.5} {
			eps, err := acc.Epsilon(events, adj, delta)
			if errors.Is(err, privacy.ErrUnsupported) {
				continue
			}
			if err != nil || !(eps >= 0) || !(eps <= last*(1+1e-6)) {
				t.Errorf("%v %s delta %g: %v after %v (%v)", events, adj, delta, eps, last, err)
			}
			last = eps
		}
	}
}

// TestCornersWithClosedForms: what has a closed form at the corners: no sample costs nothing, all rows are the
// Gaussian itself, of which 1e7 with noise 1e4 are one of 1e4/sqrt(1e7).
func TestCornersWithClosedForms(t *testing.T) {
	cases := []struct {
		events []privacy.Event
		adj    privacy.Adjacency
		delta  float64
		want   float64
	}{
		{sgd(0, 0.1, 1e7), privacy.AddRemove, 1e-15, 0},
		{sgd(0, 0, 1), privacy.ReplaceOne, 1e-15, 0},
		{sgd(1, 1e4, 1e7), privacy.AddRemove, 1e-5, GaussianEpsilon(1e4/math.Sqrt(1e7), 1e-5)},
		{sgd(1, 1e4, 1e7), privacy.ReplaceOne, 1e-15, GaussianEpsilon(1e4/math.Sqrt(4e7), 1e-15)},
		{sgd(0.5, 0, 1), privacy.AddRemove, 0.4, math.Inf(1)},
		{[]privacy.Event{privacy.Pure{Epsilon: math.Inf(1)}}, privacy.AddRemove, 1e-5, math.Inf(1)},
		{[]privacy.Event{privacy.Gaussian{}}, privacy.AddRemove, 1e-5, math.Inf(1)},
		{[]privacy.Event{privacy.Laplace{}}, privacy.AddRemove, 0, math.Inf(1)},
		{[]privacy.Event{privacy.Laplace{NoiseMultiplier: 1e4}}, privacy.AddRemove, 0, 1e-4},
		{[]privacy.Event{privacy.Approximate{Epsilon: 1, Delta: 1e-5}}, privacy.AddRemove, 1e-6, math.Inf(1)},
		{[]privacy.Event{privacy.Approximate{Epsilon: 1, Delta: 1e-5}}, privacy.AddRemove, 1e-5, 1},
		{nil, privacy.AddRemove, 0, 0},
	}
	for name, acc := range everyAccountant(t) {
		for _, c := range cases {
			eps, err := acc.Epsilon(c.events, c.adj, c.delta)
			switch {
			case errors.Is(err, privacy.ErrUnsupported):
			case err != nil || math.IsNaN(eps):
				t.Errorf("%s %v: %v, %v", name, c.events, eps, err)
			case name == "pld" && math.Abs(eps-c.want) > 1e-6*c.want, eps < c.want*(1-1e-9):
				t.Errorf("%s %v %s delta %g: %v, want %v or a looser bound", name, c.events, c.adj, c.delta, eps, c.want)
			}
		}
		if d, err := acc.Delta([]privacy.Event{privacy.Laplace{NoiseMultiplier: 2}}, privacy.AddRemove, math.Inf(1)); err !=
			nil || d != 0 {
			t.Errorf("%s: delta at infinite epsilon is %v, %v", name, d, err)
		}
		for _, delta := range []float64{-1e-9, 1.1, math.NaN()} {
			if _, err := acc.Epsilon(nil, privacy.AddRemove, delta); err == nil {
				t.Errorf("%s: delta %v passes", name, delta)
			}
		}
		if _, err := acc.Delta(nil, privacy.AddRemove, math.NaN()); err == nil {
			t.Errorf("%s: epsilon NaN passes", name)
		}
		if _, err := acc.Epsilon(nil, "swap", 1e-5); err == nil {
			t.Errorf("%s: adjacency swap passes", name)
		}
	}
}

// TestRefusals: who refuses what, and where: an accountant without a theorem says so.
func TestRefusals(t *testing.T) {
	sampled := privacy.PoissonSampled{SamplingRate: 0.1, Event: privacy.Gaussian{NoiseMultiplier: 1}}
	fixed := privacy.SampledWithoutReplacement{SampleSize: 1, Population: 2, Event: privacy.Gaussian{NoiseMultiplier: 1}}
	cases := []struct {
		names []string
		e     privacy.Event
		adj   privacy.Adjacency
		path  string
	}{
		{[]string{"zcdp"}, sampled, privacy.AddRemove, "events[0].poisson_sampled"},
		{[]string{"zcdp", "advanced", "basic"}, sampled, privacy.ReplaceOne, "events[0].poisson_sampled"},
		{Names(), fixed, privacy.AddRemove, "events[0].sampled_without_replacement"},
		{Names(), privacy.SampledWithoutReplacement{SampleSize: 1, Population: 2, Event: sampled}, privacy.ReplaceOne,
			"events[0].sampled_without_replacement.event.poisson_sampled"},
	}
	for _, c := range cases {
		for _, name := range c.names {
			acc, _ := ByName(name)
			_, err := acc.Epsilon([]privacy.Event{c.e}, c.adj, 1e-5)
			var u *privacy.UnsupportedError
			if !errors.As(err, &u) || u.Accountant != name || len(u.Path) < len("events[0].poisson_sampled") {
				t.Errorf("%s %v %s: %v, want a refusal at %s", name, c.e, c.adj, err, c.path)
			}
		}
	}
}

// TestExplain: an explanation names a bound for every release, under every accountant that has
// one, and pld its optimistic value.
func TestExplain(t *testing.T) {
	events := []privacy.Event{privacy.Repeated{Count: 9, Event: privacy.Laplace{NoiseMultiplier: 5}},
		privacy.Gaussian{NoiseMultiplier: 4}}
	for name, acc := range everyAccountant(t) {
		for _, adj := range adjacencies() {
			x, err := Explain(acc, events, adj, 1e-6)
			if err != nil || x.Epsilon != mustEpsilon(t, acc, events, adj, 1e-6) || len(x.Bounds) != 2 || len(x.Why) == 0 {
				t.Fatalf("%s %s: %+v, %v", name, adj, x, err)
			}
			if x.Bounds[0].Count != 9 || x.Bounds[0].Path != "events[0].repeated.event.laplace" {
				t.Errorf("%s %s: the first bound is %+v", name, adj, x.Bounds[0])
			}
			if name == "pld" && !(x.Optimistic != nil && *x.Optimistic <= x.Epsilon && *x.Optimistic > 0.999*x.Epsilon) {
				t.Errorf("%s: optimistic %v of %v", adj, x.Optimistic, x.Epsilon)
			}
		}
		if x, err := Explain(acc, []privacy.Event{privacy.Pure{Epsilon: math.Inf(1)}}, privacy.AddRemove, 1e-6); err != nil ||
			!math.IsInf(x.Epsilon, 1) || x.Optimistic != nil {
			t.Errorf("%s: %+v, %v", name, x, err)
		}
	}
}

// extremes returns numbers at the ends of what events accept and around the places
// where exponentials and squares leave the range of floats.
func extremes() []float64 {
	return []float64{0, math.SmallestNonzeroFloat64, 1e-200, 1e-50, 1e-8, 0.01, 1, 30, 40, 600, 750, 1e4, 1e160,
		math.MaxFloat64}
}

// rates returns the settings of extremes that are rates, and some between.
func rates() []float64 {
	return []float64{math.SmallestNonzeroFloat64, 1e-280, 1e-100, 1e-50, 1e-30, 1e-17, 1e-6, 1 - 0x1p-53}
}

// plainAt returns the events that sample nothing at x.
func plainAt(x float64) []privacy.Event {
	return []privacy.Event{privacy.Gaussian{NoiseMultiplier: x}, privacy.Laplace{NoiseMultiplier: x},
		privacy.DiscreteGaussian{NoiseMultiplier: math.Min(x, 10)}, privacy.DiscreteLaplace{NoiseMultiplier: x},
		privacy.Exponential{Epsilon: x}, privacy.RandomizedResponse{Epsilon: x}, privacy.Pure{Epsilon: x},
		privacy.Approximate{Epsilon: x, Delta: math.Min(x, 1)}, privacy.ZCDP{Rho: x}}
}

// probe asks every accountant for both numbers under both adjacencies.
func probe(t *testing.T, events []privacy.Event, delta, epsilon float64) {
	t.Helper()
	for _, name := range Names() {
		a, err := ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, adj := range []privacy.Adjacency{privacy.AddRemove, privacy.ReplaceOne} {
			what := fmt.Sprintf("%s %s %+v", name, adj, events)
			if eps, err := tried(func() (float64, error) { return a.Epsilon(events, adj, delta) }); err == nil && !(eps >= 0) {
				t.Errorf("%s: epsilon %v at delta %v", what, eps, delta)
			} else if err != nil && !isRefusal(err) {
				t.Errorf("%s: epsilon: %v", what, err)
			}
			if d, err := tried(func() (float64, error) { return a.Delta(events, adj, epsilon) }); err == nil &&
				!(d >= 0 && d <= 1) {
				t.Errorf("%s: delta %v at epsilon %v", what, d, epsilon)
			} else if err != nil && !isRefusal(err) {
				t.Errorf("%s: delta: %v", what, err)
			}
		}
	}
}

type panicked struct{ value any }

func (p panicked) Error() string { return fmt.Sprintf("panic: %v", p.value) }

func isRefusal(err error) bool { _, bad := err.(panicked); return !bad }

// tried makes a panic an error.
func tried(f func() (float64, error)) (x float64, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicked{p}
		}
	}()
	return f()
}

// TestLargePure: a single pure release has a sound finite answer at any size, its own epsilon.
func TestLargePure(t *testing.T) {
	pld, err := ByName("pld")
	if err != nil {
		t.Fatal(err)
	}
	for _, adj := range []privacy.Adjacency{privacy.AddRemove, privacy.ReplaceOne} {
		for _, e := range []float64{40, 705, 750, 1e4, 1e300} {
			for _, event := range []privacy.Event{privacy.Pure{Epsilon: e}, privacy.Exponential{Epsilon: e},
				privacy.RandomizedResponse{Epsilon: e}} {
				eps, err := pld.Epsilon([]privacy.Event{event}, adj, 1e-6)
				if err != nil || !(eps <= e && eps > 0.99*e-1) {
					t.Errorf("%s %#v: epsilon %v, %v", adj, event, eps, err)
				}
				delta, err := pld.Delta([]privacy.Event{event}, adj, 1)
				if err != nil || !(delta <= 1 && delta > 0.999999) {
					t.Errorf("%s %#v: delta %v, %v", adj, event, delta, err)
				}
			}
		}
	}
}

// TestTinyRatesTakeTheLeast: a rate too small to compute with costs what the least one costs, which is next to
// nothing, and at most what a larger one does.
func TestTinyRatesTakeTheLeast(t *testing.T) {
	for _, adj := range []privacy.Adjacency{privacy.AddRemove, privacy.ReplaceOne} {
		for _, s := range []float64{0.01, 0.25, 1} {
			valueAt := func(q float64) float64 {
				event := privacy.Repeated{Count: 20, Event: privacy.PoissonSampled{SamplingRate: q,
					Event: privacy.Gaussian{NoiseMultiplier: s}}}
				a, _ := ByName("pld")
				eps, err := a.Epsilon([]privacy.Event{event}, adj, 1e-6)
				if err != nil {
					t.Fatal(err)
				}
				return eps
			}
			least := valueAt(1e-30)
			for _, q := range []float64{1e-320, 1e-280, 1e-100, 1e-50, 1e-31} {
				if eps := valueAt(q); eps != least || !(eps <= valueAt(1e-9)) || eps > 1e-6 {
					t.Errorf("%s rate %g, noise %g: epsilon %v, at the least rate %v", adj, q, s, eps, least)
				}
			}
		}
	}
}

// TestExtremesOfPlainEvents: no valid event makes an accountant panic or answer with no number.
func TestExtremesOfPlainEvents(t *testing.T) {
	for i, x := range extremes() {
		for j, e := range plainAt(x) {
			if (i+j)%stattest.Rounds(2, 1) > 0 { // an ordinary run takes the black fields of a chessboard
				continue
			}
			probe(t, []privacy.Event{e}, 1e-6, 1)
		}
	}
}

func TestExtremesOfSampledEvents(t *testing.T) {
	for i, q := range rates() {
		t.Run(fmt.Sprint(q), func(t *testing.T) {
			t.Parallel()
			for j, x := range []float64{0, 0.25, 40, 750} {
				if (i+j)%stattest.Rounds(2, 1) > 0 { // an ordinary run takes the black fields of a chessboard
					continue
				}
				for _, e := range plainAt(x) {
					probe(t, []privacy.Event{privacy.PoissonSampled{SamplingRate: q, Event: e}}, 1e-6, 1)
				}
			}
		})
	}
}

// TestExtremesOfCompounds: fixed samples, repeats, parts and neighbours of very different size.
func TestExtremesOfCompounds(t *testing.T) {
	tiny := privacy.PoissonSampled{SamplingRate: 1e-320, Event: privacy.Gaussian{NoiseMultiplier: 0.25}}
	for _, x := range []float64{0, 750} {
		for _, e := range plainAt(x) {
			for _, c := range []privacy.Event{
				privacy.SampledWithoutReplacement{SampleSize: 1, Population: math.MaxInt64, Event: e},
				privacy.Repeated{Count: 1 << 10, Event: e},
				privacy.Parallel{Events: []privacy.Event{e, privacy.Pure{Epsilon: 1e4}, e}},
				privacy.Composed{Events: []privacy.Event{e, tiny}},
			} {
				probe(t, []privacy.Event{c}, 1e-6, 1)
			}
		}
	}
}
