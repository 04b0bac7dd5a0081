package main

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"weir/internal/stattest"
	"weir/pipeline/compile"
	"weir/runtime"
	"weir/runtime/dataset"
	"weir/runtime/review"
)

// budgetCheck checks against main and decodes; the exit code must be as expected.
func (s study) budgetCheck(code int, args ...string) review.Report {
	s.t.Helper()
	got, out, errs := s.weir(append([]string{"budget", "check", "--against", "main", "--json"}, args...)...)
	if got != code {
		s.t.Fatalf("exit %d, must be %d: %s%s", got, code, out, errs)
	}
	var r review.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		s.t.Fatalf("%v in %s", err, out)
	}
	if r.OK != (code == exitDone) {
		s.t.Errorf("ok is %v at exit %d", r.OK, code)
	}
	return r
}

// cappedStudy returns a study of noisy marginals, whose dataset has a budget of epsilon 1.2, in a
// repository.
func cappedStudy(t *testing.T) study {
	s := newStudy(t, 300)
	s.write("spec.yaml", `weir: 1
name: study
dataset: {file: data.csv, domain: domain.yaml, rows_public: 300, budget: {epsilon: 1.2, delta: 1e-5}}
privacy: {epsilon: 1, delta: 1e-6, accountant: rdp, adjacency: replace_one}
seed: 3
stages:
  features: {kind: drop, columns: [id]}
  clean: {kind: bounds, outside: missing}
  train: {kind: independent}
  sample: {kind: sample, rows: 50}
`)
	s.repository()
	return s
}

// TestBudgetCheck: each case edits a spec that plans 1 of 1.2, and says whether the
// planned spending is still allowed, and what is told besides.
func TestBudgetCheck(t *testing.T) {
	spec := func(s study, pairs ...string) {
		for i := 0; i+1 < len(pairs); i += 2 {
			s.edit("spec.yaml", pairs[i], pairs[i+1])
		}
	}
	const budget = ", budget: {epsilon: 1.2, delta: 1e-5}"
	s := cappedStudy(t)
	t.Chdir(s.dir)
	restore := s.snapshot()
	for name, c := range map[string]struct {
		change func(s study)
		code   int
		told   string // in the text
	}{
		"nothing": {func(s study) {}, exitDone, "within"},
		"within": {func(s study) { spec(s, "{epsilon: 1, delta: 1e-6", "{epsilon: 1.1, delta: 1e-6") }, exitDone,
			"within"},
		"a comment": {func(s study) { spec(s, "seed: 3", "seed: 3 # three") }, exitDone, "same"},
		"beyond":    {func(s study) { spec(s, "{epsilon: 1, delta: 1e-6", "{epsilon: 2, delta: 1e-6") }, exitPrivacy, "OVER"},
		"raised with it": {func(s study) {
			spec(s, "{epsilon: 1, delta: 1e-6", "{epsilon: 2, delta: 1e-6", "epsilon: 1.2", "epsilon: 5")
		}, exitPrivacy, "the budget itself was raised from 1.2 to 5"},
		"raised alone": {func(s study) { spec(s, "epsilon: 1.2", "epsilon: 5") }, exitDone,
			"the budget itself was raised from 1.2 to 5"},
		"removed with it": {func(s study) { spec(s, "{epsilon: 1, delta: 1e-6", "{epsilon: 2, delta: 1e-6", budget, "") },
			exitPrivacy, "was removed"},
		"removed alone": {func(s study) { spec(s, budget, "") }, exitDone,
			"the budget, epsilon 1.2 at delta 1e-05, was removed"},
		"a looser delta": {func(s study) { spec(s, "delta: 1e-5", "delta: 1e-4") }, exitDone,
			"the delta of the budget was raised from 1e-05 to 0.0001"},
		"a looser adjacency": {func(s study) { spec(s, "replace_one", "add_remove", "rows_public: 300, ", "") }, exitPrivacy,
			"the adjacency was loosened from replace_one to add_remove"},
		"an experiment": {func(s study) { spec(s, "seed: 3", "seed: 3\nexperiment: {repeats: 3}") }, exitPrivacy,
			"3 runs now"},
		"a small experiment": {func(s study) {
			spec(s, "{epsilon: 1, delta: 1e-6", "{epsilon: 0.2, delta: 1e-6", "seed: 3", "seed: 3\nexperiment: {repeats: 3}")
		}, exitDone, "3 runs now"},
		"a grid": {func(s study) { spec(s, "seed: 3", "seed: 3\nexperiment: {grid: {privacy.epsilon: [0.5, 1, 1.2]}}") },
			exitPrivacy, "3 runs now"},
		"rows": {func(s study) {
			s.write("more.yaml", strings.Replace(s.read("spec.yaml"), "rows: 50", "rows: 60", 1))
			s.git("add", "-A")
		}, exitDone, "new"},
		"a new spec": {func(s study) {
			s.write("more.yaml", strings.Replace(s.read("spec.yaml"), "seed: 3", "seed: 4", 1))
			s.git("add", "-A")
		}, exitPrivacy, "new"},
		"without its budget": {func(s study) {
			s.write("more.yaml", strings.NewReplacer("seed: 3", "seed: 4", budget, "").Replace(s.read("spec.yaml")))
			s.git("add", "-A")
		}, exitPrivacy, "new"},
		"not known to git": {func(s study) {
			s.write("more.yaml", strings.Replace(s.read("spec.yaml"), "seed: 3", "seed: 4",
				1))
		}, exitDone, "within"},
		"another file": {func(s study) {
			s.write("copy.csv", s.read("data.csv"))
			spec(s, "file: data.csv", "file: copy.csv", "{epsilon: 1, delta: 1e-6", "{epsilon: 2, delta: 1e-6")
		}, exitPrivacy, "names another dataset, copy.csv"},
		"through a link": {func(s study) {
			s.must(os.Symlink("data.csv", s.path("link.csv")))
			s.another("file: data.csv", "file: link.csv")
		}, exitPrivacy, "new        more.yaml"},
		"through a link to a table that is not here": {func(s study) {
			s.must(os.Symlink("data.csv", s.path("link.csv")))
			s.must(os.Remove(s.path("data.csv")))
			s.another("file: data.csv", "file: link.csv")
		}, exitPrivacy, "new        more.yaml"},
		"by its full path": {func(s study) { s.another("file: data.csv", "file: "+s.path("data.csv")) }, exitPrivacy,
			"new        more.yaml"},
		"with a ledger of its own": {func(s study) { s.another("file: data.csv", "file: data.csv, ledger: mine.jsonl") },
			exitPrivacy, "new        more.yaml"},
		"under another name": {func(s study) {
			s.git("mv", "spec.yaml", "other.yaml")
			s.edit("other.yaml", "{epsilon: 1, delta: 1e-6", "{epsilon: 2, delta: 1e-6")
		}, exitPrivacy, "gone"},
		"in a folder of another name": {func(s study) { s.moved("epsilon: 1.2", "epsilon: 5") }, exitDone,
			"of data.csv, which no spec names any more"},
		"in a folder of another name, with more": {func(s study) {
			s.moved("epsilon: 1.2", "epsilon: 200", "{epsilon: 1, delta: 1e-6", "{epsilon: 50, delta: 1e-6")
		}, exitPrivacy, "OVER"},
		"in a folder of another name, after a look": {func(s study) {
			s.moved("seed: 3", "seed: 3\nexperiment: {repeats: 3}", budget, "")
		}, exitPrivacy, "OVER"},
		"in two folders of other names": {func(s study) {
			s.moved()
			s.must(os.CopyFS(s.path("three"), os.DirFS(s.path("two"))))
			s.git("add", "three/spec.yaml")
		}, exitPrivacy, "OVER"},
		"gone, and a new one of made-up rows": {func(s study) {
			s.git("rm", "-q", "spec.yaml")
			s.write("demo.yaml", "weir: 1\nname: demo\ndataset: {demo: cardio}\nprivacy: {epsilon: 50, delta: 1e-6, "+
				"accountant: rdp, adjacency: add_remove}\nstages:\n  nameless: {kind: drop, columns: [id]}\n"+
				"  train: {kind: independent}\n")
			s.git("add", "demo.yaml")
		}, exitDone, "nothing bounds what is spent"},
		"by a pattern": {func(s study) { s.another("file: data.csv", "file: d*.csv") }, exitPrivacy,
			"new        more.yaml"},
		"moved as it was": {func(s study) { s.git("mv", "spec.yaml", "other.yaml") }, exitDone, "gone"},
		"broken": {func(s study) { spec(s, "kind: independent", "kind: nonsense") }, exitDone,
			"cannot run as it is now"},
		"no spec any more": {func(s study) { s.git("rm", "-q", "spec.yaml") }, exitDone, "went with the spec"},
		"no privacy at all": {func(s study) {
			spec(s, "{epsilon: 1, delta: 1e-6",
				"{epsilon: inf, claims: none, delta: 1e-6")
		}, exitDone, "within"},
		"its other filter": {func(s study) { spec(s, "delta: 1e-5}", "delta: 1e-5, filter: gaussian}") }, exitDone,
			"the filter of the budget was changed from rdp to gaussian"},
	} {
		t.Run(name, func(t *testing.T) {
			s := study{t, s.dir}
			c.change(s)
			if stattest.Long { // the same check again, as JSON; its other tests read that
				s.budgetCheck(c.code)
			}
			code, text, errs := s.weir("budget", "check", "--against", "main")
			if code != c.code || !strings.Contains(text, c.told) || (code == exitPrivacy) != strings.Contains(errs,
				"it is that budget which counts") {
				t.Errorf("exit %d, must be %d and tell %q:\n%s%s", code, c.code, c.told, text, errs)
			}
		})
		restore()
	}
}

// moved moves spec and table to another folder and edits the spec there. No charge tells which dataset it is.
func (s study) moved(pairs ...string) {
	s.must(os.Mkdir(s.path("two"), 0o755))
	s.must(os.Rename(s.path("data.csv"), s.path("two/data.csv")))
	s.git("mv", "spec.yaml", "domain.yaml", "two")
	for i := 0; i+1 < len(pairs); i += 2 {
		s.edit("two/spec.yaml", pairs[i], pairs[i+1])
	}
}

// another writes a new spec on the dataset, that spends 2 and names it otherwise.
func (s study) another(old, new string) {
	s.write("more.yaml", strings.NewReplacer(old, new, "{epsilon: 1, delta: 1e-6", "{epsilon: 2, delta: 1e-6",
		", budget: {epsilon: 1.2, delta: 1e-5}", "").Replace(s.read("spec.yaml")))
	s.git("add", "more.yaml")
}

// TestBudgetCheckReadsPublicFiles: another public file, from which a paid stage's input follows,
// makes another charge of the same spec.
func TestBudgetCheckReadsPublicFiles(t *testing.T) {
	s := cappedStudy(t).referring()
	if code, _, errs := s.weir("run", "--out", s.path("runs"), s.path("sub/spec.yaml")); code != exitDone {
		t.Fatal(errs)
	}
	s.commit("ledger")
	t.Chdir(s.dir)
	s.budgetCheck(exitDone)
	s.write("sub/ref.csv", "group,flag\nb,1\nb,0\nc,1\n")
	if r := s.budgetCheck(exitPrivacy); !(*r.Datasets[0].Budgets[0].Now > 1.2) {
		t.Errorf("%+v", r.Datasets[0].Budgets[0])
	}
}

// TestBudgetCheckTellsPartsApart: where a stage reads a public file, no charge says of which repeat it is. Charges of
// the first two repeats pay for none of a part that begins behind them, and charges of the part do.
func TestBudgetCheckTellsPartsApart(t *testing.T) {
	s := cappedStudy(t).referring()
	t.Chdir(s.dir)
	pay := func() {
		if code, _, errs := s.weir("run", "--yes", "--out", s.path("runs"), "sub/spec.yaml"); code != exitDone {
			t.Fatal(errs)
		}
		s.commit("ledger")
	}
	s.edit("sub/spec.yaml", "budget: {epsilon: 1.2,", "budget: {epsilon: 50,")
	s.edit("sub/spec.yaml", "\nstages:", "\nexperiment: {repeats: 2}\nstages:")
	pay()
	standing := func() (spent, planned float64) {
		b := s.budgetCheck(exitDone).Datasets[0].Budgets[0]
		return *b.Spent, *b.Now
	}
	two, ofTwo := standing()
	s.edit("sub/spec.yaml", "repeats: 2", "repeats: 4, first_repeat: 3")
	_, four := standing()
	pay()
	paid, ofPaid := standing()
	if ofTwo != two || four <= two || math.Abs(four-paid) > 1e-9 || ofPaid != paid {
		t.Errorf("two repeats %g, of which %g is paid; with a part beside them %g, then %g, of which %g is paid", ofTwo, two,
			four, ofPaid, paid)
	}
}

// TestBudgetCheckKnowsPartsOfTwoSpecs: parts that two specs hold, the later one first, are all paid once both were run;
// where one of them alone was run, the other is still to pay.
func TestBudgetCheckKnowsPartsOfTwoSpecs(t *testing.T) {
	s := cappedStudy(t).referring()
	t.Chdir(s.dir)
	s.edit("sub/spec.yaml", "budget: {epsilon: 1.2,", "budget: {epsilon: 50,")
	whole := s.read("sub/spec.yaml")
	parted := func(part string) string {
		return strings.Replace(whole, "\nstages:", "\nexperiment: {"+part+"}\nstages:", 1)
	}
	s.write("sub/spec.yaml", parted("repeats: 4, first_repeat: 3"))
	s.write("sub/tail.yaml", parted("repeats: 2"))
	var planned, spent []float64
	for _, name := range []string{"sub/tail.yaml", "sub/spec.yaml"} {
		if code, _, errs := s.weir("run", "--yes", "--out", s.path("runs"), name); code != exitDone {
			t.Fatal(errs)
		}
		s.commit(name)
		b := s.budgetCheck(exitDone).Datasets[0].Budgets[0]
		planned, spent = append(planned, *b.Now), append(spent, *b.Spent)
	}
	if spent[0] >= spent[1] || math.Abs(planned[0]-spent[1]) > 1e-9 || planned[1] != spent[1] {
		t.Errorf("spent %v, and with what is planned %v: after one part all four repeats, after both nothing more", spent,
			planned)
	}
}

// TestBudgetCheckCountsARepeatOnce: two repeats that were charged in two folders pay for no later repeat, of a part or
// of the whole, though their charges are as many as its runs.
func TestBudgetCheckCountsARepeatOnce(t *testing.T) {
	s := cappedStudy(t).referring()
	t.Chdir(s.dir)
	s.edit("sub/spec.yaml", "budget: {epsilon: 1.2,", "budget: {epsilon: 50,")
	s.edit("sub/spec.yaml", "\nstages:", "\nexperiment: {repeats: 2}\nstages:")
	for _, out := range []string{"runs", "elsewhere"} {
		if code, _, errs := s.weir("run", "--yes", "--out", s.path(out), "sub/spec.yaml"); code != exitDone {
			t.Fatal(errs)
		}
	}
	s.commit("ledger")
	last := "repeats: 2"
	for _, repeats := range []string{"repeats: 4", "repeats: 4, first_repeat: 3"} {
		s.edit("sub/spec.yaml", last, repeats)
		last = repeats
		if b := s.budgetCheck(exitDone).Datasets[0].Budgets[0]; *b.Now <= *b.Spent {
			t.Errorf("%s: %g with all that is planned, where %g is spent", repeats, *b.Now, *b.Spent)
		}
	}
}

// references is a public file by which imputedStages complete the groups of the study.
const (
	references    = "group,flag\na,1\nb,0\nc,1\n"
	imputedStages = `  trimmed: {kind: select, columns: [group, flag]}
  ref: {kind: read, file: ref.csv, class: public, like: trimmed, declared_by: me}
  imputed: {kind: impute_knn, from: trimmed, reference: ref, neighbors: 1, scope: reference, columns: [group]}
`
)

// referring makes the paid stage follow from a public file.
func (s study) referring() study {
	s.t.Helper()
	s.must(os.Mkdir(s.path("sub"), 0o755))
	s.write("sub/ref.csv", references)
	s.edit("domain.yaml", "categories: [a, b, c]", "categories: [a, b, c], nullable: true")
	s.edit("spec.yaml", "file: data.csv, domain: domain.yaml", "file: ../data.csv, domain: ../domain.yaml")
	s.edit("spec.yaml", "  clean: {kind: bounds, outside: missing}\n  train: {kind: independent}", imputedStages+"  train: {kind: independent, from: imputed}")
	s.git("mv", "spec.yaml", "sub/spec.yaml")
	return s
}

// TestBudgetCheckKnowsTheLedger: table, ledger and spec under new names are the same dataset,
// by the id that the ledger keeps.
func TestBudgetCheckKnowsTheLedger(t *testing.T) {
	s := cappedStudy(t)
	s.result()
	s.git("add", "-f", "data.csv.weir-ledger.jsonl")
	s.git("commit", "-qm", "ledger")
	t.Chdir(s.dir)
	s.another("file: data.csv", "file: other.csv")
	s.git("rm", "-q", "spec.yaml")
	s.must(os.Rename(s.path("data.csv.weir-ledger.jsonl"), s.path("other.csv.weir-ledger.jsonl")))
	s.budgetCheck(exitPrivacy)
}

// TestBudgetCheckCountsWhatAnHeirSpent: what a moved study has been charged counts against the budget that left, though
// it plans nothing more.
func TestBudgetCheckCountsWhatAnHeirSpent(t *testing.T) {
	s := cappedStudy(t)
	t.Chdir(s.dir)
	s.moved("{epsilon: 1, delta: 1e-6", "{epsilon: 50, delta: 1e-6", ", budget: {epsilon: 1.2, delta: 1e-5}", "")
	if code, _, errs := s.weir("run", "two/spec.yaml", "--yes", "--out", s.path("runs")); code != exitDone {
		t.Fatal(errs)
	}
	datasets := s.budgetCheck(exitPrivacy).Datasets
	heir := datasets[len(datasets)-1]
	if b := heir.Budgets[0]; heir.Charges != 1 || b.Left != "data.csv" || *b.Spent < 40 || *b.Now != *b.Spent {
		t.Errorf("%+v, must count the charge of the moved study alone", heir)
	}
}

// TestBudgetCheckCountsTheLedger: what was spent counts, once. A run of the spec itself is
// no growth; a ledger without a line that the revision has does not forget it.
func TestBudgetCheckCountsTheLedger(t *testing.T) {
	s := cappedStudy(t)
	t.Chdir(s.dir)
	s.result()
	r := s.budgetCheck(exitDone)
	if d := r.Datasets[0]; d.Charges != 1 || *d.Budgets[0].Spent < 0.9 ||
		*d.Budgets[0].Now > *d.Budgets[0].Before*(1+1e-9) {
		t.Errorf("a run of the spec itself grows its spending: %+v", d)
	}
	s.edit("spec.yaml", "rows: 50", "rows: 60") // what is paid does not change
	s.budgetCheck(exitDone)
	s.edit("spec.yaml", "seed: 3", "seed: 4") // a new release beside the paid one
	s.budgetCheck(exitPrivacy)
	s.commit("over it already")
	s.budgetCheck(exitDone) // no growth
	s.edit("spec.yaml", "seed: 4", "seed: 3")
	s.edit("spec.yaml", "epsilon: 1,", "epsilon: 1.3,")
	s.git("rm", "-q", "data.csv.weir-ledger.jsonl")
	if err := os.Remove(s.path("data.csv.weir-owner.json")); err != nil {
		t.Fatal(err)
	}
	r = s.budgetCheck(exitPrivacy)
	if d := r.Datasets[0]; d.Charges != 1 || len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "lacks 1 charge of main") {
		t.Errorf("a ledger that was removed: %+v, %q", d, r.Notes)
	}
	s.write("data.csv.weir-ledger.jsonl", "{}\n")
	if code, _, errs := s.weir("budget", "check", "--against", "main"); code != exitMismatch || !strings.Contains(errs,
		"line 1") {
		t.Errorf("an altered ledger: exit %d, %s", code, errs)
	}
}

// TestRecipesAreThoseOfRuns: what the check knows a charge by is what a run writes.
func TestRecipesAreThoseOfRuns(t *testing.T) {
	s := newStudy(t, 300)
	s.result()
	entries, err := dataset.ReadLedger(s.path("data.csv.weir-ledger.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	sp, err := (&specFlags{}).load(s.path("spec.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := compile.Compile(sp)
	if err != nil {
		t.Fatal(err)
	}
	recipes, err := runtime.Recipes(plan, entries[0].Dataset, 0)
	if err != nil || recipes["train"] != entries[0].Recipe {
		t.Errorf("the recipe is %s, must be %s (%v)", recipes["train"], entries[0].Recipe, err)
	}
}

// TestBudgetCheckUsage: an explicit list, what is wrong with one, and one that leaves out the spec whose budget left.
func TestBudgetCheckUsage(t *testing.T) {
	s := cappedStudy(t)
	t.Chdir(s.dir)
	s.write("more.yaml", strings.NewReplacer("seed: 3", "seed: 4", "epsilon: 1,", "epsilon: 2,",
		", budget: {epsilon: 1.2, delta: 1e-5}", "").Replace(s.read("spec.yaml")))
	s.write("bad.yaml", "weir: 1\nstages: {}\n")
	r := s.budgetCheck(exitPrivacy, "more.yaml") // the budget is declared by another spec of main
	if len(r.Datasets[0].Specs) != 1 || r.Datasets[0].Budgets[0].Spec != "spec.yaml" {
		t.Errorf("%+v", r.Datasets[0])
	}
	s.budgetCheck(exitDone, "spec.yaml", "./spec.yaml")
	for _, c := range [][2]string{{"bad.yaml", "dataset"}, {"absent.yaml", "absent.yaml"},
		{"../out.yaml", "git repository"}, {"/out.yaml", "git repository"}} {
		if code, _, errs := s.weir("budget", "check", c[0], "--against", "main"); code != exitUsage || !strings.Contains(errs,
			c[1]) {
			t.Errorf("%s: exit %d, %s", c[0], code, errs)
		}
	}
	for _, args := range [][]string{{"budget"}, {"budget", "check"}, {"budget", "check", "--against", "nowhere"},
		{"budget", "check", "--against=-h"}} {
		if code, _, errs := s.weir(args...); code != exitUsage || !strings.Contains(errs, "see: weir budget") {
			t.Errorf("%v: exit %d, %s", args, code, errs)
		}
	}
	s.moved("{epsilon: 1, delta: 1e-6", "{epsilon: 50, delta: 1e-6", ", budget: {epsilon: 1.2, delta: 1e-5}", "")
	if r := s.budgetCheck(exitPrivacy, "two/spec.yaml"); r.Datasets[0].Budgets[0].Left != "data.csv" {
		t.Errorf("%+v", r.Datasets[0])
	}
}
