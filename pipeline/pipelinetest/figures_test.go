package pipelinetest

import (
	"slices"
	"testing"

	"weir/pipeline"
)

// TestUndeclaredFigures: a name that no declaration covers is found, and a part of a figure that
// is declared to have none.
func TestUndeclaredFigures(t *testing.T) {
	declared := pipeline.Figures{{Name: "whole", Interval: true}, {Name: "each", Parts: "column", Beside: []pipeline.Role{pipeline.RealTrain}}}
	var found []string
	for _, m := range Undeclared(declared, []pipeline.Metric{{Name: "whole"}, {Name: "whole_low"}, {Name: "whole", Column: "age"},
		{Name: "each", Column: "age"}, {Name: "each_real_train"}, {Name: "each_baseline"}, {Name: "each_low"}, {Name: "other"}}) {
		found = append(found, m.Key())
	}
	if want := []string{"whole.age", "each_baseline", "each_low", "other"}; !slices.Equal(found, want) {
		t.Errorf("%v are undeclared, must be %v", found, want)
	}
}
