package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"weir/record"
	"weir/runtime/experiment"
)

// part returns the flags of the repeats first to last.
func part(first, last string) []string {
	return []string{"--set", "experiment.repeats=" + last, "--set", "experiment.first_repeat=" + first}
}

// swept is what `weir run --json` prints of an experiment.
type swept struct {
	Bill   experiment.Bill
	Runs   []trialResult
	Sweep  *experiment.Table
	Folder string
}

// sweep runs the study's experiment in a folder of runs.
func (s study) sweep(out string, args ...string) (v swept) {
	s.t.Helper()
	code, text, errs := s.weir(append([]string{"run", s.path("spec.yaml"), "--json", "--out", s.path(out)}, args...)...)
	if err := json.Unmarshal([]byte(text), &v); code != exitDone || err != nil {
		s.t.Fatalf("exit code %d, %v: %s", code, err, errs)
	}
	return v
}

// parted returns a study of an experiment whose rows are split, by a split that neighbours as adjacency says have.
func parted(t *testing.T, adjacency string) study {
	s := newStudy(t, 400)
	s.training("independent")
	s.edit("spec.yaml", "adjacency: replace_one", "adjacency: "+adjacency)
	s.edit("spec.yaml", "  train: ", "  split: {kind: split, train: 0.5, test: 0.5}\n  train: ")
	s.edit("spec.yaml", "{kind: independent}", "{kind: independent, from: split.train}")
	s.write("spec.yaml", s.read("spec.yaml")+"  close: {kind: marginals, real: split.test, synthetic: sample}\n"+
		"experiment: {cells: {coarse: {stages.train.bins: 4}, fine: {stages.train.bins: 16}}, repeats: 3}\n")
	return s
}

// TestPartIsOfTheWhole: a repeat that is run alone, where no folder of an earlier run is, has seed, split, recipes and
// figures of that repeat in the whole, and under a noise seed its bytes; its table has the runs that were made.
func TestPartIsOfTheWhole(t *testing.T) {
	t.Parallel()
	for _, adjacency := range []string{"replace_one", "add_remove"} { // a split by public places, and a secret one
		s := parted(t, adjacency)
		whole := s.sweep("runs", "--insecure-noise-seed", "5")
		third := s.sweep("elsewhere", append(part("3", "3"), "--insecure-noise-seed", "5")...)
		if len(whole.Runs) != 6 || len(third.Runs) != 2 {
			t.Fatalf("%s: %d runs and %d in the part", adjacency, len(whole.Runs), len(third.Runs))
		}
		for i, r := range third.Runs {
			want := whole.Runs[3*i+2]
			if r.PublicSeed != want.PublicSeed || r.PublicSeed == 3 || r.Trial.Repeat != 2 || r.Cell != want.Cell ||
				r.Reused || !slices.Equal(recipesOf(s.record(r.Run)), recipesOf(s.record(want.Run))) {
				t.Errorf("%s: the third repeat alone is %+v, must be as %+v", adjacency, r.Trial, want.Trial)
			}
			for _, name := range []string{"sample.NOT-PRIVATE.csv", "train.NOT-PRIVATE.model"} {
				if got, all := fileOf(t, r.Run, name), fileOf(t, want.Run, name); got != all {
					t.Errorf("%s: %s of the third repeat alone has other bytes than among all", adjacency, name)
				}
			}
			if len(third.Sweep.Metrics) == 0 {
				t.Errorf("%s: no figures", adjacency)
			}
			for metric, x := range whole.Sweep.Runs[3*i+2].Metrics {
				if row := third.Sweep.Rows[i].Metrics[metric]; row.N != 1 || row.SD != nil || *row.Mean != x {
					t.Errorf("%s: %s is %+v in the part, must be %v of one run", adjacency, metric, row, x)
				}
			}
		}
		if code, _, errs := s.weir("verify", third.Runs[0].Run); code != exitDone {
			t.Errorf("%s: verify of a part: exit code %d: %s", adjacency, code, errs)
		}
	}
}

// fileOf returns a file that a run released.
func fileOf(t *testing.T, run, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(run, "release", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// recipesOf lists the recipes of a run.
func recipesOf(rec *record.Run) (list []string) {
	for _, st := range rec.Stages {
		list = append(list, st.ID+" "+st.Recipe)
	}
	return list
}

// TestPartBesideTheWhole: in one folder of runs a part and the whole share their runs, whichever is made first. Each
// repeat draws noise by a key of its own, and is charged once.
func TestPartBesideTheWhole(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ first, then []string }{
		"the whole first": {nil, part("3", "3")},
		"the part first":  {part("3", "3"), nil},
	} {
		s := parted(t, "replace_one")
		first, then := s.sweep("runs", c.first...), s.sweep("runs", c.then...)
		whole, alone := first, then
		if c.then == nil {
			whole, alone = then, first
		}
		keys := map[string]bool{}
		for i, r := range whole.Runs {
			rec := s.record(r.Run)
			if keys[rec.KeyCommitment] = true; rec.Repeat != i%3 {
				t.Errorf("%s: run %d is repeat %d", name, i+1, rec.Repeat)
			}
		}
		if n := s.charges(); n != 6 || len(keys) != 6 {
			t.Errorf("%s: %d charges and %d noise keys, must be 6 of each", name, n, len(keys))
		}
		for i, r := range alone.Runs {
			if same := whole.Runs[3*i+2]; r.Run != same.Run || r.Reused == same.Reused || r.Reused != (c.then != nil) {
				t.Errorf("%s: the third repeat of %s is made twice", name, r.Cell)
			}
		}
	}
}

// TestPartsOfOneLedger: parts that are run in two folders, as two machines have, are charged on their own; a repeat in
// both of them has other noise and a second charge.
func TestPartsOfOneLedger(t *testing.T) {
	t.Parallel()
	s := parted(t, "replace_one")
	one, other := s.sweep("one", part("1", "2")...), s.sweep("other", part("2", "4")...)
	if n := s.charges(); n != 10 || len(one.Runs) != 4 || len(other.Runs) != 6 {
		t.Fatalf("%d charges of %d and %d runs, must be 10 of 4 and 6", n, len(one.Runs), len(other.Runs))
	}
	seen := map[string]bool{}
	for _, r := range slices.Concat(one.Runs, other.Runs) {
		seen[releaseOf(t, r.Run)] = true
	}
	if len(seen) != 10 || one.Runs[1].PublicSeed != other.Runs[0].PublicSeed {
		t.Errorf("%d releases, and the second repeat has the seeds %d and %d", len(seen), one.Runs[1].PublicSeed,
			other.Runs[0].PublicSeed)
	}
}

// TestPartIsBilled: bill, warnings, plans, table and differences are of the runs that are made.
func TestPartIsBilled(t *testing.T) {
	t.Parallel()
	s := parted(t, "replace_one")
	v := s.sweep("runs", append(part("2", "3"), "--insecure-noise-seed", "5")...)
	if v.Bill.Runs != 4 || *v.Bill.Naive < 3.9 || *v.Bill.Naive > 4 {
		t.Errorf("the bill is %+v, must be of four runs at epsilon 1", v.Bill)
	}
	f, err := os.Open(filepath.Join(v.Folder, "runs.csv"))
	s.must(err)
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	s.must(err)
	repeats, at := map[string]bool{}, slices.Index(rows[0], "repeat")
	for _, row := range rows[1:] {
		repeats[row[at]] = true
	}
	if len(repeats) != 2 || !repeats["2"] || !repeats["3"] {
		t.Errorf("runs.csv has the repeats %v", repeats)
	}
	if d := v.Sweep.Differences; len(d) == 0 || d[0].N != 2 {
		t.Errorf("differences are %+v, must be of two pairs", d)
	}
	for _, name := range []string{"sweep.md", "sweep.html"} {
		text, err := os.ReadFile(filepath.Join(v.Folder, name))
		if err != nil || !strings.Contains(string(text), "A part of the experiment: repeats 2 to 3.") {
			t.Errorf("%s does not say which repeats it has: %v", name, err)
		}
	}
	for _, c := range []struct{ args, want []string }{
		{[]string{"plan", "--total"}, []string{"EXPERIMENT  4 runs"}},
		{[]string{"check"}, []string{"the experiment is 4 runs over the private data, repeats 2 to 3 alone;", "W18"}},
		{[]string{"render"}, []string{"\n  first_repeat: 2\n"}},
	} {
		code, out, errs := s.weir(append(append(c.args, s.path("spec.yaml")), part("2", "3")...)...)
		for _, want := range c.want {
			if code != exitDone || !strings.Contains(out+errs, want) {
				t.Errorf("%v: exit code %d, must say %q: %s%s", c.args, code, want, out, errs)
			}
		}
	}
}

// TestPlanQuotesARunOfThePart: without --total, what the ledger says is of the first repeat that is run. Charges of
// repeats before it pay for none of the part, and its own charges do.
func TestPlanQuotesARunOfThePart(t *testing.T) {
	t.Parallel()
	s := newStudy(t, 300)
	s.training("independent")
	s.write("spec.yaml", s.read("spec.yaml")+"experiment: {repeats: 3}\n")
	quoted := func(flags []string, want string) {
		t.Helper()
		code, out, errs := s.weir(append([]string{"plan", s.path("spec.yaml"), "--out", s.path("runs")}, flags...)...)
		if code != exitDone || !strings.Contains(out, "  train            "+want) {
			t.Errorf("%v: exit code %d, train must be %q: %s%s", flags, code, want, out, errs)
		}
	}
	s.sweep("runs", "--set", "experiment.repeats=1")
	quoted(nil, "reused")
	quoted(part("2", "3"), "new charge")
	s.sweep("runs", part("2", "3")...)
	quoted(part("2", "3"), "reused")
}

// TestPartIsPlannedOnATerminal: each combination is counted once there, with whichever repeat it begins.
func TestPartIsPlannedOnATerminal(t *testing.T) {
	t.Parallel()
	s := parted(t, "replace_one")
	var out, errs bytes.Buffer
	terminal := streams{in: strings.NewReader(""), out: &out, err: &errs, terminal: true, build: ownBuild}
	code := execute(t.Context(), terminal, append([]string{"plan", "--total", s.path("spec.yaml")}, part("2", "3")...))
	if text := errs.String(); code != exitDone || !strings.Contains(text, "2 combinations planned") ||
		strings.Contains(text, "3 combinations") {
		t.Errorf("exit code %d: %q", code, text)
	}
}

// TestPartFaults: a part that has no repeat is refused where the setting stands; the first repeat is no setting at all,
// neither in what weir render prints nor in a difference.
func TestPartFaults(t *testing.T) {
	t.Parallel()
	s := parted(t, "replace_one")
	for first, want := range map[string]string{
		"4": "experiment.first_repeat: is 4, must be at most 3, as experiment.repeats is",
		"0": "experiment.first_repeat: is 0, must be a whole number of at least 1",
	} {
		if code, _, errs := s.run(part(first, "3")...); code != exitUsage || !strings.Contains(errs, want) {
			t.Errorf("exit code %d: %s\nmust say %s", code, errs, want)
		}
	}
	_, plain, _ := s.weir("render", s.path("spec.yaml"))
	_, first, _ := s.weir("render", s.path("spec.yaml"), "--set", "experiment.first_repeat=1")
	if plain != first || !strings.Contains(plain, "repeats: 3") {
		t.Errorf("with first_repeat 1 the spec is\n%s\nwithout\n%s", first, plain)
	}
}
