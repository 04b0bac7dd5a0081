package evaluate

import (
	"math"
	"testing"

	"weir/pipeline"
	"weir/pipeline/pipelinetest"
)

// dimension predicts with the quickest learners.
func dimension() pipeline.Stage {
	return stage("dimension_wise_prediction", with{"classifier": "logistic_regression", "regressor": "linear_regression"})
}

// Every edge gives a value or a reason (see figures).
func TestDimensionEdges(t *testing.T) {
	empty := input(mixed(), nil, nil, nil, nil)
	far := input(mixed(), []any{9e74, -9e74, 1e60, 1.0}, []any{"a", "b", "c", "a"}, []any{"0", "1", "1", "0"}, []any{-1e74, 1e74, 0.0, 1e-300})
	single := input(mixed(), []any{1.0}, []any{"a"}, []any{"1"}, []any{2.0})
	for _, in := range []map[string]pipelinetest.Input{
		{"real": rows(60, 1), "synthetic": empty, "real_train": rows(70, 3)},
		{"real": single, "synthetic": single, "real_train": single},
		{"real": empty, "synthetic": empty, "real_train": empty},
		{"real": far, "synthetic": far, "real_train": rows(70, 3)},
	} {
		figures(t, dimension(), in)
	}
}

// TestDimensionByKind: the means of categories and of numbers are those of the sizes of the columns' differences, without a
// column apart; a kind that no column is of has none.
func TestDimensionByKind(t *testing.T) {
	in := map[string]pipelinetest.Input{"real": rows(60, 1), "synthetic": rows(60, 2), "real_train": rows(70, 3)}
	var coded, numbers []string
	for _, c := range mixed().Columns {
		if c.Type.Coded() {
			coded = append(coded, c.Name)
		} else {
			numbers = append(numbers, c.Name)
		}
	}
	m := figures(t, stage("dimension_wise_prediction", with{"classifier": "logistic_regression", "regressor": "linear_regression", "apart": coded[:1]}), in)
	for kind, names := range map[string][]string{"categories": coded[1:], "numbers": numbers} {
		mean := 0.
		for _, name := range names {
			mean += math.Abs(m["difference."+name].Value) / float64(len(names))
		}
		if got := m["mean_difference_of."+kind].Value; math.Abs(got-mean) > 1e-12 || mean == 0 {
			t.Errorf("%s: %g, must be %g", kind, got, mean)
		}
	}
	none := figures(t, stage("dimension_wise_prediction", with{"classifier": "logistic_regression", "regressor": "linear_regression", "apart": coded}), in)
	if got := none["mean_difference_of.categories"]; !math.IsNaN(got.Value) || got.Note == "" {
		t.Errorf("without categories %v", got)
	}
}
