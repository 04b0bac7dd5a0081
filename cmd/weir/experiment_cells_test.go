package main

import (
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weir/runtime/experiment"
)

const cellsExperiment = `experiment:
  grid:
    privacy.epsilon: [1, 4]
  cells:
    short: {stages.train.steps: 20, stages.train.generator: [4]}
    long: {stages.train.steps: 40, stages.train.generator: [8]}
  repeats: 2
`

// TestExperimentInCells: grid, cells and repeats are a product; its table has every metric with
// its interval, is the owner's, and lies where --json says.
func TestExperimentInCells(t *testing.T) {
	t.Parallel()
	s := figured(t)
	s.write("spec.yaml", s.read("spec.yaml")+cellsExperiment)
	code, out, errs := s.run("--json", "--insecure-noise-seed", "5")
	var v struct {
		Bill   experiment.Bill
		Runs   []trialResult
		Sweep  *experiment.Table
		Folder string
	}
	if err := json.Unmarshal([]byte(out), &v); code != exitDone || err != nil {
		t.Fatalf("exit code %d, %v: %s", code, err, errs)
	}
	if len(v.Runs) != 8 || len(v.Sweep.Rows) != 4 || v.Bill.Runs != 8 || v.Bill.Proven == nil ||
		!(*v.Bill.Proven < *v.Bill.Naive) {
		t.Errorf("%d runs, %d rows, the bill %+v", len(v.Runs), len(v.Sweep.Rows), v.Bill)
	}
	if r := v.Runs[3]; r.Cell != "long" || strings.Join(r.Set, " ") != "privacy.epsilon=1 stages.train.steps=40 "+
		"stages.train.generator=[8]" || r.Trial.Repeat != 1 {
		t.Errorf("the fourth run is %+v", r.Trial)
	}
	if v.Runs[0].PublicSeed != 3 || v.Runs[0].PublicSeed != v.Runs[2].PublicSeed ||
		v.Runs[1].PublicSeed != v.Runs[3].PublicSeed || v.Runs[1].PublicSeed == 3 {
		t.Errorf("cells of one repeat do not share a seed of their own: %d %d %d %d", v.Runs[0].PublicSeed,
			v.Runs[1].PublicSeed, v.Runs[2].PublicSeed, v.Runs[3].PublicSeed)
	}
	for _, name := range []string{"table.csv", "table.parquet", "runs.csv", "runs.parquet", "differences.csv",
		"differences.parquet", "sweep.json", "sweep.md", "sweep.html"} {
		info, err := os.Stat(filepath.Join(v.Folder, name))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v; must be the owner's alone", name, info, err)
		}
	}
	if info, err := os.Stat(v.Folder); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%s: %v, %v; must be the owner's alone", v.Folder, info, err)
	}
	s.checkTable(filepath.Join(v.Folder, "table.csv"), v.Sweep)
}

// TestExperimentAtLevels: a level is a point of one axis, whatever it sets; cells are compared at the
// same level, and the first setting names it.
func TestExperimentAtLevels(t *testing.T) {
	t.Parallel()
	s := figured(t)
	s.write("spec.yaml", s.read("spec.yaml")+`experiment:
  levels:
    - {privacy.epsilon: 1, stages.train.steps: 20}
    - {privacy.epsilon: 4, stages.train.steps: 30}
  cells:
    short: {stages.train.generator: [4]}
    long: {stages.train.generator: [8], stages.extra: null}
`)
	s.edit("spec.yaml", "- {privacy.epsilon: 1, stages.train.steps: 20}",
		"- {privacy.epsilon: 1, stages.train.steps: 20, stages.extra.outside: clip}")
	s.edit("spec.yaml", "- {privacy.epsilon: 4, stages.train.steps: 30}",
		"- {privacy.epsilon: 4, stages.train.steps: 30, stages.extra.outside: missing}")
	s.edit("spec.yaml", "stages:\n", "stages:\n  extra: {kind: bounds, outside: clip}\n")
	code, out, errs := s.run("--json", "--insecure-noise-seed", "5")
	var v struct{ Sweep *experiment.Table }
	if err := json.Unmarshal([]byte(out), &v); code != exitDone || err != nil {
		t.Fatalf("exit code %d, %v: %s", code, err, errs)
	}
	var got []string
	for _, r := range v.Sweep.Rows {
		got = append(got, v.Sweep.Label(r)+" "+r.Settings["stages.train.steps"])
	}
	if want := "short, epsilon 1 20, long, epsilon 1 20, short, epsilon 4 30, long, epsilon 4 30"; strings.Join(got,
		", ") != want {
		t.Errorf("rows are %s, must be %s", strings.Join(got, ", "), want)
	}
	for _, d := range v.Sweep.Differences {
		if want := strings.Replace(v.Sweep.Label(experiment.Row{Cell: d.Cell, Settings: d.Settings}), "long", "short",
			1); d.Against != want {
			t.Fatalf("a difference against %q, must be %q", d.Against, want)
		}
	}
	if len(v.Sweep.Differences) == 0 {
		t.Error("no differences")
	}
}

// checkTable compares the file with the rows that --json printed.
func (s study) checkTable(path string, want *experiment.Table) {
	s.t.Helper()
	f, err := os.Open(path)
	if err != nil {
		s.t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) != 1+len(want.Rows)*len(want.Metrics) {
		s.t.Fatalf("%d rows, %v; must be %d", len(rows), err, 1+len(want.Rows)*len(want.Metrics))
	}
	// cell, privacy.epsilon, stages.train.steps, stages.train.generator, three epsilons and delta, runs, metric, n
	if head := rows[0]; head[0] != "cell" || head[2] != "stages.train.steps" || head[8] != "metric" || head[9] != "n" {
		s.t.Fatalf("the columns are %v", head)
	}
	if r := rows[1]; r[0] != "short" || r[1] != "1" || r[2] != "20" || r[3] != "[4]" || r[9] != "2" {
		s.t.Errorf("the first row is %v", r)
	}
}

// TestTrialsShareWhatLiesBeforeNoise: all eight runs read one preparation of the rows; what
// draws noise is done anew in each.
func TestTrialsShareWhatLiesBeforeNoise(t *testing.T) {
	t.Parallel()
	s := newStudy(t, 400)
	s.edit("spec.yaml", "  encode: {kind: encode}\n", "  split: {kind: split, train: 0.5, test: 0.5, stratify: flag}\n  "+
		"encode: {kind: encode, from: split.train}\n")
	s.edit("spec.yaml", "expected_batch_size: 16", "sampling_rate: 0.05")
	s.write("spec.yaml", s.read("spec.yaml")+cellsExperiment)
	v, _ := s.experiment("--workers", "1")
	for i, r := range v.Runs {
		stages := s.record(r.Run).Stages
		for _, st := range stages {
			if want := st.ID == "split" && i > 0; (st.ID == "split" || st.ID == "train") && st.Reused != want {
				t.Errorf("run %d: stage %s reused is %v, must be %v", i+1, st.ID, st.Reused, want)
			}
		}
	}
}

// TestTrialFaultsHaveTheirPlace: a value that a run refuses is told at its line of the spec,
// once, with the first combination that has it.
func TestTrialFaultsHaveTheirPlace(t *testing.T) {
	t.Parallel()
	s := newStudy(t, 50)
	s.write("spec.yaml", s.read("spec.yaml")+`experiment:
  grid:
    privacy.epsilon: [1, 2]
    stages.train.steps: [10, ten]
  cells:
    good: {seed: 4}
    bad:
      stages.train.klip: 3
      stages.train.latent_dim: -4
  repeats: 2
`)
	code, _, errs := s.weir("check", s.path("spec.yaml"))
	spec := s.path("spec.yaml")
	for _, want := range []string{
		spec + ":16:30: stages.train.steps: is the text \"ten\", must be a whole number from 1 to 1000000000; in the " +
			"experiment's run with cell good privacy.epsilon=1 stages.train.steps=ten and 3 more",
		spec + ":20:26: stages.train.klip: is an unknown key",
		spec + ":21:32: stages.train.latent_dim: is -4, must be a whole number of at least 1; in the experiment's run with " +
			"cell bad privacy.epsilon=1 stages.train.steps=10 and 3 more",
	} {
		if code != exitUsage || strings.Count(errs, want) != 1 {
			t.Errorf("exit code %d, must be %d and say once\n%s\nin\n%s", code, exitUsage, want, errs)
		}
	}
	code, out, _ := s.weir("check", "--json", s.path("spec.yaml"))
	var report checkReport
	if err := json.Unmarshal([]byte(out), &report); code != exitUsage || err != nil || len(report.Problems) != 3 ||
		report.Problems[0].Line != 16 {
		t.Errorf("check --json: exit code %d, %v, %+v", code, err, report.Problems)
	}
}

// TestTrialsHaveOneLine: a value of the spec begins no line of the log, which CI may obey.
func TestTrialsHaveOneLine(t *testing.T) {
	s := newStudy(t, 50)
	s.write("spec.yaml", s.read("spec.yaml")+`experiment: {grid: {stages.train.steps: ["1\n::error::"]}}`+"\n")
	if code, _, errs := s.weir("check", s.path("spec.yaml")); code != exitUsage || strings.Contains(errs, "\n::") {
		t.Errorf("exit code %d: %s", code, errs)
	}
}

// TestTotal: the bill of all runs, as text and as JSON; without --total the plan of one.
func TestTotal(t *testing.T) {
	t.Parallel()
	s := newStudy(t, 400).tight()
	s.write("spec.yaml", s.read("spec.yaml")+cellsExperiment)
	code, out, errs := s.weir("plan", "--total", s.path("spec.yaml"))
	if code != exitDone || !strings.Contains(out, "EXPERIMENT  8 runs at delta 1e-06, replace_one, pld") ||
		!strings.Contains(out, "at delta 8e-06") {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
	code, out, errs = s.weir("plan", "--total", "--json", s.path("spec.yaml"))
	var v struct{ Bill experiment.Bill }
	if err := json.Unmarshal([]byte(out), &v); code != exitDone || err != nil || v.Bill.Runs != 8 ||
		*v.Bill.Naive < 19.9 || *v.Bill.Naive > 20 || !(*v.Bill.Proven < 20) {
		t.Errorf("exit code %d, %v: %s%s", code, err, out, errs) // 4 runs at 1 and 4 at 4 add up to 20
	}
	if code, _, errs = s.weir("plan", "--total", "--format", "dot", s.path("spec.yaml")); code != exitUsage ||
		!strings.Contains(errs, "must be text or json with --total") {
		t.Errorf("exit code %d: %s", code, errs)
	}
	if code, out, _ = s.weir("plan", s.path("spec.yaml")); code != exitDone || strings.Contains(out, "EXPERIMENT") ||
		!strings.Contains(out, "dp_wgan") {
		t.Errorf("exit code %d: %s", code, out)
	}
}

// TestTotalCountsWhatIsPaid: the epsilon of all together is the epsilon of the charges that the ledger
// will have: a grid behind the paid stage is one release, and a run without privacy is none.
func TestTotalCountsWhatIsPaid(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		experiment   string
		runs, paid   int
		proven, more float64 // epsilon of all together: as of one run, or above that
		naive        float64
	}{
		{"{grid: {stages.sample.rows: [50, 60, 70]}}", 3, 1, 1, 0, 3},
		{"{grid: {stages.sample.rows: [50, 60]}, repeats: 2}", 4, 2, 0, 1, 4},
		{"{cells: {plain: {privacy.epsilon: inf, privacy.claims: none}, private: {privacy.epsilon: 1}}}", 2, 1, 1, 0, 1},
	} {
		s := cappedStudy(t)
		s.edit("spec.yaml", "epsilon: 1.2", "epsilon: 20")
		s.write("spec.yaml", s.read("spec.yaml")+"experiment: "+c.experiment+"\n")
		v, errs := s.experiment("--insecure-noise-seed", "5")
		charges := strings.Count(s.read("data.csv.NOT-PRIVATE.weir-ledger.jsonl"), "\n")
		b := v.Bill
		if b.Runs != c.runs || charges != c.paid || b.Proven == nil || math.Abs(*b.Naive-c.naive) > 0.01 || c.proven > 0 &&
			math.Abs(*b.Proven-c.proven) > 0.01 || *b.Proven < c.more {
			t.Errorf("%s: %d charges, the bill is %+v: %s", c.experiment, charges, b, errs)
		}
		if fresh := s.fresh(); b.Proven != nil && c.runs > c.paid && b.Unprotected == 0 && *fresh.Proven <= *b.Proven {
			t.Errorf("%s: with --fresh, by which each run pays, the bill is %+v, no more than %+v", c.experiment, fresh, b)
		}
	}
}

// fresh returns the bill of an experiment with new noise in each run.
func (s study) fresh() experiment.Bill {
	v, _ := s.experiment("--insecure-noise-seed", "6", "--fresh")
	return v.Bill
}

// TestMoreRepeatsKeepTheFirst: runs that were made are runs of a larger experiment too, and
// the first repeat is the run of the spec without one.
func TestMoreRepeatsKeepTheFirst(t *testing.T) {
	t.Parallel()
	s := newStudy(t, 400)
	alone := s.result()
	plain := s.read("spec.yaml")
	s.write("spec.yaml", plain+"experiment: {repeats: 2}\n")
	two, _ := s.experiment()
	s.write("spec.yaml", plain+"experiment: {grid: {privacy.epsilon: [1, 2]}, repeats: 3}\n")
	six, _ := s.experiment()
	if len(six.Runs) != 6 || two.Runs[0].Run != alone.Run || six.Runs[0].Run != alone.Run ||
		six.Runs[1].Run != two.Runs[1].Run || six.Runs[2].Reused {
		t.Errorf("%v and %v", two.Runs, six.Runs)
	}
	if n := strings.Count(s.read("data.csv.weir-ledger.jsonl"), "\n"); n != 6 {
		t.Errorf("%d charges, must be 6", n)
	}
	if code, _, errs := s.weir("verify", six.Runs[5].Run); code != exitDone {
		t.Errorf("verify of a later repeat: exit code %d: %s", code, errs)
	}
}
