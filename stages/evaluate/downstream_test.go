package evaluate

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/array"

	"weir/pipeline"
	"weir/pipeline/pipelinetest"
)

// mixed is the domain of the tables of these tests.
func mixed() *pipeline.Domain {
	return &pipeline.Domain{Columns: []pipeline.Column{
		{Name: "x", Type: pipeline.Numeric, Bounds: &[2]float64{-4, 4}},
		{Name: "group", Type: pipeline.Categorical, Categories: pipeline.Spellings{"a", "b", "c"}},
		{Name: "outcome", Type: pipeline.Boolean, Categories: pipeline.Spellings{"0", "1"}},
		{Name: "level", Type: pipeline.Numeric},
	}}
}

// rows draws n rows in which x and group say much about outcome and level. Some
// values of x and outcome are missing.
func rows(n int, seed uint64) pipelinetest.Input {
	rng := rand.New(rand.NewPCG(seed, 1))
	x, g, y, l := make([]any, n), make([]any, n), make([]any, n), make([]any, n)
	for i := range n {
		v, k := rng.NormFloat64(), rng.IntN(3)
		x[i], g[i], y[i] = v, string(rune('a'+k)), "0"
		if rng.Float64() < 1/(1+math.Exp(-2*v+float64(k)-1)) {
			y[i] = "1"
		}
		l[i] = v - float64(k) + rng.NormFloat64()/4
		if i%17 == 3 {
			x[i] = nil
		}
		if i%23 == 5 {
			y[i] = nil
		}
	}
	return input(mixed(), x, g, y, l)
}

func input(d *pipeline.Domain, columns ...[]any) pipelinetest.Input {
	h := pipeline.TableHeader(d, pipeline.Header{Class: pipeline.Private, Stability: pipeline.Rows(1)})
	return pipelinetest.Input{Header: h, Rows: pipelinetest.Rows(d, columns...)}
}

func tables(in map[string]pipelinetest.Input) pipeline.Tables {
	t := pipeline.Tables{}
	for port, i := range in {
		t[port] = pipeline.FromRecords(i.Header, i.Rows)
	}
	return t
}

// figures runs a stage and reads its metrics by key.
func figures(t *testing.T, s pipeline.Stage, in map[string]pipelinetest.Input) map[string]pipeline.Metric {
	t.Helper()
	out, err := pipelinetest.Run(t, s, pipelinetest.Env(2), tables(in))
	if err != nil {
		t.Fatal(err)
	}
	list, err := pipeline.ReadMetrics(context.Background(), out["out"])
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]pipeline.Metric{}
	for _, v := range list {
		if _, twice := m[v.Key()]; twice {
			t.Errorf("metric %s stands twice", v.Key())
		}
		if math.IsNaN(v.Value) && v.Note == "" {
			t.Errorf("metric %s is undefined without a reason", v.Key())
		}
		m[v.Key()] = v
	}
	return m
}

func downstream(target string, models ...string) *Downstream {
	s := downstreamKind().New().(*Downstream)
	s.Target = target
	if len(models) > 0 {
		s.Models = models
	}
	return s
}

// Rows of one law predict each other; a target that is drawn apart from all else
// cannot be predicted. With 600 test rows the standard error of an AUROC of 0.5
// is below 0.025, so a false alarm needs more than 5 of them (rate below 1e-6).
func TestDownstreamTellsSignalFromNoise(t *testing.T) {
	real, good, bad := rows(600, 1), rows(600, 2), rows(600, 3)
	shuffled := make([]any, 600)
	rng := rand.New(rand.NewPCG(9, 9))
	for i := range shuffled {
		shuffled[i] = []string{"0", "1"}[rng.IntN(2)]
	}
	bad.Rows = pipelinetest.Rows(mixed(), values(bad, 0), values(bad, 1), shuffled, values(bad, 3))
	m := figures(t, downstream("outcome"), map[string]pipelinetest.Input{"real": real, "synthetic": good, "real_train": rows(600, 4)})
	if v := m["auroc"].Value; v < 0.8 {
		t.Errorf("AUROC is %v on rows of the same law", v)
	}
	if v := m["auroc_loss"].Value; math.Abs(v) > 0.05 {
		t.Errorf("the loss against real rows is %v", v)
	}
	s := downstream("outcome")
	s.Columns = []string{"group"}
	low := figures(t, s, map[string]pipelinetest.Input{"real": real, "synthetic": bad})
	if v := low["auroc"].Value; v > 0.75 {
		t.Errorf("AUROC is %v from noise", v)
	}
}

// values reads a column back, with nil for missing.
func values(in pipelinetest.Input, column int) []any {
	out := make([]any, in.Rows.NumRows())
	for i := range out {
		switch a := in.Rows.Column(column).(type) {
		case *array.Float64:
			if a.IsValid(i) {
				out[i] = a.Value(i)
			}
		case *array.Int32:
			if a.IsValid(i) {
				out[i] = in.Header.Domain.Columns[column].Categories[a.Value(i)]
			}
		}
	}
	return out
}

// Every edge gives a value or a reason, never NaN in silence (see figures).
func TestDownstreamEdges(t *testing.T) {
	one := []any{"1"}
	single := input(mixed(), []any{1.0}, []any{"a"}, one, []any{2.0})
	empty := input(mixed(), nil, nil, nil, nil)
	voids := input(mixed(), []any{nil, nil, nil}, []any{nil, nil, nil}, []any{"0", "1", "1"}, []any{nil, nil, nil})
	noTarget := input(mixed(), []any{1.0}, []any{"a"}, []any{nil}, []any{nil})
	constant := input(mixed(), []any{1.0, 1.0, 1.0}, []any{"a", "a", "a"}, []any{"0", "1", "1"}, []any{1.0, 1.0, 1.0})
	far := input(mixed(), []any{math.MaxFloat64, -9e74, 1e70, 0.0, 1.0, 2.0}, []any{"a", "b", "c", "a", "b", "c"}, []any{"0", "1", "1", "0", "1", "0"},
		[]any{-9e74, 1e74, math.MaxFloat64, 1.0, 2.0, 3.0})
	all := map[string]pipelinetest.Input{"single": single, "far": far, "empty": empty, "voids": voids, "no target": noTarget, "constant": constant, "plain": rows(60, 1)}
	for rn, real := range all {
		for sn, synthetic := range all {
			if rn != "plain" && sn != "plain" && rn != sn {
				continue
			}
			t.Run(rn+" real, "+sn+" synthetic", func(t *testing.T) {
				in := map[string]pipelinetest.Input{"real": real, "synthetic": synthetic, "real_train": rows(60, 5)}
				s := downstream("outcome", split(classifierNames)...)
				s.Scores = split(classScoreNames)
				figures(t, s, in)
				figures(t, downstream("group", split(classifierNames)...), in)
				r := downstream("level", split(regressorNames)...)
				r.Scores = split(regressionScoreNames)
				figures(t, r, in)
			})
		}
	}
}

func TestDownstreamRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Downstream)
		want   string
	}{
		"unknown target":    {func(s *Downstream) { s.Target = "outcom" }, "did you mean outcome?"},
		"unknown model":     {func(s *Downstream) { s.Models = []string{"logistic_regresion"} }, "did you mean logistic_regression?"},
		"score of numbers":  {func(s *Downstream) { s.Scores = []string{"r2"} }, "an unknown score of boolean columns"},
		"positive category": {func(s *Downstream) { s.Positive = "yes" }, `positive: is "yes", must be a category`},
		"target as column":  {func(s *Downstream) { s.Columns = []string{"outcome"} }, "columns other than the target"},
		"unknown column":    {func(s *Downstream) { s.Columns = []string{"grup"} }, "did you mean group?"},
	} {
		s := downstream("outcome")
		c.change(s)
		in := pipeline.Headers{"real": rows(3, 1).Header, "synthetic": rows(3, 2).Header}
		if _, err := s.Plan(in); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error is %v, must say %q", name, err, c.want)
		}
	}
}
