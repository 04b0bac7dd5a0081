package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRunReleasesWhatPlanSays(t *testing.T) {
	s := newStudy(t, 400)
	r := s.result()
	csv := released(t, r, "sample.csv")
	if lines := strings.Count(csv, "\n"); lines != 51 {
		t.Errorf("sample.csv has %d lines, must have a header and 50 rows", lines)
	}
	if !strings.HasPrefix(csv, "income,group,flag\n") {
		t.Errorf("the header is %q, must be the source's columns without id", strings.SplitN(csv, "\n", 2)[0])
	}
	if eps := r.Epsilon["proven"]; eps == nil || *eps > 1 || *eps < 0.999 {
		t.Errorf("epsilon is %v, must be in (0.999, 1]", eps)
	}
	if code, _, errs := s.weir("ledger", "verify", r.Ledger); code != exitDone {
		t.Errorf("ledger verify: %d %s", code, errs)
	}
	if r.Ledger != s.path("data.csv.weir-ledger.jsonl") {
		t.Errorf("the ledger is %s, must lie beside the dataset", r.Ledger)
	}
}

// TestSameBytes: same spec, data, seed and noise key give the same bytes on 1
// or 2 cores; another noise key gives others.
func TestSameBytes(t *testing.T) {
	s := newStudy(t, 400)
	one := s.result("--insecure-noise-seed", "5", "--workers", "1", "--fresh")
	two := s.result("--insecure-noise-seed", "5", "--workers", "2", "--fresh", "--out", s.path("again"))
	other := s.result("--insecure-noise-seed", "6", "--workers", "2", "--fresh")
	for _, suffix := range []string{"sample.csv", "sample.parquet", ".model"} {
		if released(t, one, suffix) != released(t, two, suffix) {
			t.Errorf("%s differs between 1 and 2 workers", suffix)
		}
		if released(t, one, suffix) == released(t, other, suffix) {
			t.Errorf("%s is the same under another noise key", suffix)
		}
	}
	if !one.Insecure || !strings.Contains(released(t, one, "PRIVACY.md"), "NOT PRIVATE") {
		t.Error("a run with a noise seed must say NOT PRIVATE")
	}
}

// TestSecondRunCostsNothing: a finished run is shown again; --fresh pays again.
func TestSecondRunCostsNothing(t *testing.T) {
	s := newStudy(t, 400)
	first, second := s.result(), s.result()
	if !second.Reused || second.Run != first.Run {
		t.Errorf("the second run is %+v, must be the first one again", second)
	}
	if n := strings.Count(s.read("data.csv.weir-ledger.jsonl"), "\n"); n != 1 {
		t.Errorf("the ledger has %d charges, must have 1", n)
	}
	if fresh := s.result("--fresh"); fresh.Run == first.Run {
		t.Error("--fresh must be a run of its own")
	}
	if n := strings.Count(s.read("data.csv.weir-ledger.jsonl"), "\n"); n != 2 {
		t.Errorf("the ledger has %d charges after --fresh, must have 2", n)
	}
}

// TestBudgetOfDataset: the cap holds over all runs, and a refused run spends
// nothing and leaves no release.
func TestBudgetOfDataset(t *testing.T) {
	s := newStudy(t, 400)
	s.edit("spec.yaml", "rows_public: 400}", "rows_public: 400, budget: {epsilon: 1.2, delta: 1e-6}}")
	s.result()
	code, _, errs := s.run("--fresh")
	if code != exitPrivacy || !strings.Contains(errs, "budget") {
		t.Errorf("exit code %d, %s; must be %d and name the budget", code, errs, exitPrivacy)
	}
	if n := strings.Count(s.read("data.csv.weir-ledger.jsonl"), "\n"); n != 1 {
		t.Errorf("the ledger has %d charges, must have 1", n)
	}
}

// TestNothingPrivateLeaves looks for the needle in all that may be shown.
func TestNothingPrivateLeaves(t *testing.T) {
	s := newStudy(t, 400)
	s.edit("domain.yaml", "bounds: [0, 100000]", "bounds: [0, 50000]") // the needle is out of bounds now
	_, out, errs := s.run("--verbose")
	runs, err := filepath.Glob(s.path("runs/study/*/release/*"))
	if err != nil || len(runs) == 0 {
		t.Fatalf("no release: %v %s", err, errs)
	}
	texts := map[string]string{"stdout": out, "stderr": errs}
	for _, f := range append(runs, s.path("data.csv.weir-ledger.jsonl")) {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		texts[f] = string(data)
	}
	for name, text := range texts {
		if strings.Contains(text, needle) {
			t.Errorf("%s shows a private value", name)
		}
	}
}

func TestExperimentPaysForEveryRun(t *testing.T) {
	t.Parallel()
	s := newStudy(t, 400)
	s.write("spec.yaml", s.read("spec.yaml")+"experiment: {grid: {privacy.epsilon: [1, 2]}, repeats: 2}\n")
	code, out, errs := s.run()
	if code != exitDone {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	if n := strings.Count(s.read("data.csv.weir-ledger.jsonl"), "\n"); n != 4 {
		t.Errorf("the ledger has %d charges, must have 4; %s", n, out)
	}
}

// TestVerifyReplays: the same bytes from the kept key, at no charge and without a trace; an edited
// release is found out, in a copy of the run's folder too, which has no folder of runs around it.
func TestVerifyReplays(t *testing.T) {
	s := newStudy(t, 400)
	r := s.result()
	alone := filepath.Join(t.TempDir(), "there")
	if err := os.CopyFS(filepath.Join(alone, "copy"), os.DirFS(r.Run)); err != nil {
		t.Fatal(err)
	}
	csv := filepath.Join(alone, "copy", "release", "sample.csv")
	if err := os.WriteFile(csv, []byte("income\n1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	before := namesBelow(t, s.dir, filepath.Dir(alone))
	if code, _, errs := s.weir("verify", r.Run); code != exitDone {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	if n := strings.Count(s.read("data.csv.weir-ledger.jsonl"), "\n"); n != 1 {
		t.Errorf("the ledger has %d charges after a replay, must have 1", n)
	}
	code, _, errs := s.weir("verify", filepath.Join(alone, "copy"))
	if code != exitMismatch || !strings.Contains(errs, "sample.csv") {
		t.Errorf("exit code %d, %s; must be %d and name sample.csv", code, errs, exitMismatch)
	}
	if after := namesBelow(t, s.dir, filepath.Dir(alone)); after != before {
		t.Errorf("two replays changed\n%sto\n%s", before, after)
	}
}

// TestDamagedCacheIsNotBelieved: a cached table that is not as it was written is
// computed again.
func TestDamagedCacheIsNotBelieved(t *testing.T) {
	s := newStudy(t, 400)
	first := s.result("--insecure-noise-seed", "4")
	cached, err := filepath.Glob(s.path("runs/cache/*/*.ar*"))
	if err != nil || len(cached) == 0 {
		t.Fatalf("nothing is cached: %v", err)
	}
	for _, f := range cached {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		data[len(data)/2] ^= 1
		if err := os.WriteFile(f, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	second := s.result("--insecure-noise-seed", "4", "--fresh")
	if released(t, first, "sample.csv") != released(t, second, "sample.csv") {
		t.Error("a damaged cache changed the release")
	}
}

// TestWithoutPrivacyNothingIsReleased: epsilon inf spends nothing, and tables
// and models stay internal.
func TestWithoutPrivacyNothingIsReleased(t *testing.T) {
	s := newStudy(t, 400)
	r := s.result("--set", "privacy.epsilon=inf", "--set", "privacy.claims=none")
	for _, f := range r.Release {
		if strings.HasSuffix(f, ".csv") || strings.HasSuffix(f, ".model") || strings.HasSuffix(f, ".parquet") {
			t.Errorf("%s is released without privacy", f)
		}
	}
	found := false
	for _, f := range r.Inside {
		found = found || strings.HasSuffix(f, "sample.csv")
	}
	if !found || r.Epsilon["proven"] != nil {
		t.Errorf("result: %+v, must have an internal table and no epsilon", r)
	}
	if _, err := os.Stat(s.path("data.csv.weir-ledger.jsonl")); err == nil {
		t.Error("something was charged")
	}
}

// TestSampleDrawsFromARelease: more rows at no cost, in the source's terms.
func TestSampleDrawsFromARelease(t *testing.T) {
	s := newStudy(t, 400)
	r := s.result()
	model := filepath.Join(r.Run, "release", "train.model")
	code, out, errs := s.weir("sample", model, "--rows", "7", "--seed", "2")
	if code != exitDone || strings.Count(out, "\n") != 8 || !strings.HasPrefix(out, "income,group,flag\n") {
		t.Fatalf("exit code %d: %s%s", code, out, errs)
	}
	if _, again, _ := s.weir("sample", model, "--rows", "7", "--seed", "2"); again != out {
		t.Error("the same seed draws other rows")
	}
	if code, _, _ := s.weir("sample", model, "--rows", "7", "--out", s.path("more.parquet")); code != exitDone {
		t.Errorf("exit code %d", code)
	}
	if n := strings.Count(s.read("data.csv.weir-ledger.jsonl"), "\n"); n != 1 {
		t.Errorf("the ledger has %d charges, must have 1", n)
	}
	for _, bad := range [][]string{{"sample", s.path("data.csv")}, {"sample", s.path("nothing")},
		{"sample", model, "--rows", "-1"}, {"sample"}} {
		if code, _, errs := s.weir(bad...); code == exitDone || errs == "" {
			t.Errorf("%v: exit code %d, %q", bad, code, errs)
		}
	}
}

// TestKeyCanBeDropped: then nothing replays the run.
func TestKeyCanBeDropped(t *testing.T) {
	s := newStudy(t, 400)
	kept := s.result()
	if info, err := os.Stat(filepath.Join(kept.Run, "internal", "noise.key")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key is not kept for its owner alone: %v", err)
	}
	r := s.result("--set", "privacy.keep_noise_key=false")
	if _, err := os.Stat(filepath.Join(r.Run, "internal", "noise.key")); err == nil {
		t.Error("the key is kept")
	}
	if code, _, errs := s.weir("verify", r.Run); code != exitUsage || !strings.Contains(errs, "noise key") {
		t.Errorf("exit code %d: %s", code, errs)
	}
}

// namesBelow lists what lies below folders, with times of change.
func namesBelow(t *testing.T, roots ...string) string {
	t.Helper()
	var b strings.Builder
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			info, err := d.Info()
			if err == nil {
				fmt.Fprintln(&b, path, info.Size(), info.ModTime())
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}
