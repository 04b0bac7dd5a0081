package report

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

func TestVerdicts(t *testing.T) {
	nan := math.NaN()
	figure := func(name string, v float64) Figure { return Figure{Name: name, Value: v} }
	for _, c := range []struct {
		name string
		kind string
		in   []Figure
		word string
	}{
		// (0.79-0.5)/(0.8-0.5) = 0.97 of the way from chance to what real rows teach.
		{"near what real rows teach", "downstream", []Figure{figure("auroc", 0.79), figure("auroc_real_train", 0.8)}, kept},
		{"half way", "downstream", []Figure{figure("auroc", 0.7), figure("auroc_real_train", 0.8)}, partly},
		{"chance", "downstream", []Figure{figure("auroc", 0.5), figure("auroc_real_train", 0.8)}, lost},
		{"nothing to reach", "downstream", []Figure{figure("auroc", 0.79)}, open},
		{"undefined", "downstream", []Figure{{Name: "auroc", Value: nan, Note: "one class"}}, open},
		{"real rows teach nothing", "downstream", []Figure{figure("auroc", 0.5), figure("auroc_real_train", 0.5)}, open},
		{"real rows teach less than chance", "downstream", []Figure{figure("auroc", 0.51), figure("auroc_real_train", 0.45)},
			open},
		{"real rows teach hardly more than chance", "downstream", []Figure{figure("auroc", 0.6), figure("auroc_real_train",
			0.509)}, open},
		{"real rows teach a little", "downstream", []Figure{figure("auroc", 0.52), figure("auroc_real_train", 0.52)}, kept},
		{"real rows teach as much as the commonest class", "downstream", []Figure{figure("accuracy", 0.9),
			figure("accuracy_real_train", 0.9), figure("accuracy_majority", 0.9)}, open},
		{"real rows teach more than the commonest class", "downstream", []Figure{figure("accuracy", 0.9),
			figure("accuracy_real_train", 0.9), figure("accuracy_majority", 0.6)}, kept},
		{"no scale, near", "marginals", []Figure{figure("total_variation", 0.04)}, kept},
		{"no scale, far", "marginals", []Figure{figure("total_variation", 0.4)}, lost},
		// Independent columns are no lower end for single columns: they are as near as real rows.
		{"no scale of single columns", "marginals", []Figure{figure("total_variation", 0.1),
			figure("total_variation_independent", 0.001), figure("total_variation_real_train", 0.002)}, partly},
		// (0.35-0.4)/(0.1-0.4) = 0.17 of the way.
		{"little better than independent", "marginals", []Figure{figure("total_variation_2way", 0.35),
			figure("total_variation_2way_independent", 0.4), figure("total_variation_2way_real_train", 0.1)}, lost},
		{"a coin's guess", "detectability", []Figure{figure("auroc", 0.52)}, kept},
		{"told apart", "detectability", []Figure{figure("auroc", 0.99)}, lost},
		{"told apart the other way", "detectability", []Figure{figure("auroc", 0.01)}, lost},
		{"an attack that finds nothing", "disclosure", []Figure{figure("membership_auroc", 0.505)}, quiet},
		{"an attack that succeeds", "disclosure", []Figure{figure("membership_auroc", 0.7)}, leak},
		{"an attack turned round", "disclosure", []Figure{figure("membership_auroc", 0.3)}, quiet},
		{"what may be chance", "disclosure", []Figure{figure("closer_to_train", 0.6), figure("closer_to_train_low", 0.45),
			figure("closer_to_train_high", 0.75)}, quiet},
		{"beyond chance", "disclosure", []Figure{figure("closer_to_train", 0.6), figure("closer_to_train_low", 0.56),
			figure("closer_to_train_high", 0.64)}, hint},
		{"discoveries", "regression_discovery", []Figure{figure("reproduced_share", 0.95)}, kept},
		{"few discoveries", "regression_discovery", []Figure{figure("reproduced_share", 0.3)}, lost},
	} {
		r := &Report{Groups: []Group{{Stage: "s", Kind: c.kind, Declared: declared(c.kind), Figures: c.in}}}
		got := r.verdicts()
		if len(got) != 1 || got[0].Word != c.word {
			t.Errorf("%s: %+v, must be %s", c.name, got, c.word)
		}
	}
}

func TestManyCategoriesAreMerged(t *testing.T) {
	c := Column{Name: "job", Labels: make([]string, 40), Real: make([]float64, 40), Synthetic: make([]float64, 40)}
	for i := range c.Labels {
		c.Labels[i], c.Real[i] = fmt.Sprint("job ", i), float64(i)/780 // 0 + 1 + ... + 39 = 780
	}
	labels, real, _ := merge(c)
	if len(labels) != mostBars || labels[0] != "job 26" || labels[mostBars-1] != "26 others" {
		t.Errorf("bars %v", labels)
	}
	// The 26 least shares: (0 + ... + 25)/780 = 325/780.
	if math.Abs(real[mostBars-1]-325.0/780) > 1e-12 {
		t.Errorf("the others have %g, must be %g", real[mostBars-1], 325.0/780)
	}
}

func TestWorstFirst(t *testing.T) {
	r := full()
	list, by := r.losses(1)
	if len(list) != 1 || list[0].Name != "region" || list[0].Value != 0.3 || by != "As in stage marginals." {
		t.Errorf("losses %+v by %s", list, by)
	}
	r.Columns = nil
	if list, by := r.losses(6); len(list) != 2 || list[0].Name != "age" || list[0].Value != 0.1 ||
		!strings.Contains(by, "stage marginals") {
		t.Errorf("losses %+v by %s", list, by)
	}
	if pairs := r.Relations.worst(6); len(pairs) != 1 || pairs[0].Change != "-0.6" {
		t.Errorf("pairs %+v", pairs)
	}
}

// TestNotesStandOnce: a note that several figures of a stage share stands with the first of them, and what is not a
// sentence yet gets its full stop.
func TestNotesStandOnce(t *testing.T) {
	list := notedOnce([]verdict{{Stage: "a", Note: "left out: x"}, {Stage: "a", Note: "left out: x"},
		{Stage: "a", Note: "other"}, {Stage: "b", Note: "left out: x"}})
	for i, want := range []string{"left out: x.", "", "other.", "left out: x."} {
		if got := stopped(list[i].Note); got != want || stopped(got) != want {
			t.Errorf("row %d: the note is %q, must be %q", i, got, want)
		}
	}
}
