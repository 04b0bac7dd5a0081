package train

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir/privacy"
	"weir/privacy/account"
	"weir/privacy/published"
)

// TestMeanEventCostsTheSameEitherWay: a changed shard moves the mean by the same
// distance whether a row comes, goes or is exchanged, so the epsilon is that of
// T Gaussians of NoiseMultiplier under both adjacencies (Balle, Wang 2018, closed
// form). A factor two applied twice, or not at all, is off by a factor.
func TestMeanEventCostsTheSameEitherWay(t *testing.T) {
	c := CriticQuery{NoiseMultiplier: 40, Steps: 100, BatchSize: 32, Critics: 1500, Query: QueryMean, Schedule: SchedulePublic}
	want := account.GaussianEpsilon(c.NoiseMultiplier/math.Sqrt(float64(c.Steps)), 1e-5)
	pld, err := account.ByName("pld")
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range []privacy.Adjacency{privacy.AddRemove, privacy.ReplaceOne} {
		got, err := pld.Epsilon([]privacy.Event{c.Event(a)}, a, 1e-5)
		if err != nil || math.Abs(got/want-1) > 1e-3 {
			t.Errorf("%s: epsilon %g, %v, must be %g", a, got, err, want)
		}
	}
}

// TestEventsOfTheOtherQueries: those of the published package, which are checked against
// docs/accounting.md section 3; under schedule drawn no amplification is taken: the
// epsilon is that of Steps*BatchSize Gaussians of sensitivity 2C (closed form).
func TestEventsOfTheOtherQueries(t *testing.T) {
	g := published.GSWGAN{Discriminators: 50, GeneratorSteps: 6, Batch: 32, NoiseMultiplier: 40}
	c := CriticQuery{NoiseMultiplier: 40, Steps: 6, BatchSize: 32, Critics: 50, Schedule: SchedulePublic}
	for q, want := range map[Query]privacy.Event{QueryBatch: g.PerBatch(), QuerySample: g.PerSample()} {
		c.Query = q
		if diff := cmp.Diff(want, c.Event(privacy.ReplaceOne)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", q, diff)
		}
	}
	pld, err := account.ByName("pld")
	must(err)
	c.Schedule = ScheduleDrawn
	want := account.GaussianEpsilon(40/math.Sqrt(6*32), 1e-5)
	for _, q := range []Query{QueryBatch, QuerySample} {
		c.Query = q
		for _, a := range []privacy.Adjacency{privacy.AddRemove, privacy.ReplaceOne} {
			got, err := pld.Epsilon([]privacy.Event{c.Event(a)}, a, 1e-5)
			if err != nil || math.Abs(got/want-1) > 1e-3 {
				t.Errorf("%s, %s: epsilon %g, %v, must be %g", q, a, got, err, want)
			}
		}
	}
}
