package regression

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"weir/pipeline"
	"weir/pipeline/pipelinetest"
	"weir/stages/internal/questiontest"
)

func visits() *pipeline.Domain {
	return &pipeline.Domain{Columns: []pipeline.Column{
		{Name: "x", Type: pipeline.Numeric},
		{Name: "noise", Type: pipeline.Numeric},
		{Name: "arm", Type: pipeline.Categorical, Categories: pipeline.Spellings{"never", "a", "b"}},
		{Name: "years", Type: pipeline.Numeric},
		{Name: "events", Type: pipeline.Integer},
	}}
}

// cohort draws counts with rate years exp(-1 + effect x + 0.8 [arm = b]).
func cohort(n int, effect float64, seed uint64) pipelinetest.Input {
	rng := rand.New(rand.NewPCG(seed, 2))
	x, z, arm, years, events := make([]any, n), make([]any, n), make([]any, n), make([]any, n), make([]any, n)
	for i := range n {
		v, k, t := rng.NormFloat64(), rng.IntN(2), 1+4*rng.Float64()
		x[i], z[i], arm[i], years[i] = v, rng.NormFloat64(), string(rune('a'+k)), t
		events[i] = poisson(rng, t*math.Exp(-1+effect*v+0.8*float64(k)))
	}
	return questiontest.Input(visits(), x, z, arm, years, events)
}

func poisson(rng *rand.Rand, rate float64) int {
	n, p := 0, rng.Float64()
	for ; p > math.Exp(-rate); n++ {
		p *= rng.Float64()
	}
	return n
}

func discovery() *settings {
	s := Kinds()[0].New().(*settings)
	s.Model, s.Target, s.Columns, s.Exposure = "poisson", "events", []string{"x", "noise", "arm"}, "years"
	return s
}

// The effects are 0.5 and 0.8 with standard errors near 0.03 and 0.06 at 1,000
// rows of rate about 2: to miss the first, or to be 0.25 off, is an event of more
// than 7 standard errors (rate below 1e-10). The real rows' base is arm a, since
// nobody is in the first category.
func TestRegressionCountsDiscoveries(t *testing.T) {
	real := cohort(1000, 0.5, 1)
	m := questiontest.Figures(t, discovery(), map[string]pipelinetest.Input{"real": real, "synthetic": cohort(1000, 0.5, 2)})
	for key, want := range map[string]float64{"coefficient_real.x": 0.5, "coefficient_synthetic.x": 0.5, "coefficient_real.arm=b": 0.8, "coefficient_real.intercept": -1} {
		if got := m[key].Value; math.Abs(got-want) > 0.25 {
			t.Errorf("%s is %v, want about %v", key, got, want)
		}
	}
	if m["discoveries_reproduced"].Value < 2 || m["mean_interval_overlap"].Value <= 0 {
		t.Errorf("reproduced %v, overlap %v", m["discoveries_reproduced"].Value, m["mean_interval_overlap"].Value)
	}
	if note := m["coefficient_real.arm=never"].Note; !strings.Contains(note, "not estimable") {
		t.Errorf("a category without rows has the note %q", note)
	}
	turned := questiontest.Figures(t, discovery(), map[string]pipelinetest.Input{"real": real, "synthetic": cohort(1000, -0.5, 3)})
	if turned["discoveries_lost"].Value < 1 || turned["discoveries_false"].Value < 1 || turned["interval_overlap.x"].Value >= 0 {
		t.Errorf("an effect of the other sign: lost %v, false %v, overlap %v",
			turned["discoveries_lost"].Value, turned["discoveries_false"].Value, turned["interval_overlap.x"].Value)
	}
}

// Every edge gives a value or a reason (see figures).
func TestRegressionEdges(t *testing.T) {
	none := questiontest.Input(visits(), nil, nil, nil, nil, nil)
	flat := questiontest.Input(visits(), []any{1.0, 1.0, 1.0, 1.0}, []any{0.0, 0.0, 0.0, 0.0}, []any{"a", "a", "a", "a"}, []any{1.0, 1.0, 1.0, 1.0}, []any{0, 0, 0, 0})
	one := cohort(1, 0.5, 9)
	far := questiontest.Input(visits(), []any{9e74, -9e74, 1e60, 1.0, 2.0, 3.0, 4.0}, []any{1e74, 1.0, 2.0, math.MaxFloat64, 5.0, 6.0, -1e70}, []any{"a", "b", "a", "b", "a", "b", "a"},
		[]any{1e74, 1.0, 2.0, 1e-74, 1.0, 3.0, 5e-324}, []any{1 << 52, 0, 1, 2, 3, 5, 8})
	for _, real := range []pipelinetest.Input{none, flat, one, far, cohort(50, 0.5, 1)} {
		for _, synthetic := range []pipelinetest.Input{none, flat, one, far} {
			questiontest.Figures(t, discovery(), map[string]pipelinetest.Input{"real": real, "synthetic": synthetic})
			linear := discovery()
			linear.Model, linear.Exposure = "linear", ""
			questiontest.Figures(t, linear, map[string]pipelinetest.Input{"real": real, "synthetic": synthetic})
		}
	}
	// x separates the outcomes perfectly.
	apart := questiontest.Input(questiontest.Mixed(), []any{-2.0, -1.0, 1.0, 2.0, 3.0, -3.0}, []any{"a", "a", "a", "b", "b", "b"}, []any{"0", "0", "1", "1", "1", "0"}, []any{1.0, 2.0, 1.5, 0.5, 3.0, 1.0})
	s := &settings{Model: "logistic", Target: "outcome", Columns: []string{"x"}, Scaling: "raw", Level: 0.95}
	m := questiontest.Figures(t, s, map[string]pipelinetest.Input{"real": questiontest.Rows(200, 1), "synthetic": apart})
	if note := m["coefficient_synthetic.x"].Note; !strings.Contains(note, "separat") {
		t.Errorf("perfect separation has the note %q", note)
	}
}

func TestRegressionRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*settings)
		want   string
	}{
		"coded target":       {func(s *settings) { s.Target, s.Columns = "arm", []string{"x"} }, "a numeric column for a poisson model"},
		"numeric, logistic":  {func(s *settings) { s.Model = "logistic" }, "a column of two categories"},
		"offset of another":  {func(s *settings) { s.Model = "linear" }, "left out, or the model poisson"},
		"unknown exposure":   {func(s *settings) { s.Exposure = "year" }, "did you mean years?"},
		"target as column":   {func(s *settings) { s.Columns = []string{"events"} }, "other columns"},
		"category as offset": {func(s *settings) { s.Exposure, s.Columns = "arm", []string{"x"} }, "a numeric column"},
	} {
		s := discovery()
		c.change(s)
		_, err := s.Plan(pipeline.Headers{"real": cohort(3, 1, 1).Header, "synthetic": cohort(3, 1, 2).Header})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error is %v, must say %q", name, err, c.want)
		}
	}
}

func TestRegressionOfNothing(t *testing.T) {
	questiontest.Nothing(t, &settings{Model: "logistic", Target: "smoker", Columns: []string{"age", "region"}, Scaling: "raw", Level: 0.95}, "real", "synthetic")
}

func TestRegressionRefusesWhatCannotBeCompared(t *testing.T) {
	questiontest.Incomparable(t, &settings{Model: "linear", Target: "level", Columns: []string{"outcome"}, Scaling: "raw", Level: 0.95})
}

func TestConformance(t *testing.T) {
	cohorts := map[string]pipelinetest.Input{"real": cohort(80, 0.5, 1), "synthetic": cohort(90, 0.5, 2)}
	poisson := func() pipeline.Stage { return discovery() }
	pipelinetest.CheckKinds(t, Kinds(), map[string][]pipelinetest.Case{"regression_discovery": {{Name: "poisson", In: cohorts, Stage: poisson}, questiontest.Removable(cohorts, poisson)}})
}
