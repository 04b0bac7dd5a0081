package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// day is a study whose spec is edited, and the charges that its ledger should have by now.
type day struct {
	study
	charges int
	runs    []string
}

func newDay(t *testing.T) *day {
	d := &day{study: newStudy(t, 400)}
	d.training("auto")
	return d
}

// step runs the spec as it is now; more is how many charges that has to make.
func (d *day) step(what string, more int, args ...string) runResult {
	d.t.Helper()
	r := d.result(args...)
	d.charges += more
	if got := d.study.charges(); got != d.charges || len(r.Charged) != more && !r.Reused {
		d.t.Errorf("%s: the ledger has %d charges and the run names %d, must have %d, %d of them new", what, got,
			len(r.Charged), d.charges, more)
	}
	d.runs = append(d.runs, r.Run)
	return r
}

// edited replaces text in the spec, then does what step does.
func (d *day) edited(old, new, what string, more int) runResult {
	d.t.Helper()
	d.edit("spec.yaml", old, new)
	return d.step(what, more)
}

// TestReusedOnlyIfCharged: a stored output whose charge the ledger does not hold is never
// used, nor is a noise key that is still there.
func TestReusedOnlyIfCharged(t *testing.T) {
	for name, seed := range map[string][]string{"with a test seed": {"--insecure-noise-seed", "7"},
		"of a generator": nil} {
		d := newDay(t)
		if seed == nil {
			d.edit("spec.yaml", "file: data.csv, domain: domain.yaml, rows_public: 400",
				"demo: cardio, demo_rows: 400, rows_public: 400")
			d.edit("spec.yaml", "  complete: {kind: impute_constant, numbers: {income: 50000}}\n", "")
		}
		first := d.result(seed...)
		if err := os.Remove(first.Ledger); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(filepath.Join(first.Run, "run.json")); err != nil { // which knows that there was a charge
			t.Fatal(err)
		}
		d.edit("spec.yaml", "rows: 50", "rows: 60")
		if r := d.result(seed...); len(r.Charged) != 1 || len(r.From) != 0 {
			t.Errorf("%s: charged %v, reused %v; must be a charge of its own", name, r.Charged, r.From)
		}
	}
}

// TestPlanSaysWhatIsReused, and check and plan refuse what the run would, by the ledger alone.
func TestPlanSaysWhatIsReused(t *testing.T) {
	d := newDay(t)
	d.tight()
	d.edit("spec.yaml", "rows_public: 400}", "rows_public: 400, budget: {epsilon: 1.5, delta: 1e-6}}")
	plan := func(args ...string) (int, string) {
		code, out, errs := d.weir(append([]string{args[0], d.path("spec.yaml"), "--out", d.path("runs")}, args[1:]...)...)
		return code, out + errs
	}
	if code, out := plan("plan"); code != exitDone || !strings.Contains(out, "after 1 new charge") ||
		!strings.Contains(out, "budget           epsilon 1.5; ") {
		t.Errorf("before the first run: %d: %s", code, out)
	}
	if left, _ := filepath.Glob(d.path("*weir-*")); len(left) > 0 {
		t.Errorf("plan left %v", left)
	}
	first := d.step("the first run", 1)
	d.edit("spec.yaml", "rows: 50", "rows: 60")
	if code, out := plan("plan"); code != exitDone || !strings.Contains(out, "reused, charged in run "+
		filepath.Base(first.Run)) || strings.Contains(out, "new charge") {
		t.Errorf("with other rows: %d: %s", code, out)
	}
	d.edit("spec.yaml", "seed: 3", "seed: 4")
	for _, command := range []string{"plan", "check", "run"} {
		if code, out := plan(command); code != exitPrivacy || !strings.Contains(out, "is spent at delta 1e-06; this bill "+
			"would make it") {
			t.Errorf("weir %s: %d, must refuse: %s", command, code, out)
		}
	}
	if d.study.charges() != 1 {
		t.Errorf("%d charges, must be 1", d.study.charges())
	}
}

// TestRunAsks in a terminal, before anything is charged; no is no.
func TestRunAsks(t *testing.T) {
	d := newDay(t)
	answer := func(text string, args ...string) (int, string) {
		var out strings.Builder
		code := execute(t.Context(), streams{in: strings.NewReader(text), out: &out, err: &out, terminal: true,
			build: ownBuild}, append([]string{"run", d.path("spec.yaml"), "--out", d.path("runs")}, args...))
		return code, out.String()
	}
	for _, no := range []string{"n\n", "", "\n", "maybe\n"} {
		if code, out := answer(no); code != exitInterrupted || !strings.Contains(out, "Charge it? [y/N]") ||
			d.exists("data.csv.weir-ledger.jsonl") {
			t.Errorf("%q: exit code %d: %s", no, code, out)
		}
	}
	if left, _ := filepath.Glob(d.path("runs/study/2*")); len(left) > 0 {
		t.Errorf("a declined run left %v", left)
	}
	if code, out := answer("y\n"); code != exitDone || d.charges != 0 || d.study.charges() != 1 {
		t.Errorf("yes: exit code %d: %s", code, out)
	}
	d.edit("spec.yaml", "rows: 50", "rows: 60")
	if code, out := answer(""); code != exitDone || strings.Contains(out, "Charge it?") {
		t.Errorf("nothing to charge: exit code %d: %s", code, out)
	}
	d.edit("spec.yaml", "seed: 3", "seed: 4")
	if code, out := answer("", "--yes"); code != exitDone || strings.Contains(out, "Charge it?") ||
		d.study.charges() != 2 {
		t.Errorf("--yes: exit code %d: %s", code, out)
	}
}

func (s study) exists(name string) bool {
	_, err := os.Lstat(s.path(name))
	return err == nil
}
