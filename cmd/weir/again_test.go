package main

import (
	"encoding/json"
	"testing"

	"weir/pipeline/compile"
)

// TestRepeatsHaveTheSamePlan: the plan of a repeat, which takes the bill of the first, says what compiling it would,
// and its stages are its own. A spec that differs is compiled. All are billed by rdp, which takes a tenth of the time
// of pld.
func TestRepeatsHaveTheSamePlan(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"ganad-rdp-cgan-cervical", "ganad-mst-cervical", "jalko-carat-like",
		"dp-auto-gan-adult"} {
		arg := "specs:" + name
		const quick = "privacy.accountant=rdp"
		first, err := (&specFlags{set: []string{quick}}).compile(arg)
		if err != nil {
			t.Fatal(err)
		}
		again := compileAgain(t, arg, first, quick)
		one, _ := json.Marshal(first)
		other, _ := json.Marshal(again)
		if string(one) != string(other) {
			t.Errorf("%s: the plan of a repeat differs:\n%s\n%s", name, one, other)
		}
		for i := range first.Steps {
			if a, b := &first.Steps[i], &again.Steps[i]; a.ID != b.ID || len(a.Work.Spends) != len(b.Work.Spends) ||
				&a.Work == &b.Work {
				t.Errorf("%s: step %d is %s in one plan and %s in the other", name, i, a.ID, b.ID)
			}
		}
		changed := compileAgain(t, arg, first, quick, "privacy.epsilon=3")
		if changed.Budget == first.Budget || *changed.Epsilon.Proven <= *first.Epsilon.Proven {
			t.Errorf("%s: another budget gives the plan of the first", name)
		}
	}
}

// compileAgain compiles a spec as a repeat of an earlier plan.
func compileAgain(t *testing.T, arg string, before *compile.Plan, set ...string) *compile.Plan {
	t.Helper()
	sp, err := (&specFlags{set: set}).load(arg)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := compile.Again(sp, before)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}
