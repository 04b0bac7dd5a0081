package main

import (
	"slices"
	"strings"
	"testing"

	"weir/record"
)

// TestEveryHeadlineIsExplained: a figure that is shown first has words, and the figures
// that it is read beside stand below it, not as figures of their own.
func TestEveryHeadlineIsExplained(t *testing.T) {
	for _, name := range preferred() {
		if meaningOf(nil, "", "stage."+name) == "" {
			t.Errorf("%s has no words", name)
		}
	}
	metrics := map[string]float64{"u.auroc": .7, "u.auroc_real_train": .8, "u.accuracy": .9, "u.accuracy_majority": .85, "m.total_variation": .1, "m.total_variation_independent": .2}
	if got := headlines(metrics); !slices.Equal(got, []string{"m.total_variation", "u.auroc", "u.accuracy"}) {
		t.Errorf("headlines are %v", got)
	}
	for key, want := range map[string]string{"u.auroc": "0.8000  learnt from real rows", "u.accuracy": "0.8500  always guessing", "m.total_variation": "0.2000  columns drawn independently"} {
		if got := meaningOf(metrics, "downstream", key); !strings.Contains(got, want) {
			t.Errorf("%s is explained as %q, without %q", key, got, want)
		}
	}
}

// TestTellingApartIsNoSkillOfLearning: an AUROC of 1 is the best that a learner can do and
// the worst that can be said of rows that are to pass for real ones.
func TestTellingApartIsNoSkillOfLearning(t *testing.T) {
	metrics := map[string]float64{"told.auroc": .9}
	if got := meaningOf(metrics, "detectability", "told.auroc"); !strings.Contains(got, ".5 is best") || strings.Contains(got, "1 is best") {
		t.Errorf("the AUROC of telling apart is explained as %q", got)
	}
	rec := &record.Run{Metrics: metrics, Stages: []record.Stage{{ID: "told", Kind: "detectability"}}}
	var b strings.Builder
	if figures(&b, rec); !strings.Contains(b.String(), ".5 is best") {
		t.Errorf("the figures of a run say %q", b.String())
	}
}
