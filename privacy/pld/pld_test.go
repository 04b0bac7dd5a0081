package pld

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"testing"

	"weir/internal/stattest"
	"weir/privacy"
)

func epsilonOf(t *testing.T, e privacy.Event, a privacy.Adjacency, delta float64) float64 {
	t.Helper()
	eps, err := New().Epsilon([]privacy.Event{e}, a, delta)
	if err != nil || math.IsNaN(eps) {
		t.Fatalf("%#v %s %g: epsilon %v, %v", e, a, delta, eps, err)
	}
	return eps
}

// TestReference: reference values beyond the golden file; each case names library and version.
func TestReference(t *testing.T) {
	var file struct {
		Cases []struct {
			Phases []struct {
				SamplingRate    float64 `json:"sampling_rate"`
				NoiseMultiplier float64 `json:"noise_multiplier"`
				Steps           int64
			}
			Delta, Lower, Upper float64
			Adjacency           privacy.Adjacency
			Event, Source       string
		}
	}
	data, err := os.ReadFile("testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	for i, c := range file.Cases {
		var events []privacy.Event
		for _, p := range c.Phases {
			var inner privacy.Event = privacy.Gaussian{NoiseMultiplier: p.NoiseMultiplier}
			if c.Event == "laplace" {
				inner = privacy.Laplace{NoiseMultiplier: p.NoiseMultiplier}
			}
			events = append(events, privacy.Repeated{Count: p.Steps, Event: privacy.PoissonSampled{SamplingRate: p.SamplingRate,
				Event: inner}})
		}
		got, err := New().Epsilon(events, c.Adjacency, c.Delta)
		if err != nil {
			t.Fatal(err)
		}
		// the libraries' own error is their eps_error 1e-3 or their interval
		if got < c.Lower || math.Abs(got-c.Upper) > 2e-3+5e-4*c.Upper {
			t.Errorf("case %d (%s): %v, want %v to %v", i, c.Source, got, c.Lower, c.Upper)
		}
	}
}

// TestComposedGaussians: the engine, kept from the closed form, against Balle and Wang 2018.
func TestComposedGaussians(t *testing.T) {
	for _, c := range []struct{ mu, n, delta float64 }{
		{1, 1, 1e-5}, {0.01, 2500, 1e-6}, {0.001, 1e6, 1e-10}, {0.3, 30, 1e-15}, {2, 3, 0.4}, {1e-4, 1, 1e-6},
		{1e-4, 1e7, 1e-5},
	} {
		want := gaussianEpsilon(c.mu*math.Sqrt(c.n), c.delta)
		for _, lower := range []bool{false, true} {
			m := &composition{parts: []part{{gaussian(c.mu, lower), c.n}}, fineness: fineness, lower: lower}
			got := m.epsilon(c.delta)
			if math.Abs(got-want) > 2e-4*want || lower && got > want || !lower && got < want {
				t.Errorf("mu %g n %g delta %g lower %v: %.9g, want %.9g", c.mu, c.n, c.delta, lower, got, want)
			}
		}
	}
}

func TestMonotone(t *testing.T) {
	base := func(q, s, n float64) float64 { return epsilonOf(t, sampled(q, s, n), privacy.AddRemove, 1e-6) }
	ref := base(0.01, 1.2, 1000)
	for name, more := range map[string]float64{"steps": base(0.01, 1.2, 1010), "rate": base(0.0101, 1.2, 1000),
		"noise": base(0.01, 1.19, 1000)} {
		if !(more > ref) {
			t.Errorf("%s: %v is not above %v", name, more, ref)
		}
	}
}

func TestPartsAreTheWhole(t *testing.T) {
	one := privacy.PoissonSampled{SamplingRate: 0.02, Event: privacy.Gaussian{NoiseMultiplier: 1.1}}
	lap := privacy.Laplace{NoiseMultiplier: 5}
	whole := privacy.Composed{Events: []privacy.Event{privacy.Repeated{Count: 600, Event: one}, privacy.Repeated{Count: 4,
		Event: lap}}}
	split := privacy.Composed{Events: []privacy.Event{
		privacy.Repeated{Count: 2, Event: privacy.Composed{Events: []privacy.Event{privacy.Repeated{Count: 150, Event: one},
			lap, lap}}},
		privacy.Repeated{Count: 300, Event: one},
	}}
	for _, a := range []privacy.Adjacency{privacy.AddRemove, privacy.ReplaceOne} {
		x, y := epsilonOf(t, whole, a, 1e-6), epsilonOf(t, split, a, 1e-6)
		if math.Abs(x-y) > 1e-9*x {
			t.Errorf("%s: whole %v, parts %v", a, x, y)
		}
	}
}

// TestDeltaInvertsEpsilon: epsilon and Delta invert each other.
func TestDeltaInvertsEpsilon(t *testing.T) {
	e := []privacy.Event{sampled(0.01, 1, 1000)}
	for _, delta := range []float64{1e-12, 1e-5, 0.01} {
		eps, _ := New().Epsilon(e, privacy.AddRemove, delta)
		if back, err := New().Delta(e, privacy.AddRemove, eps); err != nil || math.Abs(back/delta-1) > 2e-3 {
			t.Errorf("delta %g: epsilon %v has delta %g (%v)", delta, eps, back, err)
		}
	}
}

// TestManyTinyLosses: losses so small and so many that no grid of maxPoints holds them at the first order
// of the tilt. The sum is close to normal, so that Gaussian DP of mu = sqrt(n) times
// the root of the chi-square divergence of a step is a floor but for the skew: q^2(e-1)
// for a removal at noise 1, q^2 2(e-1/e) for an exchange (closed forms of a Gaussian
// mixture). An answer below it is unsound; this one once was 1e4 times below.
func TestManyTinyLosses(t *testing.T) {
	t.Parallel()
	const q, n, delta = 1e-9, 1e7, 1e-15
	for adjacency, chi := range map[privacy.Adjacency]float64{privacy.AddRemove: math.E - 1,
		privacy.ReplaceOne: 2 * (math.E - 1/math.E)} {
		floor := gaussianEpsilon(q*math.Sqrt(n*chi), delta)
		for _, f := range []float64{1e-3, fineness} {
			if !stattest.Long && (f == fineness) != (adjacency == privacy.ReplaceOne) {
				continue
			}
			got, err := (&Accountant{f}).Epsilon([]privacy.Event{sampled(q, 1, n)}, adjacency, delta)
			if err != nil || !(got > 0.99*floor) || !(got < 1.3*floor) {
				t.Errorf("%s fineness %g: %v (%v), the normal limit has %v", adjacency, f, got, err, floor)
			}
		}
	}
}

// TestEdges: every corner gives a number that is not NaN, with the optimistic below it.
func TestEdges(t *testing.T) {
	t.Parallel()
	for i, q := range []float64{0, 1e-9, 1} {
		for j, s := range []float64{0.1, 1, 1e4} {
			for k, n := range []float64{1, 1e7} {
				if (i+j+k)%stattest.Rounds(2, 1) > 0 { // an ordinary run takes every second corner
					continue
				}
				delta := []float64{1e-15, 0.5}[int(s)%2]
				e := []privacy.Event{sampled(q, s, n)}
				eps := epsilonOf(t, e[0], privacy.AddRemove, delta)
				low, err := New().Optimistic(e, privacy.AddRemove, delta)
				if err != nil || !(low >= 0 && low <= eps) || q == 0 && eps != 0 {
					t.Errorf("q %g noise %g steps %g delta %g: %v to %v (%v)", q, s, n, delta, low, eps, err)
				}
			}
		}
	}
}

func TestInfinite(t *testing.T) {
	for _, c := range []struct {
		e           privacy.Event
		delta, want float64
	}{
		{privacy.Gaussian{}, 1e-5, math.Inf(1)},
		{privacy.Gaussian{NoiseMultiplier: 1}, 0, math.Inf(1)},
		{privacy.Pure{Epsilon: math.Inf(1)}, 1e-5, math.Inf(1)},
		{privacy.Approximate{Epsilon: 1, Delta: 1e-5}, 1e-6, math.Inf(1)},
		{privacy.Approximate{Epsilon: 1, Delta: 1e-5}, 1e-5, 1},
		{privacy.Laplace{NoiseMultiplier: 0.5}, 0, 2},
		{privacy.PoissonSampled{SamplingRate: 0.1, Event: privacy.Gaussian{}}, 1e-5, math.Inf(1)},
		{privacy.Composed{}, 0, 0},
	} {
		if got := epsilonOf(t, c.e, privacy.AddRemove, c.delta); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%#v at %g: %v, want %v", c.e, c.delta, got, c.want)
		}
	}
}

func TestUnsupportedNamesThePath(t *testing.T) {
	mix := privacy.Composed{Events: []privacy.Event{privacy.Gaussian{NoiseMultiplier: 1},
		privacy.Laplace{NoiseMultiplier: 1}}}
	for path, c := range map[string]struct {
		e privacy.Event
		a privacy.Adjacency
	}{
		"events[0].repeated.event.poisson_sampled.event.composed": {privacy.Repeated{Count: 2,
			Event: privacy.PoissonSampled{SamplingRate: 0.1, Event: mix}}, privacy.AddRemove},
		"events[0].sampled_without_replacement": {privacy.SampledWithoutReplacement{SampleSize: 1,
			Population: 2, Event: privacy.Gaussian{NoiseMultiplier: 1}}, privacy.AddRemove},
		"events[0].poisson_sampled.event.parallel": {privacy.PoissonSampled{SamplingRate: 0.1,
			Event: privacy.Parallel{Events: []privacy.Event{mix}}}, privacy.ReplaceOne},
	} {
		_, err := New().Epsilon([]privacy.Event{c.e}, c.a, 1e-5)
		var u *privacy.UnsupportedError
		if !errors.As(err, &u) || u.Path != path {
			t.Errorf("path %s: error %v", path, err)
		}
	}
}

// TestParallel: parallel: the worst branch under add_remove, the two worst under replace_one.
func TestParallel(t *testing.T) {
	a, b, c := sampled(0.01, 1, 500), sampled(0.02, 1.5, 300), privacy.Event(privacy.Laplace{NoiseMultiplier: 4})
	all := privacy.Parallel{Events: []privacy.Event{a, b, c}}
	worst := math.Max(epsilonOf(t, a, privacy.AddRemove, 1e-6), math.Max(epsilonOf(t, b, privacy.AddRemove, 1e-6),
		epsilonOf(t, c, privacy.AddRemove, 1e-6)))
	if got := epsilonOf(t, all, privacy.AddRemove, 1e-6); got != worst {
		t.Errorf("add_remove: %v, want %v", got, worst)
	}
	two := epsilonOf(t, privacy.Composed{Events: []privacy.Event{a, b}}, privacy.ReplaceOne, 1e-6)
	if got := epsilonOf(t, all, privacy.ReplaceOne, 1e-6); got < two {
		t.Errorf("replace_one: %v, two branches together %v", got, two)
	}
}

func BenchmarkEpsilon225000(b *testing.B) {
	for name, s := range map[string]float64{"sigma1": 1, "sigma2": 2, "sigma4": 4, "sigma8": 8} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := New().Epsilon([]privacy.Event{sampled(128.0/32561, s, 225000)}, privacy.AddRemove, 1e-5); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
