package account

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"weir/internal/stattest"
	"weir/privacy"
)

func rdpAt(t *testing.T, e privacy.Event, adj privacy.Adjacency, order float64) float64 {
	t.Helper()
	valueAt, err := Divergence([]privacy.Event{e}, adj)
	if err != nil {
		t.Fatal(err)
	}
	return valueAt(order)
}

// perOrder is an event of a golden case and the field of its divergences.
type perOrder struct {
	field string
	event privacy.Event
}

type orderInputs struct {
	Q, Scale, Sigma, Sensitivity, Epsilon float64
	Noise                                 float64 `json:"noise_multiplier"`
	Parameter                             float64 `json:"noise_parameter"`
	Buckets                               float64
	Batch                                 int64
	Alphas                                []float64
}

// perOrders returns the kinds of accounting.json with divergences of one event, read for
// a change of one; the golden tests of the sampled kinds ask for them themselves.
func perOrders() map[string]func(orderInputs) perOrder {
	return map[string]func(orderInputs) perOrder{
		"laplace": func(in orderInputs) perOrder {
			return perOrder{"rdp", privacy.Laplace{NoiseMultiplier: in.Scale / in.Sensitivity}}
		},
		"discrete_gaussian": func(in orderInputs) perOrder {
			return perOrder{"rdp_bound", privacy.DiscreteGaussian{NoiseMultiplier: in.Sigma / in.Sensitivity}}
		},
		"shared_coin_batch_rdp": func(in orderInputs) perOrder {
			batch := privacy.Repeated{Count: in.Batch, Event: privacy.Gaussian{NoiseMultiplier: in.Noise}}
			return perOrder{"shared_coin_rdp", privacy.PoissonSampled{SamplingRate: in.Q, Event: batch}}
		},
	}
}

func TestGoldenDivergence(t *testing.T) {
	var file struct{ Cases []goldenCase }
	stattest.LoadGolden(t, "accounting.json", &file)
	for _, c := range file.Cases {
		if f, ok := perOrders()[c.Kind]; ok {
			t.Run(c.ID, func(t *testing.T) { c.t = t; goldenOrders(c, f) })
		}
	}
}

func goldenOrders(c goldenCase, f func(orderInputs) perOrder) {
	var in orderInputs
	var fields map[string]json.RawMessage
	c.decode(&in, &fields)
	p := f(in)
	var want []float64
	if err := json.Unmarshal(fields[p.field], &want); err != nil || len(want) != len(in.Alphas) {
		c.t.Fatalf("%s: %v for %d orders (%v)", p.field, want, len(in.Alphas), err)
	}
	for i, a := range in.Alphas {
		c.near(p.field, rdpAt(c.t, p.event, privacy.AddRemove, a), want[i])
	}
}

// TestDivergenceClosedForms: closed forms: a Gaussian alpha d^2/(2 s^2) for a change of d bounds, a pure release
// the exact binary pair, zCDP alpha rho, a sampled Gaussian at integer orders the
// binomial sum of Mironov, Talwar, Zhang 2019.
func TestDivergenceClosedForms(t *testing.T) {
	binary := func(eps, a float64) float64 {
		p, q := 1/(1+math.Exp(-eps)), 1/(1+math.Exp(eps))
		return math.Log(math.Pow(p, a)*math.Pow(q, 1-a)+math.Pow(q, a)*math.Pow(p, 1-a)) / (a - 1)
	}
	for _, a := range []float64{1.01, 1.5, 2, 7, 33.3} {
		for _, c := range []struct {
			e             privacy.Event
			added, change float64
		}{
			{privacy.Gaussian{NoiseMultiplier: 3}, a / 18, 4 * a / 18},
			{privacy.Repeated{Count: 5, Event: privacy.Gaussian{NoiseMultiplier: 3}}, 5 * a / 18, 20 * a / 18},
			{privacy.Pure{Epsilon: 0.7}, binary(0.7, a), binary(0.7, a)},
			{privacy.Approximate{Epsilon: 0.7}, binary(0.7, a), binary(0.7, a)},
			{privacy.ZCDP{Rho: 0.2}, 0.2 * a, 0.2 * a},
			{privacy.Composed{Events: []privacy.Event{privacy.ZCDP{Rho: 0.2}, privacy.Gaussian{NoiseMultiplier: 2}}},
				0.2*a + a/8, 0.2*a + a/2},
		} {
			for adj, want := range map[privacy.Adjacency]float64{privacy.AddRemove: c.added, privacy.ReplaceOne: c.change} {
				if got := rdpAt(t, c.e, adj, a); math.Abs(got-want) > 1e-11*want {
					t.Errorf("%#v %s order %v: %v, want %v", c.e, adj, a, got, want)
				}
			}
		}
	}
	for _, a := range []float64{2, 3, 10, 40} {
		sum, q, s := 0.0, 0.02, 1.3
		for k := 0.0; k <= a; k++ {
			sum += math.Exp(logComb(a, k) + (a-k)*math.Log1p(-q) + k*math.Log(q) + k*(k-1)/(2*s*s))
		}
		want := math.Log(sum) / (a - 1)
		if got := rdpAt(t, sgd(q, s, 50)[0], privacy.AddRemove, a); math.Abs(got-50*want) > 1e-9*50*want {
			t.Errorf("sampled Gaussian, order %v: %v, want %v", a, got, 50*want)
		}
	}
}

// TestDivergenceExchangedSample: under replace_one a sampled Gaussian is the antipodal pair; here integrated from its
// densities, at integer and fractional orders. Several on one sample are one.
func TestDivergenceExchangedSample(t *testing.T) {
	q, s := 0.1, 1.5
	two := privacy.Repeated{Count: 2, Event: privacy.Gaussian{NoiseMultiplier: s * math.Sqrt2}}
	for _, a := range []float64{1.2, 2, 3.7, 8} {
		sum, h := 0.0, 0.005
		for i := -8000; i <= 8000; i++ {
			x := h * float64(i)
			density := func(mean float64) float64 { return math.Exp(-(x-mean)*(x-mean)/(2*s*s)) / (s * math.Sqrt(2*math.Pi)) }
			p, r := (1-q)*density(0)+q*density(1), (1-q)*density(0)+q*density(-1)
			if r > 0 {
				sum += h * r * math.Pow(p/r, a)
			}
		}
		want := math.Log(sum) / (a - 1)
		for _, e := range []privacy.Event{privacy.Gaussian{NoiseMultiplier: s}, two} {
			got := rdpAt(t, privacy.PoissonSampled{SamplingRate: q, Event: e}, privacy.ReplaceOne, a)
			if math.Abs(got-want) > 1e-9*want {
				t.Errorf("order %v of %#v: %v, want %v", a, e, got, want)
			}
		}
	}
}

// TestDivergenceHugeNoise: noise so large that its square is infinite still has a positive bound, in a moment:
// for much noise q^2 alpha d^2/(2 s^2) at the cap of the noise (Mironov, Talwar, Zhang
// 2019, section 3.3, leading term).
func TestDivergenceHugeNoise(t *testing.T) {
	for _, s := range []float64{1e9, 1e10, 1e20, 1e150, 1e200} {
		for adj, d := range map[privacy.Adjacency]float64{privacy.AddRemove: 1, privacy.ReplaceOne: 2} {
			cap := math.Min(s, mostNoise)
			want := 0.01 * 3 * d * d / (2 * cap * cap)
			if got := rdpAt(t, sgd(0.1, s, 1)[0], adj, 3); math.Abs(got-want) > 1e-6*want {
				t.Errorf("noise %v %s: %v, want %v", s, adj, got, want)
			}
		}
	}
}

func TestDivergenceRefuses(t *testing.T) {
	approximate := privacy.Approximate{Epsilon: 1, Delta: 1e-9}
	fixed := privacy.SampledWithoutReplacement{SampleSize: 1, Population: 9, Event: privacy.Gaussian{NoiseMultiplier: 1}}
	for path, e := range map[string]privacy.Event{
		"events[1].approximate":                 approximate,
		"events[1].repeated.event.approximate":  privacy.Repeated{Count: 2, Event: approximate},
		"events[1].poisson_sampled":             privacy.PoissonSampled{SamplingRate: 0.1, Event: approximate},
		"events[1].sampled_without_replacement": fixed,
	} {
		_, err := Divergence([]privacy.Event{privacy.Pure{Epsilon: 1}, e}, privacy.AddRemove)
		if !errors.Is(err, privacy.ErrUnsupported) || !strings.HasPrefix(err.Error(), path+":") {
			t.Errorf("%v, want a refusal at %s", err, path)
		}
	}
	if _, err := Divergence(nil, "swap"); err == nil {
		t.Error("adjacency swap passes")
	}
	if got := rdpAt(t, privacy.Gaussian{}, privacy.AddRemove, 2); !math.IsInf(got, 1) {
		t.Errorf("no noise: %v", got)
	}
}
