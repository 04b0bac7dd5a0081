package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"weir/runtime/experiment"
)

type experimentJSON struct {
	Folder string
	Bill   experiment.Bill
	Runs   []struct {
		Set    []string
		Repeat int
		runResult
	}
}

// experiment runs the study's experiment of four trials and one that comes twice.
func (s study) experiment(args ...string) (experimentJSON, string) {
	s.t.Helper()
	code, out, errs := s.run(append([]string{"--json"}, args...)...)
	var v experimentJSON
	if err := json.Unmarshal([]byte(out), &v); code != exitDone || err != nil {
		s.t.Fatalf("exit code %d, %v: %s", code, err, errs)
	}
	return v, errs
}

// releaseOf digests every file that a run released, with the name of the run taken out.
func releaseOf(t *testing.T, run string) string {
	t.Helper()
	var lines []string
	files, err := filepath.Glob(filepath.Join(run, "release", "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %v, %v", run, files, err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(string(data), filepath.Base(run), "RUN")
		lines = append(lines, fmt.Sprintf("%s %x", filepath.Base(f), sha256.Sum256([]byte(text))))
	}
	sort.Strings(lines)
	return strings.Join(lines, "\n")
}

// TestExperimentSideBySide: four runs at a time release, in the same order, byte for byte
// what one after the other does, pay the same charges, and are shown when asked for again.
func TestExperimentSideBySide(t *testing.T) {
	t.Parallel()
	var before experimentJSON
	for _, workers := range []string{"1", "4"} {
		s := newStudy(t, 400)
		s.write("spec.yaml", s.read("spec.yaml")+"experiment: {grid: {privacy.epsilon: [1, 2, 1.0]}, repeats: 2}\n")
		s.budget(", budget: {epsilon: 20, delta: 1e-5}")
		current, errs := s.experiment("--workers", workers, "--insecure-noise-seed", "5")
		if len(current.Runs) != 6 || !strings.Contains(errs, "run 6 of 6: ") || !strings.Contains(errs,
			"run 3: train: dp_wgan") {
			t.Fatalf("%d runs: %s", len(current.Runs), errs)
		}
		const ledger = "data.csv.NOT-PRIVATE.weir-ledger.jsonl"
		paid := s.read(ledger)
		if n := strings.Count(paid, "\n"); n != 4 {
			t.Errorf("workers %s: %d charges, must be 4: two of the six runs come twice", workers, n)
		}
		for i, r := range current.Runs {
			// Which of two equal runs is carried out, and which shown, is the scheduler's choice.
			if twin := []int{4, 5, i, i, 0, 1}[i]; r.Run != current.Runs[twin].Run || r.Reused == (twin == i ||
				current.Runs[twin].Reused) {
				t.Errorf("workers %s: run %d is %s, reused %v", workers, i+1, r.Run, r.Reused)
			}
			if len(before.Runs) > i && (releaseOf(t, r.Run) != releaseOf(t, before.Runs[i].Run) || fmt.Sprint(r.Set, r.Repeat) !=
				fmt.Sprint(before.Runs[i].Set, before.Runs[i].Repeat)) {
				t.Errorf("run %d of four at a time releases\n%s\none after the other\n%s", i+1, releaseOf(t, r.Run),
					releaseOf(t, before.Runs[i].Run))
			}
		}
		if again, _ := s.experiment("--workers", workers, "--insecure-noise-seed", "5"); !again.Runs[0].Reused ||
			again.Runs[3].Run != current.Runs[3].Run || s.read(ledger) != paid {
			t.Errorf("workers %s: asked for again, the runs are not shown", workers)
		}
		before = current
	}
}

// TestExperimentOfRealNoise: every run has noise of its own, on one dataset with one id.
func TestExperimentOfRealNoise(t *testing.T) {
	s := newStudy(t, 400)
	s.write("spec.yaml", s.read("spec.yaml")+"experiment: {repeats: 4}\n")
	v, _ := s.experiment("--workers", "4")
	seen := map[string]bool{}
	for _, r := range v.Runs {
		seen[releaseOf(t, r.Run)] = true
	}
	if n := strings.Count(s.read("data.csv.weir-ledger.jsonl"), "\n"); len(seen) != 4 || n != 4 {
		t.Errorf("%d different releases and %d charges, must be 4 of each", len(seen), n)
	}
}

// TestExperimentOverTheCap is refused as a whole, before its first charge.
func TestExperimentOverTheCap(t *testing.T) {
	s := newStudy(t, 400)
	s.write("spec.yaml", s.read("spec.yaml")+"experiment: {repeats: 4}\n")
	s.budget(", budget: {epsilon: 1.5, delta: 1e-5}")
	code, _, errs := s.run("--workers", "4")
	if code != exitPrivacy || !strings.Contains(errs, "the experiment's 4 runs together") {
		t.Errorf("exit code %d: %s", code, errs)
	}
	if left, _ := filepath.Glob(s.path("runs/study/2*")); len(left) > 0 {
		t.Errorf("%v was begun", left)
	}
}

// TestKilledExperimentGoesOn: of runs that were killed side by side, each is continued with
// the charge that it had paid.
func TestKilledExperimentGoesOn(t *testing.T) {
	t.Parallel()
	s := newStudy(t, 400)
	s.edit("spec.yaml", "steps: 40", "steps: 3000") // with the charge of no third run before two are killed
	s.edit("spec.yaml", "generated_batch: 16, checkpoint_every: 10", "checkpoint_every: 500")
	s.write("spec.yaml", s.read("spec.yaml")+"experiment: {repeats: 3}\n")
	const ledger = "data.csv.weir-ledger.jsonl"
	charges := func() int {
		data, _ := os.ReadFile(s.path(ledger))
		return strings.Count(string(data), "\n")
	}
	p := s.process(nil, "--workers", "2")
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); charges() < 2 && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
	}
	if err := p.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.Wait()
	if n := charges(); n != 2 {
		t.Fatalf("%d charges when it was killed, must be 2", n)
	}
	killed, err := filepath.Glob(s.path("runs/study/2*"))
	if err != nil || len(killed) != 2 {
		t.Fatalf("%v, %v, must be two", killed, err)
	}
	v, errs := s.experiment("--workers", "2")
	if runs, _ := filepath.Glob(s.path("runs/study/2*")); len(v.Runs) != 3 || len(runs) != 3 || charges() != 3 {
		t.Errorf("%d runs and %d charges, must be 3 of each: %s", len(runs), charges(), errs)
	}
}
