package account

import (
	"fmt"
	"math"
	"testing"

	"weir/internal/stattest"
	"weir/privacy"
)

// extremes are numbers at the ends of what events accept and around the places
// where exponentials and squares leave the range of floats.
func extremes() []float64 {
	return []float64{0, math.SmallestNonzeroFloat64, 1e-200, 1e-50, 1e-8, 0.01, 1, 30, 40, 600, 750, 1e4, 1e160, math.MaxFloat64}
}

// rates are those of extremes that are rates, and some between.
func rates() []float64 {
	return []float64{math.SmallestNonzeroFloat64, 1e-280, 1e-100, 1e-50, 1e-30, 1e-17, 1e-6, 1 - 0x1p-53}
}

// plainAt are the events that sample nothing at x.
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
			if d, err := tried(func() (float64, error) { return a.Delta(events, adj, epsilon) }); err == nil && !(d >= 0 && d <= 1) {
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

// A single pure release has a sound finite answer at any size, its own epsilon.
func TestLargePure(t *testing.T) {
	pld, err := ByName("pld")
	if err != nil {
		t.Fatal(err)
	}
	for _, adj := range []privacy.Adjacency{privacy.AddRemove, privacy.ReplaceOne} {
		for _, e := range []float64{40, 705, 750, 1e4, 1e300} {
			for _, event := range []privacy.Event{privacy.Pure{Epsilon: e}, privacy.Exponential{Epsilon: e}, privacy.RandomizedResponse{Epsilon: e}} {
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

// A rate too small to compute with costs what the least one costs, which is next to
// nothing, and at most what a larger one does.
func TestTinyRatesTakeTheLeast(t *testing.T) {
	for _, adj := range []privacy.Adjacency{privacy.AddRemove, privacy.ReplaceOne} {
		for _, s := range []float64{0.01, 0.25, 1} {
			at := func(q float64) float64 {
				event := privacy.Repeated{Count: 20, Event: privacy.PoissonSampled{SamplingRate: q, Event: privacy.Gaussian{NoiseMultiplier: s}}}
				a, _ := ByName("pld")
				eps, err := a.Epsilon([]privacy.Event{event}, adj, 1e-6)
				if err != nil {
					t.Fatal(err)
				}
				return eps
			}
			least := at(1e-30)
			for _, q := range []float64{1e-320, 1e-280, 1e-100, 1e-50, 1e-31} {
				if eps := at(q); eps != least || !(eps <= at(1e-9)) || eps > 1e-6 {
					t.Errorf("%s rate %g, noise %g: epsilon %v, at the least rate %v", adj, q, s, eps, least)
				}
			}
		}
	}
}

// No valid event makes an accountant panic or answer with no number.
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

// Fixed samples, repeats, parts and neighbours of very different size.
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
