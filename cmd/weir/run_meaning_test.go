package main

import (
	"strings"
	"testing"

	"weir/pipeline/figure"
	"weir/record"
)

// declaredBy are the declarations of stages of these kinds, as a record of them has them.
func declaredBy(t *testing.T, list ...record.Stage) figure.ByStage {
	t.Helper()
	declared, err := declaredOf(&record.Run{Stages: list})
	if err != nil {
		t.Fatal(err)
	}
	return declared
}

// TestFiguresAreReadBesideOthers: the figures that a headline is read beside stand below it, not
// as figures of their own.
func TestFiguresAreReadBesideOthers(t *testing.T) {
	metrics := map[string]float64{"u.auroc": .7, "u.auroc_real_train": .8, "u.accuracy": .9, "u.accuracy_majority": .85, "m.total_variation": .1, "m.total_variation_independent": .2}
	declared := declaredBy(t, record.Stage{ID: "u", Kind: "downstream"}, record.Stage{ID: "m", Kind: "marginals"})
	if got := strings.Join(declared.Headlines(metrics), " "); got != "m.total_variation u.auroc u.accuracy" {
		t.Errorf("headlines are %v", got)
	}
	for key, want := range map[string]string{"u.auroc": "0.8000  learnt from real rows", "u.accuracy": "0.8500  always guessing", "m.total_variation": "0.2000  independent columns"} {
		if got := meaningOf(declared, metrics, key); !strings.Contains(got, want) {
			t.Errorf("%s is explained as %q, without %q", key, got, want)
		}
	}
}

// TestTellingApartIsNoSkillOfLearning: an AUROC of 1 is the best that a learner can do and
// the worst that can be said of rows that are to pass for real ones.
func TestTellingApartIsNoSkillOfLearning(t *testing.T) {
	rec := &record.Run{Metrics: map[string]float64{"told.auroc": .9}, Stages: []record.Stage{{ID: "told",
		Kind: "detectability"}}}
	var b strings.Builder
	figures(&b, rec, declaredBy(t, rec.Stages...))
	if got := b.String(); !strings.Contains(got, ".5 is best") || strings.Contains(got, "1 is best") {
		t.Errorf("the figures of a run say %q", got)
	}
}

// TestFiguresOfAnUnknownKindArePlain: a record of a kind that this program lacks shows its first
// two figures, without words and intervals.
func TestFiguresOfAnUnknownKindArePlain(t *testing.T) {
	rec := &record.Run{Metrics: map[string]float64{"x.auroc": .9, "x.auroc_low": .8, "x.auroc_high": .95},
		Stages: []record.Stage{{ID: "x", Kind: "of_another_weir"}}}
	var b strings.Builder
	figures(&b, rec, declaredBy(t, rec.Stages...))
	if got := b.String(); strings.Contains(got, " to ") || strings.Contains(got, "best") || strings.Count(got, "\n  x.") != 2 {
		t.Errorf("the figures of a run say %q", got)
	}
}
