package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestExperimentKilledTwice: killed by SIGKILL while its third and its sixth charge were fresh, an
// experiment ends with the table of one that nobody killed, and with one charge a run. (A run that is killed before
// it has a record leaves an empty folder, which weir gc removes.)
func TestExperimentKilledTwice(t *testing.T) {
	t.Parallel()
	const ledger = "data.csv.NOT-PRIVATE.weir-ledger.jsonl"
	long := func() study {
		s := figured(t)
		s.edit("spec.yaml", "steps: 40", "steps: 2000")
		s.edit("spec.yaml", "checkpoint_every: 10", "checkpoint_every: 500")
		s.write("spec.yaml", s.read("spec.yaml")+strings.NewReplacer("steps: 20", "steps: 1800", "steps: 40",
			"steps: 2000").Replace(cellsExperiment))
		return s
	}
	whole, killed := long(), long()
	want, _ := whole.experiment("--insecure-noise-seed", "5")
	charges := func() int {
		data, _ := os.ReadFile(killed.path(ledger))
		return strings.Count(string(data), "\n")
	}
	for _, n := range []int{3, 6} {
		p := killed.process(nil, "--insecure-noise-seed", "5", "--workers", "2")
		killed.must(p.Start())
		for end := time.Now().Add(5 * time.Minute); charges() < n &&
			time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		}
		killed.must(p.Process.Kill())
		p.Wait()
		if now := charges(); now < n || now > n+2 {
			t.Fatalf("%d charges when it was killed, must be about %d", now, n)
		}
	}
	got, errs := killed.experiment("--insecure-noise-seed", "5")
	if runs, _ := filepath.Glob(killed.path("runs/study/2*/run.json")); charges() != 8 || len(runs) != 8 ||
		len(got.Runs) != 8 {
		t.Errorf("%d charges, %d records of runs and %d runs, must be 8 of each: %s", charges(), len(runs), len(got.Runs),
			errs)
	}
	for _, file := range []string{"table.csv", "differences.csv"} {
		if a, b := whole.read(want.inTable(whole, file)), killed.read(got.inTable(killed, file)); a != b || len(a) == 0 {
			t.Errorf("%s of the killed experiment\n%.500s\nis not that of one that nobody killed\n%.500s", file, b, a)
		}
	}
}

// inTable returns a file of the experiment's table, from the study's folder.
func (v experimentJSON) inTable(s study, name string) string {
	s.t.Helper()
	path, err := filepath.Rel(s.dir, filepath.Join(v.Folder, name))
	s.must(err)
	return path
}
