package show

import (
	"strings"
	"testing"

	"weir/pipeline"
	"weir/privacy"
)

// plan is one of a paid stage and what is drawn from it.
func plan() *pipeline.Plan {
	alone, noise := 0.36, 1.1
	reads := func(port string, refs ...pipeline.Ref) map[string][]pipeline.Ref {
		return map[string][]pipeline.Ref{port: refs}
	}
	return &pipeline.Plan{Name: "test", Digest: "sha256:0", Budget: 1, Delta: 1e-5, Dataset: pipeline.DatasetPlan{Source: pipeline.Declared{Kind: "file", Name: "patients.csv", Place: "/home/ann/patients.csv"}, Stability: pipeline.Rows(4)},
		Epsilon: pipeline.EpsilonPair{Reason: "stage train: the encoder has no noise", Published: &alone},
		Steps: []*pipeline.Step{
			{ID: "clean", Kind: "clean", Class: pipeline.Private, Stability: "rows(4)", Inputs: reads("in", pipeline.Ref{Stage: "dataset"})},
			{ID: "train", Kind: "learn", Decided: []pipeline.Decided{{Setting: "target", Value: "income", Why: "from stage utility"}}, Class: pipeline.Released, Inputs: reads("in", pipeline.Ref{Stage: "clean", Port: "out"}), Cost: privacy.Cost{NoiseMultiplier: &noise, Alone: &alone},
				Spends: []pipeline.Planned{{Line: privacy.Line{Name: "train", Mechanism: "DP-SGD", Sensitivity: "1 (L2) when a row is replaced", Uses: -1}}}},
			{ID: "sample", Kind: "draw", Class: pipeline.Released, Inputs: reads("in", pipeline.Ref{Stage: "train"})},
		},
		Findings: []pipeline.Finding{{Rule: "W33", Level: pipeline.LevelNote, Stage: "train", Message: "a note", Fix: "another"}}}
}

// TestDrawingsAreComplete: every stage and every edge is drawn, and of the source
// its name without its folder.
func TestDrawingsAreComplete(t *testing.T) {
	dot, mermaid := DOT(plan()), Mermaid(plan())
	for _, s := range plan().Steps {
		if !strings.Contains(dot, `"`+s.ID+`"`) || !strings.Contains(mermaid, "  "+s.ID) {
			t.Errorf("%s is not drawn", s.ID)
		}
	}
	if n, m := strings.Count(mermaid, "-->"), strings.Count(dot, " -> "); n != 3 || m != 3 {
		t.Errorf("%d and %d edges are drawn, must be 3", n, m)
	}
	for _, text := range []string{dot, mermaid, Text(plan())} {
		if strings.Contains(text, "/home") || !strings.Contains(text, "patients.csv") {
			t.Errorf("the source is not named, or with its folder: %s", text)
		}
	}
}

// TestTextSaysWhatIsNotProven, what holds of the source, and how findings are mended.
func TestTextSaysWhatIsNotProven(t *testing.T) {
	text := Text(plan())
	for _, want := range []string{"none: stage train: the encoder has no noise", "epsilon (published)  0.36", "rows(4)", "any", "clean.out",
		"note W33 at train: a note\n  instead: another\n", "train.train: sensitivity 1 (L2)", "\n  train.target: income (from stage utility)\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
}
