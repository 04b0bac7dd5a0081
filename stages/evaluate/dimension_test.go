package evaluate

import (
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
