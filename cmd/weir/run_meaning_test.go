package main

import (
	"slices"
	"strings"
	"testing"
)

// TestEveryHeadlineIsExplained: a figure that is shown first has words, and the figures
// that it is read beside stand below it, not as figures of their own.
func TestEveryHeadlineIsExplained(t *testing.T) {
	for _, name := range preferred() {
		if meaningOf(nil, "stage."+name) == "" {
			t.Errorf("%s has no words", name)
		}
	}
	metrics := map[string]float64{"u.auroc": .7, "u.auroc_real_train": .8, "u.accuracy": .9, "u.accuracy_majority": .85, "m.total_variation": .1, "m.total_variation_independent": .2}
	if got := headlines(metrics); !slices.Equal(got, []string{"m.total_variation", "u.auroc", "u.accuracy"}) {
		t.Errorf("headlines are %v", got)
	}
	for key, want := range map[string]string{"u.auroc": "0.8000  learnt from real rows", "u.accuracy": "0.8500  always guessing", "m.total_variation": "0.2000  columns drawn independently"} {
		if got := meaningOf(metrics, key); !strings.Contains(got, want) {
			t.Errorf("%s is explained as %q, without %q", key, got, want)
		}
	}
}
