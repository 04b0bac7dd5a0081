package main

import (
	"encoding/json"
	"strings"
	"testing"

	"weir/pipeline"
	"weir/pipeline/words"
	"weir/record"
	"weir/record/report"
)

// declaredBy returns the declarations of stages of these kinds, as a record of them has them.
func declaredBy(t *testing.T, list ...record.Stage) pipeline.StageFigures {
	t.Helper()
	declared, err := declaredOf(&record.Run{Stages: list})
	if err != nil {
		t.Fatal(err)
	}
	return declared
}

// ended returns what the end of a run says of its figures.
func ended(t *testing.T, rec *record.Run) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(report.Headlines(rec, declaredBy(t, rec.Stages...), words.Wrap))
	return b.String()
}

// TestFiguresAreReadBesideOthers: the figures that a headline is read beside stand below it, not
// as figures of their own; independent columns at the same epsilon in the place of those without noise.
func TestFiguresAreReadBesideOthers(t *testing.T) {
	rec := &record.Run{Stages: []record.Stage{{ID: "u", Kind: "downstream"}, {ID: "m", Kind: "marginals"}},
		Metrics: map[string]float64{"u.auroc": .7, "u.auroc_real_train": .8, "u.accuracy": .9, "u.accuracy_majority": .85,
			"m.total_variation": .1, "m.total_variation_independent": .2}}
	if got := strings.Join(declaredBy(t, rec.Stages...).Headlines(rec.Metrics), " "); got !=
		"m.total_variation u.auroc u.accuracy" {
		t.Errorf("headlines are %v", got)
	}
	for _, want := range []string{"0.8000  learnt from real rows", "0.8500  always guessing",
		"0.2000  independent columns without noise"} {
		if got := ended(t, rec); !strings.Contains(got, want) {
			t.Errorf("a run ends with\n%s, without %q", got, want)
		}
	}
	rec.Metrics["m.total_variation_baseline"] = .3
	if got := ended(t, rec); strings.Contains(got, "without noise") ||
		!strings.Contains(got, "0.3000  independent columns at the same epsilon") {
		t.Errorf("a run ends with\n%s", got)
	}
}

// TestEndOfARunWithoutFigures says that nothing was compared, of a table alone.
func TestEndOfARunWithoutFigures(t *testing.T) {
	rec := &record.Run{Tables: []record.Table{{Stage: "sample"}}}
	if got := ended(t, rec); got != "How good it is: not known, since no stage compares it with real rows\n\n" {
		t.Errorf("a run without figures ends with %q", got)
	}
	if got := ended(t, &record.Run{}); got != "" {
		t.Errorf("a run without a table ends with %q", got)
	}
	rec.Stages, rec.Metrics = []record.Stage{{ID: "m", Kind: "measured"}}, map[string]float64{"m.below_noise": .4}
	if got := ended(t, rec); !strings.Contains(got, "by the release alone (no stage") {
		t.Errorf("a run of released figures ends with %q", got)
	}
	rec.Plan = json.RawMessage(`{"stages": [{"id": "m", "outputs": {"out": {"form": "metrics", "class": "private"}}}]}`)
	if got := ended(t, rec); !strings.Contains(got, "(private: computed from real rows)") {
		t.Errorf("a run of private figures ends with %q", got)
	}
}

// TestEndOfARunHasTheVerdicts of the report: the word beside the figure, its note below, and once why which figures
// have none.
func TestEndOfARunHasTheVerdicts(t *testing.T) {
	rec := &record.Run{Stages: []record.Stage{{ID: "u", Kind: "downstream"}, {ID: "m", Kind: "marginals"}},
		Notes: map[string]string{"m.statistic_loss": "income mean 5 real, 6 synthetic"},
		Metrics: map[string]float64{"u.auroc": .79, "u.auroc_low": .78, "u.auroc_high": .81, "u.auroc_real_train": .8,
			"u.accuracy":        .9,
			"m.total_variation": .4, "m.statistic_loss": .2, "m.rows.real": 1000, "u.rows.real": 86}}
	got := ended(t, rec)
	for _, want := range []string{"0.4000  lost\n", "0.2000  partly kept\n", "    income mean 5 real, 6 synthetic\n",
		"0.7900  (0.7800 to 0.8100)  no verdict\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("a run ends with\n%s, without %q", got, want)
		}
	}
	if strings.Count(got, "no verdict on u.auroc, u.accuracy: real has 86 rows, a verdict needs 200\n") != 1 {
		t.Errorf("a run ends with\n%s, must say once why there is no verdict", got)
	}
	delete(rec.Metrics, "u.rows.real")
	if got := ended(t, rec); !strings.Contains(got, "(0.7800 to 0.8100)  kept\n") {
		t.Errorf("a run ends with\n%s", got)
	}
}

// TestUndefinedFiguresSayWhy: a headline without a value is shown with its note.
func TestUndefinedFiguresSayWhy(t *testing.T) {
	rec := &record.Run{Stages: []record.Stage{{ID: "u", Kind: "downstream"}},
		Notes:   map[string]string{"u.auroc": "one class alone"},
		Metrics: map[string]float64{"u.accuracy": .9}}
	if got := ended(t, rec); !strings.Contains(got, "undefined  no verdict\n") ||
		!strings.Contains(got, "no verdict on u.auroc: one class alone\n") {
		t.Errorf("a run ends with\n%s", got)
	}
}

// TestTellingApartIsNoSkillOfLearning: an AUROC of 1 is the best that a learner can do and
// the worst that can be said of rows that are to pass for real ones.
func TestTellingApartIsNoSkillOfLearning(t *testing.T) {
	rec := &record.Run{Metrics: map[string]float64{"told.auroc": .9}, Stages: []record.Stage{{ID: "told",
		Kind: "detectability"}}}
	var b strings.Builder
	b.WriteString(report.Headlines(rec, declaredBy(t, rec.Stages...), words.Wrap))
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
	b.WriteString(report.Headlines(rec, declaredBy(t, rec.Stages...), words.Wrap))
	if got := b.String(); strings.Contains(got, " to ") || strings.Contains(got, "best") || strings.Count(got, "\n  x.") !=
		2 {
		t.Errorf("the figures of a run say %q", got)
	}
}
