package words

import (
	"slices"
	"testing"

	"weir/pipeline"
)

// TestGroups: a kind stands under what it gives, models first; a group without kinds is left out.
func TestGroups(t *testing.T) {
	out := func(form pipeline.Form) []pipeline.Port { return []pipeline.Port{{Name: "out", Form: form}} }
	newStage := func() pipeline.Stage { return nil }
	reg, err := pipeline.NewRegistry([]pipeline.Kind{
		{Name: "bounds", Doc: "Bounds.", Out: out(pipeline.FormTable), New: newStage},
		{Name: "tree", Doc: "Tree.", Out: out(pipeline.FormModel), New: newStage},
		{Name: "aim", Doc: "Aim.", Out: out(pipeline.FormModel), New: newStage},
		{Name: "sample", Doc: "Sample.", In: out(pipeline.FormModel), Out: out(pipeline.FormTable), Draws: true,
			New: newStage},
		{Name: "count", Doc: "Count.", Out: out(pipeline.FormCount), New: newStage},
		{Name: "forest", Doc: "Forest.", Out: out(pipeline.FormDetector), New: newStage},
		{Name: "remove", Doc: "Remove.", In: out(pipeline.FormDetector), Out: out(pipeline.FormTable), New: newStage},
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, group := range Groups(reg) {
		got = append(got, group.Title+":")
		for _, kind := range group.Kinds {
			got = append(got, kind.Name)
		}
	}
	want := []string{"Models:", "aim", "tree", "Rows of a model:", "sample", "Answers without a model:", "count",
		"Anomalies:", "forest", "remove", "Preparation:", "bounds"}
	if !slices.Equal(got, want) {
		t.Errorf("groups are %v, must be %v", got, want)
	}
}
