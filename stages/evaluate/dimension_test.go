package evaluate

import (
	"math"
	"strings"
	"testing"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
)

// dimension predicts with the quickest learners.
func dimension() pipeline.Stage {
	return stage("dimension_wise_prediction", overrides{"classifier": "logistic_regression",
		"regressor": "linear_regression"})
}

// TestDimensionEdges: every edge gives a value or a reason (see figures).
func TestDimensionEdges(t *testing.T) {
	empty := input(mixedTable(), nil, nil, nil, nil)
	far := input(mixedTable(), []any{9e74, -9e74, 1e60, 1.0}, []any{"a", "b", "c", "a"}, []any{"0", "1", "1", "0"},
		[]any{-1e74, 1e74, 0.0, 1e-300})
	single := input(mixedTable(), []any{1.0}, []any{"a"}, []any{"1"}, []any{2.0})
	for _, in := range []map[string]pipelinetest.Input{
		{"real": rows(60, 1), "synthetic": empty, "real_train": rows(70, 3)},
		{"real": single, "synthetic": single, "real_train": single},
		{"real": empty, "synthetic": empty, "real_train": empty},
		{"real": far, "synthetic": far, "real_train": rows(70, 3)},
	} {
		figures(t, dimension(), in)
	}
}

// TestDimensionByKind: the means of categories and of numbers are the means of the sizes of the columns' differences,
// without a column apart; a kind that no column is of has none.
func TestDimensionByKind(t *testing.T) {
	in := map[string]pipelinetest.Input{"real": rows(60, 1), "synthetic": rows(60, 2), "real_train": rows(70, 3)}
	var coded, numbers []string
	for _, c := range mixedTable().Columns {
		if c.Type.Coded() {
			coded = append(coded, c.Name)
		} else {
			numbers = append(numbers, c.Name)
		}
	}
	m := figures(t, stage("dimension_wise_prediction", overrides{"classifier": "logistic_regression",
		"regressor": "linear_regression", "apart": coded[:1]}), in)
	for kind, names := range map[string][]string{"categories": coded[1:], "numbers": numbers} {
		mean := 0.
		for _, name := range names {
			mean += math.Abs(m["difference."+name].Value) / float64(len(names))
		}
		if got := m["mean_difference_of."+kind].Value; math.Abs(got-mean) > 1e-12 || mean == 0 {
			t.Errorf("%s: %g, must be %g", kind, got, mean)
		}
	}
	none := figures(t, stage("dimension_wise_prediction", overrides{"classifier": "logistic_regression",
		"regressor": "linear_regression", "apart": coded}), in)
	if got := none["mean_difference_of.categories"]; !math.IsNaN(got.Value) || got.Note == "" {
		t.Errorf("without categories %v", got)
	}
}

// TestDimensionByShare: of four columns of two categories one is rare, and synthetic rows hold one category of another:
// real rows teach all, one has no diversity, and the means are over the columns with so many rows outside the commonest
// category.
func TestDimensionByShare(t *testing.T) {
	// Every i-th of 60 rows has the category "1": shares of 1/2, 1/3, 1/6 and 1/20.
	d, every := &domain.Domain{}, []int{2, 3, 6, 20}
	for _, name := range []string{"a", "b", "c", "rare"} {
		d.Columns = append(d.Columns, domain.Column{Name: name, Type: domain.Boolean, Categories: domain.Categories{"0",
			"1"}})
	}
	table := func(shift, reduced int) pipelinetest.Input {
		values := make([][]any, len(every))
		for k, n := range every {
			for i := range 60 {
				code := "0"
				if k != reduced && (i*7+shift)%n == 0 {
					code = "1"
				}
				values[k] = append(values[k], code)
			}
		}
		return input(d, values...)
	}
	in := map[string]pipelinetest.Input{"real": table(1, -1), "real_train": table(2, -1), "synthetic": table(3, 1)}
	m := figures(t, stage("dimension_wise_prediction", overrides{"classifier": "logistic_regression",
		"shares": []float64{0, 0.1, 0.4, 0.6}}), in)
	if got := m["no_diversity"].Value; got != 1 {
		t.Errorf("%g columns without diversity, must be 1", got)
	}
	for share, want := range map[string]float64{"0": 4, "0.1": 3, "0.4": 1, "0.6": 0} {
		if got := m["columns_above."+share].Value; got != want {
			t.Errorf("%s: %g columns, must be %g", share, got, want)
		}
	}
	for figure, of := range map[string]string{"real_above": "real.", "synthetic_above": "synthetic."} {
		if got, want := m[figure+".0.1"].Value, (m[of+"a"].Value+m[of+"c"].Value)/2; math.Abs(got-want) > 1e-12 || want == 0 {
			t.Errorf("%s: %g, must be %g", figure, got, want)
		}
	}
	if got, want := m["difference_above.0.1"].Value, (math.Abs(m["difference.a"].Value)+math.Abs(m["difference.c"].Value))/
		2; math.Abs(got-want) > 1e-12 || want == 0 {
		t.Errorf("difference %g, must be %g", got, want)
	}
	if got := m["real_above.0.6"]; !math.IsNaN(got.Value) || got.Note == "" {
		t.Errorf("of no column %v", got)
	}
	h := in["real"].Header
	headers := pipeline.Headers{"real": h, "synthetic": h, "real_train": h}
	for _, share := range []float64{-0.1, 1.5} {
		if _, err := stage("dimension_wise_prediction", overrides{"shares": []float64{0.5, share}}).Plan(headers); err ==
			nil ||
			!strings.Contains(err.Error(), "shares[1]") {
			t.Errorf("a share of %g: %v", share, err)
		}
	}
}
