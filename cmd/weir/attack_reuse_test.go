package main

import (
	"crypto/rand"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"weir/internal/disk"
	"weir/record"
	"weir/runtime"
	"weir/runtime/payment"
)

// newPair returns a study of two paid stages, of which the second reads what the first released.
func newPair(t *testing.T) study {
	s := newOpenStudy(t, 2000)
	s.write("spec.yaml", `weir: 1
name: pair
dataset: {file: data.csv, domain: domain.yaml}
privacy: {epsilon: 3, delta: 1e-6, accountant: rdp, adjacency: add_remove, split: {bounds: 0.5, train: 0.5}}
stages:
  features: {kind: drop, columns: [id, town]}
  bounds: {kind: dp_bounds, failure: 1e-9}
  train: {kind: independent}
  sample: {kind: sample, rows: 50}
`)
	return s
}

// runOver returns a run of the study's spec over a disk, and the error that ended it.
func (s study) runOver(files disk.Disk, fresh bool, ask func([]payment.Quote) error) (*runtime.Result, error) {
	s.t.Helper()
	plan, err := (&specFlags{}).compile(s.path("spec.yaml"))
	s.must(err)
	return runtime.Run(s.t.Context(), plan, runtime.Options{Disk: files, Out: s.path("runs"), Dir: s.dir, Workers: 1,
		Version: "test", Build: "test", Fresh: fresh, Confirm: ask,
		Log: slog.New(slog.DiscardHandler), Progress: newProgress(io.Discard, true), Clock: time.Now, Random: rand.Reader})
}

func (s study) done(fresh bool) *runtime.Result {
	s.t.Helper()
	r, err := s.runOver(disk.Disk{}, fresh, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

// unnamed does everything but give the release its name.
func unnamed() disk.Disk {
	return disk.Disk{Watch: func(c disk.Change) (int64, error) {
		if c.Op == disk.OpRename && filepath.Base(c.To) == "release" {
			return 0, errDisk
		}
		return 0, nil
	}}
}

func fromOf(r *record.Run, stage string) string {
	for _, s := range r.Stages {
		if s.ID == stage {
			return s.From
		}
	}
	return ""
}

// TestContinuedRunKeepsWhatItsNoiseStandsOn: a run takes bounds from an earlier run, pays for
// a model of them, and is interrupted. Meanwhile other bounds are drawn. Continued with those,
// it would put the noise of the model on other values, and charge nothing for it.
func TestContinuedRunKeepsWhatItsNoiseStandsOn(t *testing.T) {
	for name, c := range map[string]struct {
		then func(s study, first string)
		goes bool
	}{
		"newer ones are there": {func(study, string) {}, true},
		"its own are lost": {func(s study, first string) {
			s.must(os.RemoveAll(s.path("runs/cache")))
			s.must(os.Remove(filepath.Join(first, "internal", "noise.key")))
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newPair(t)
			first := s.done(false)
			s.edit("spec.yaml", "name: pair", "name: second")
			s.edit("spec.yaml", "kind: independent", "kind: marginal_tree")
			stopped, err := s.runOver(unnamed(), false, nil)
			if err == nil || fromOf(stopped.Record, "bounds") != first.Record.ID {
				t.Fatalf("%v, %+v: must fail at the end, with the bounds of %s", err, stopped.Record.Stages, first.Record.ID)
			}
			s.edit("spec.yaml", "name: second", "name: third")
			third := s.done(false)
			if fromOf(third.Record, "train") != stopped.Record.ID {
				t.Fatalf("%+v: must have the model of %s", third.Record.Stages, stopped.Record.ID)
			}
			c.then(s, first.Path)
			s.edit("spec.yaml", "name: third", "name: fresh")
			s.done(true)
			s.edit("spec.yaml", "name: fresh", "name: second")
			charges := s.charges()
			again, err := s.runOver(disk.Disk{}, false, nil)
			if !c.goes {
				if err == nil {
					t.Errorf("bounds of %q, train of %q: must be refused", fromOf(again.Record, "bounds"),
						fromOf(again.Record, "train"))
				}
				return
			}
			if err != nil || again.Path != stopped.Path || fromOf(again.Record, "bounds") != first.Record.ID ||
				s.charges() != charges {
				t.Errorf("%v: continued in %s with the bounds of %q, %d new charges; must go on with those of %s, without a charge",
					err, again.Path,
					fromOf(again.Record, "bounds"), s.charges()-charges, first.Record.ID)
			}
		})
	}
}

// foreseen returns the number of charges that a survey says runs of specs would make together, and of those they do
// make.
func (s study) foreseen(files ...string) (said, made int) {
	s.t.Helper()
	var trials []runtime.Trial
	for _, file := range files {
		plan, err := (&specFlags{}).compile(s.path(file))
		s.must(err)
		trials = append(trials, runtime.Trial{Plan: plan})
	}
	opts := runtime.Options{Out: s.path("runs"), Dir: s.dir, Workers: 1, Version: "test", Build: "test",
		Log: slog.New(slog.DiscardHandler), Progress: newProgress(io.Discard, true), Clock: time.Now, Random: rand.Reader}
	quotes, err := runtime.Foresee(s.t.Context(), trials, opts)
	s.must(err)
	before := 0
	if s.exists("data.csv.weir-ledger.jsonl") {
		before = s.charges()
	}
	_, err = runtime.RunAll(s.t.Context(), trials, opts)
	s.must(err)
	return quotes[0].Bill, s.charges() - before
}

// TestSurveyKnowsWhoseNoise a stage would stand on: what an interrupted run has paid for under its own key, and
// what it would pay for that trials after it share.
func TestSurveyKnowsWhoseNoise(t *testing.T) {
	for what, c := range map[string]struct {
		kept string // the run was stopped when it kept this
		bill int
	}{"nothing is paid": {"noise-bounds.json", 2}, "the bounds are paid": {"noise-train.json", 1},
		"all is paid": {"release", 0}} {
		s := copied(t, func(to disk.Change) bool { return to.Op == disk.OpRename && filepath.Base(to.To) == c.kept })
		s.write("more.yaml", strings.NewReplacer("rows: 50", "rows: 60", "name: pair", "name: more").Replace(
			s.read("spec.yaml")))
		if said, made := s.foreseen("spec.yaml", "more.yaml"); said != c.bill || made != c.bill {
			t.Errorf("%s: %d charges are foreseen and %d made, must be %d", what, said, made, c.bill)
		}
	}
}

// TestExperimentAsksWithoutABudget of the dataset too, once for all of its runs.
func TestExperimentAsksWithoutABudget(t *testing.T) {
	d := newDay(t)
	d.edit("spec.yaml", "stages:\n", "experiment: {grid: {privacy.epsilon: [0.5, 1]}}\nstages:\n")
	var out strings.Builder
	code := execute(t.Context(), streams{in: strings.NewReader("y\n"), out: &out, err: &out, terminal: true,
		build: ownBuild}, []string{"run", d.path("spec.yaml"), "--out", d.path("runs")})
	if code != exitDone || strings.Count(out.String(), "Charge it? [y/N]") != 1 || d.study.charges() != 2 {
		t.Errorf("exit code %d, %d charges: %s", code, d.study.charges(), out.String())
	}
}

// TestContinuedRunAsksForWhatIsNew: a run that has paid is interrupted, and then a public file
// changes. It is another computation, which is charged, so it is asked for.
func TestContinuedRunAsksForWhatIsNew(t *testing.T) {
	s := newStudy(t, 400)
	withReference(s)
	if _, err := s.runOver(unnamed(), false, nil); err == nil {
		t.Fatal("must fail at the end")
	}
	s.edit("reference.csv", "1,30000", "1,31000")
	count := 0
	_, err := s.runOver(disk.Disk{}, false, func(q []payment.Quote) error { count += q[0].Bill; return nil })
	if err != nil {
		t.Fatal(err)
	}
	if got := s.charges(); got != 1+count {
		t.Errorf("%d charges, of which the second run asked for %d", got, count)
	}
}

// TestFirstOutputByName is what the stage alone names: the same table, and the same charge.
func TestFirstOutputByName(t *testing.T) {
	d := newDay(t)
	d.edited("train: {kind: auto}", "parts: {kind: split, train: 0.8, test: 0.2}\n  train: {kind: auto, from: parts}",
		"by the stage", 1)
	d.edited("from: parts}", "from: parts.train}", "by the output", 0)
	d.edited("from: parts.train}", "from: parts.test}", "the other output", 1)
}

// TestPlanWithoutTheData, by the ledger that is committed beside where they lie: it says what
// a run would charge, and refuses what that would refuse.
func TestPlanWithoutTheData(t *testing.T) {
	d := newDay(t)
	d.tight()
	d.edited("rows_public: 400}", "rows_public: 400, budget: {epsilon: 1.5, delta: 1e-6}}", "the first run", 1)
	for _, removed := range []string{"data.csv", "data.csv.weir-owner.json", "runs"} {
		d.must(os.RemoveAll(d.path(removed)))
		code, out, errs := d.weir("plan", d.path("spec.yaml"), "--out", d.path("runs"), "--set", "seed=4")
		if code != exitPrivacy || !strings.Contains(errs, "this bill would make it") {
			t.Errorf("without %s: exit code %d, must refuse: %s%s", removed, code, out, errs)
		}
	}
}

// TestPlanOpensNoPrivateFile besides the dataset either: where a test table or a public file is
// not at hand, it says the same, less what that would let it find.
func TestPlanOpensNoPrivateFile(t *testing.T) {
	d := newDay(t)
	withReference(d.study)
	d.write("held.csv", d.read("data.csv"))
	first := d.edited("rows: 50}\n", "rows: 50}\n  held: {kind: read, file: held.csv, class: private, like: dataset}\n"+
		"  own: {kind: drop, from: held, columns: [id]}\n  close: {kind: marginals, real: own, synthetic: sample}\n",
		"the first run", 1)
	for removed, want := range map[string]string{"held.csv": "reused, charged in run " + filepath.Base(first.Run),
		"reference.csv": "after 1 new charge"} {
		d.must(os.Rename(d.path(removed), d.path("elsewhere")))
		if code, out, errs := d.weir("plan", d.path("spec.yaml"), "--out", d.path("runs")); code != exitDone ||
			!strings.Contains(out, want) {
			t.Errorf("without %s: exit code %d: %s%s", removed, code, out, errs)
		}
		d.must(os.Rename(d.path("elsewhere"), d.path(removed)))
	}
}
