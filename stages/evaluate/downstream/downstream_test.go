package downstream

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/array"

	"weir/pipeline"
	"weir/pipeline/pipelinetest"
	"weir/stages/internal/prediction"
	"weir/stages/internal/questiontest"
)

func downstream(target string, models ...string) *settings {
	s := Kinds()[0].New().(*settings)
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
	real, good, bad := questiontest.Rows(600, 1), questiontest.Rows(600, 2), questiontest.Rows(600, 3)
	shuffled := make([]any, 600)
	rng := rand.New(rand.NewPCG(9, 9))
	for i := range shuffled {
		shuffled[i] = []string{"0", "1"}[rng.IntN(2)]
	}
	bad.Rows = pipelinetest.Rows(questiontest.Mixed(), values(bad, 0), values(bad, 1), shuffled, values(bad, 3))
	m := questiontest.Figures(t, downstream("outcome"), map[string]pipelinetest.Input{"real": real, "synthetic": good, "real_train": questiontest.Rows(600, 4)})
	if v := m["auroc"].Value; v < 0.8 {
		t.Errorf("AUROC is %v on rows of the same law", v)
	}
	if v := m["auroc_loss"].Value; math.Abs(v) > 0.05 {
		t.Errorf("the loss against real rows is %v", v)
	}
	s := downstream("outcome")
	s.Columns = []string{"group"}
	low := questiontest.Figures(t, s, map[string]pipelinetest.Input{"real": real, "synthetic": bad})
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
	single := questiontest.Input(questiontest.Mixed(), []any{1.0}, []any{"a"}, one, []any{2.0})
	empty := questiontest.Input(questiontest.Mixed(), nil, nil, nil, nil)
	voids := questiontest.Input(questiontest.Mixed(), []any{nil, nil, nil}, []any{nil, nil, nil}, []any{"0", "1", "1"}, []any{nil, nil, nil})
	noTarget := questiontest.Input(questiontest.Mixed(), []any{1.0}, []any{"a"}, []any{nil}, []any{nil})
	constant := questiontest.Input(questiontest.Mixed(), []any{1.0, 1.0, 1.0}, []any{"a", "a", "a"}, []any{"0", "1", "1"}, []any{1.0, 1.0, 1.0})
	far := questiontest.Input(questiontest.Mixed(), []any{math.MaxFloat64, -9e74, 1e70, 0.0, 1.0, 2.0}, []any{"a", "b", "c", "a", "b", "c"}, []any{"0", "1", "1", "0", "1", "0"},
		[]any{-9e74, 1e74, math.MaxFloat64, 1.0, 2.0, 3.0})
	all := map[string]pipelinetest.Input{"single": single, "far": far, "empty": empty, "voids": voids, "no target": noTarget, "constant": constant, "plain": questiontest.Rows(60, 1)}
	for rn, real := range all {
		for sn, synthetic := range all {
			if rn != "plain" && sn != "plain" && rn != sn {
				continue
			}
			t.Run(rn+" real, "+sn+" synthetic", func(t *testing.T) {
				in := map[string]pipelinetest.Input{"real": real, "synthetic": synthetic, "real_train": questiontest.Rows(60, 5)}
				s := downstream("outcome", prediction.ClassifierNames()...)
				s.Scores = prediction.ClassScores()
				questiontest.Figures(t, s, in)
				questiontest.Figures(t, downstream("group", prediction.ClassifierNames()...), in)
				r := downstream("level", prediction.RegressorNames()...)
				r.Scores = prediction.NumberScores()
				questiontest.Figures(t, r, in)
			})
		}
	}
}

func TestDownstreamRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*settings)
		want   string
	}{
		"unknown target":    {func(s *settings) { s.Target = "outcom" }, "did you mean outcome?"},
		"unknown model":     {func(s *settings) { s.Models = []string{"logistic_regresion"} }, "did you mean logistic_regression?"},
		"score of numbers":  {func(s *settings) { s.Scores = []string{"r2"} }, "an unknown score of boolean columns"},
		"positive category": {func(s *settings) { s.Positive = "yes" }, `positive: is "yes", must be a category`},
		"target as column":  {func(s *settings) { s.Columns = []string{"outcome"} }, "columns other than the target"},
		"unknown column":    {func(s *settings) { s.Columns = []string{"grup"} }, "did you mean group?"},
	} {
		s := downstream("outcome")
		c.change(s)
		in := pipeline.Headers{"real": questiontest.Rows(3, 1).Header, "synthetic": questiontest.Rows(3, 2).Header}
		if _, err := s.Plan(in); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error is %v, must say %q", name, err, c.want)
		}
	}
}

func TestDownstreamOfNothing(t *testing.T) {
	questiontest.Nothing(t, downstream("smoker", prediction.ClassifierNames()...), "real", "synthetic", "real_train")
}

func TestDownstreamRefusesWhatCannotBeCompared(t *testing.T) {
	questiontest.Incomparable(t, downstream("outcome"))
}

func TestConformance(t *testing.T) {
	three := map[string]pipelinetest.Input{"real": questiontest.Rows(60, 1), "synthetic": questiontest.Rows(80, 2), "real_train": questiontest.Rows(70, 3)}
	two := map[string]pipelinetest.Input{"real": questiontest.Rows(60, 1), "synthetic": questiontest.Rows(80, 2)}
	pipelinetest.CheckKinds(t, Kinds(), map[string][]pipelinetest.Case{"downstream": {
		{Name: "all ports", In: three, Stage: func() pipeline.Stage { return downstream("outcome", prediction.ClassifierNames()...) }},
		{Name: "numbers", In: two, Stage: func() pipeline.Stage { return downstream("level", prediction.RegressorNames()...) }},
		questiontest.Removable(three, func() pipeline.Stage { return downstream("outcome") }),
	}})
}
