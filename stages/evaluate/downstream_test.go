package evaluate

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/array"

	"weir/internal/stattest"
	"weir/pipeline"
	"weir/pipeline/pipelinetest"
	"weir/stages/internal/prediction"
)

// downstream predicts a column, with more settings.
func downstream(target string, more overrides) pipeline.Stage {
	settings := overrides{"target": target}
	maps.Copy(settings, more)
	return stage("downstream", settings)
}

// TestDownstreamTellsSignalFromNoise: rows of one law predict each other; a target that is drawn apart from all else
// cannot be predicted. With 600 test rows the standard error of an AUROC of 0.5
// is below 0.025, so a false alarm needs more than 5 of them (rate below 1e-6).
func TestDownstreamTellsSignalFromNoise(t *testing.T) {
	real, good, bad := rows(600, 1), rows(600, 2), rows(600, 3)
	shuffled := make([]any, 600)
	rng := rand.New(rand.NewPCG(9, 9))
	for i := range shuffled {
		shuffled[i] = []string{"0", "1"}[rng.IntN(2)]
	}
	bad.Rows = pipelinetest.Rows(mixedTable(), values(bad, 0), values(bad, 1), shuffled, values(bad, 3))
	m := figures(t, downstream("outcome", nil), map[string]pipelinetest.Input{"real": real, "synthetic": good,
		"real_train": rows(600, 4)})
	if v := m["auroc"].Value; v < 0.8 {
		t.Errorf("AUROC is %v on rows of the same law", v)
	}
	if v := m["auroc_loss"].Value; math.Abs(v) > 0.05 {
		t.Errorf("the loss against real rows is %v", v)
	}
	low := figures(t, downstream("outcome", overrides{"columns": []string{"group"}}),
		map[string]pipelinetest.Input{"real": real, "synthetic": bad})
	if v := low["auroc"].Value; v > 0.75 {
		t.Errorf("AUROC is %v from noise", v)
	}
}

// TestDownstreamNamesWhatATargetFollowsFrom: a target that follows from another column is told to do so, by the name of
// the column; one that does not is not.
func TestDownstreamNamesWhatATargetFollowsFrom(t *testing.T) {
	table := func(seed uint64, outcome func(x float64, group string) bool) pipelinetest.Input {
		rng := rand.New(rand.NewPCG(seed, 1))
		var x, groups, outcomes, y []any
		for range 200 {
			v, group := rng.NormFloat64(), []string{"a", "b", "c", ""}[rng.IntN(4)]
			x, groups, y = append(x, v), append(groups, any(group)), append(y, rng.NormFloat64())
			if group == "" {
				groups[len(groups)-1] = nil
			}
			outcomes = append(outcomes, map[bool]string{true: "1", false: "0"}[outcome(v, group)])
		}
		return input(mixedTable(), x, groups, outcomes, y)
	}
	for name, c := range map[string]struct {
		outcome func(x float64, group string) bool
		want    string
	}{
		"a category": {func(_ float64, group string) bool { return group == "b" }, "from column group alone"},
		"no value":   {func(_ float64, group string) bool { return group != "" }, "from which rows lack column group"},
		"a number":   {func(x float64, _ string) bool { return x < .5 }, "from column x alone"},
		"neither":    {func(x float64, group string) bool { return x > .5 == (group == "a") }, ""},
	} {
		in := map[string]pipelinetest.Input{"real": table(1, c.outcome), "synthetic": table(2, c.outcome),
			"real_train": table(3, c.outcome)}
		note := figures(t, downstream("outcome", nil), in)["auroc"].Note
		if !strings.Contains(note, c.want) || (c.want == "") == strings.Contains(note, "follows") {
			t.Errorf("%s: AUROC has the note %q, must hold %q", name, note, c.want)
		}
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

// TestDownstreamEdges: every edge gives a value or a reason, never NaN in silence (see figures). In an ordinary run
// every third learner meets an edge, others at the next, so that each meets five or more.
func TestDownstreamEdges(t *testing.T) {
	one := []any{"1"}
	single := input(mixedTable(), []any{1.0}, []any{"a"}, one, []any{2.0})
	empty := input(mixedTable(), nil, nil, nil, nil)
	voids := input(mixedTable(), []any{nil, nil, nil}, []any{nil, nil, nil}, []any{"0", "1", "1"}, []any{nil, nil, nil})
	noTarget := input(mixedTable(), []any{1.0}, []any{"a"}, []any{nil}, []any{nil})
	constant := input(mixedTable(), []any{1.0, 1.0, 1.0}, []any{"a", "a", "a"}, []any{"0", "1", "1"}, []any{1.0, 1.0, 1.0})
	far := input(mixedTable(), []any{math.MaxFloat64, -9e74, 1e70, 0.0, 1.0, 2.0}, []any{"a", "b", "c", "a", "b", "c"},
		[]any{"0", "1", "1", "0", "1", "0"},
		[]any{-9e74, 1e74, math.MaxFloat64, 1.0, 2.0, 3.0})
	all := map[string]pipelinetest.Input{"single": single, "far": far, "empty": empty, "voids": voids,
		"no target": noTarget, "constant": constant, "plain": rows(40, 1)}
	names, edge := slices.Sorted(maps.Keys(all)), 0
	for _, rn := range names {
		for _, sn := range names {
			if rn != "plain" && sn != "plain" && rn != sn {
				continue
			}
			real, synthetic := all[rn], all[sn]
			edge++
			t.Run(rn+" real, "+sn+" synthetic", func(t *testing.T) {
				in := map[string]pipelinetest.Input{"real": real, "synthetic": synthetic, "real_train": rows(20, 5)}
				classes, numbers := some(prediction.ClassifierNames(), edge), some(prediction.RegressorNames(), edge)
				figures(t, downstream("outcome", overrides{"models": classes, "scores": prediction.ClassScores()}), in)
				figures(t, downstream("group", overrides{"models": classes}), in)
				figures(t, downstream("level", overrides{"models": numbers, "scores": prediction.NumberScores()}), in)
			})
		}
	}
}

// some returns every third of a list, beginning at one of the first three, or all of it.
func some(list []string, from int) (used []string) {
	every := stattest.Rounds(3, 1)
	for i := from % every; i < len(list); i += every {
		used = append(used, list[i])
	}
	return used
}

func TestDownstreamRefuses(t *testing.T) {
	for want, change := range map[string]overrides{
		"did you mean outcome?":                  {"target": "outcom"},
		"did you mean logistic_regression?":      {"models": []string{"logistic_regresion"}},
		"an unknown score of boolean columns":    {"scores": []string{"r2"}},
		`positive: is "yes", must be a category`: {"positive": "yes"},
		"columns other than the target":          {"columns": []string{"outcome"}},
		"did you mean group?":                    {"columns": []string{"grup"}},
	} {
		in := pipeline.Headers{"real": rows(3, 1).Header, "synthetic": rows(3, 2).Header}
		if _, err := downstream("outcome", change).Plan(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: error is %v, must say %q", change, err, want)
		}
	}
}

// TestDownstreamWeights: the log odds of rows are 2x - k + 1, so that the coefficient of x is 2 (standard error .07
// with 4,000 rows: a false alarm needs more than 6 of them), and x counts most in a forest, whose importances add up to
// one. Real rows have theirs beside; what has no weights says nothing, and without the setting nobody does.
func TestDownstreamWeights(t *testing.T) {
	in := map[string]pipelinetest.Input{"real": rows(50, 1), "synthetic": rows(4000, 2), "real_train": rows(4000, 3)}
	models := overrides{"models": []string{"logistic_search", "random_forest_shallow", "gaussian_nb"},
		"columns": []string{"x", "group"}, "scaling": "raw"}
	for key := range figures(t, downstream("outcome", models), in) {
		if strings.HasPrefix(key, "column_weight") {
			t.Errorf("%s, and nobody asked for weights", key)
		}
	}
	models["weights"] = true
	m := figures(t, downstream("outcome", models), in)
	for _, name := range []string{"column_weight", "column_weight_real_train"} {
		if v := m[name+".logistic_search:x"].Value; math.Abs(v-2) > 0.42 {
			t.Errorf("%s: the coefficient of x is %g, must be 2", name, v)
		}
		sum, most := 0.0, ""
		for key, v := range m {
			if column, of := strings.CutPrefix(key, name+".random_forest_shallow:"); of {
				sum += v.Value
				if most == "" || v.Value > m[name+".random_forest_shallow:"+most].Value {
					most = column
				}
			}
			if strings.HasPrefix(key, name+".gaussian_nb") {
				t.Errorf("%s: naive Bayes has no weights", key)
			}
		}
		if math.Abs(sum-1) > 1e-9 || most != "x" {
			t.Errorf("%s: the importances add up to %g and are largest for %s; must be 1, and x", name, sum, most)
		}
	}
}
