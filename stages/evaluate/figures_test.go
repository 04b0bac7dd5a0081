package evaluate

import (
	"maps"
	"testing"

	"weir/pipeline"
	"weir/pipeline/pipelinetest"
	"weir/stages/internal/prediction"
)

// TestEveryChoiceIsDeclared: figures that a kind computes where it is asked to are declared as
// the figures of its defaults, which the conformance suite holds (pipelinetest.CheckKinds).
func TestEveryChoiceIsDeclared(t *testing.T) {
	all := pipelinetest.WardPorts(pipelinetest.WardRows(1, 60), pipelinetest.WardRows(2, 50), pipelinetest.WardRows(3, 60))
	all["baseline"] = pipelinetest.WardInput(pipelinetest.WardRows(4, 50), pipeline.Released)
	four := map[string]pipelinetest.Input{"real": rows(60, 1), "synthetic": rows(80, 2), "real_train": rows(70, 3),
		"baseline": rows(50, 4)}
	measures := []string{"mixed", "pearson", "spearman", "kendall", "cramers_v", "cramers_v_corrected",
		"mutual_information",
		"normalised_mutual_information", "theils_u", "correlation_ratio", "covariance"}
	for name, c := range map[string]struct {
		kind     string
		settings overrides
		in       map[string]pipelinetest.Input
	}{
		"scores of classes": {"downstream", overrides{"target": "outcome", "scores": prediction.ClassScores(),
			"models": prediction.ClassifierNames()[:2]}, four},
		"scores of numbers": {"downstream", overrides{"target": "level", "scores": prediction.NumberScores(),
			"models": prediction.RegressorNames()[:2]}, four},
		"shares": {"dimension_wise_prediction", overrides{"classifier": "logistic_regression", "shares": []float64{0, 0.1}},
			four},
		"measures": {"associations", overrides{"measures": measures}, all},
	} {
		out, err := pipelinetest.Run(t, stage(c.kind, c.settings), pipelinetest.Env(2), pipelinetest.Tables(maps.Clone(c.in)))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		metrics, err := pipeline.ReadMetrics(t.Context(), out["out"])
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range Kinds() {
			if k.Name != c.kind {
				continue
			}
			for _, m := range pipelinetest.Undeclared(k.Figures, metrics) {
				t.Errorf("%s: %s is not declared", name, m.Key())
			}
			written := map[string]bool{}
			for _, m := range metrics {
				written[m.Name] = true
			}
			for _, f := range k.Figures {
				if !written[f.Name] && c.kind == "associations" {
					t.Errorf("%s: %s is declared and not written", name, f.Name)
				}
			}
		}
	}
}
