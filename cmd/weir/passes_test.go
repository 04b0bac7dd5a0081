package main

import (
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"weir/internal/disk"
	"weir/pipeline"
	"weir/runtime"
)

// inPasses returns a run of the study's spec that counts in passes over the rows.
func (s study) inPasses(files disk.Disk) (*runtime.Result, error) {
	s.t.Helper()
	plan, err := (&specFlags{}).compile(s.path("spec.yaml"))
	s.must(err)
	return runtime.Run(s.t.Context(), plan, runtime.Options{Disk: files, Out: s.path("runs"), Dir: s.dir, Workers: 1,
		Version: "test", Build: "test",
		Counting: pipeline.CountPasses, Log: slog.New(slog.DiscardHandler), Progress: newProgress(io.Discard, true),
		Clock: time.Now, Random: rand.Reader})
}

// newCounted returns a study of a model of marginals that reads the file itself.
func newCounted(t *testing.T) study {
	s := newStudy(t, 60)
	spec := s.read("spec.yaml")
	at := strings.Index(spec, "  complete:")
	s.write("spec.yaml", spec[:at]+"  train: {kind: marginal_tree, from: clean}\n  sample: {kind: sample, rows: 50}\n")
	return s
}

// TestPassesBehindTheCharge: a file that changes once a stage was charged ends the run, and the charge stands. The run
// is continued on the content that it had read, with the charge that it made; other content under the version is
// refused, and nothing more is charged for any of it.
func TestPassesBehindTheCharge(t *testing.T) {
	s := newCounted(t)
	whole := s.read("data.csv")
	changed := strings.Replace(whole, ",b,1\n", ",c,1\n", 1)
	spoilt := false
	_, err := s.inPasses(disk.Disk{Watch: func(disk.Change) (int64, error) {
		if ledger, err := os.ReadFile(s.path("data.csv.weir-ledger.jsonl")); err == nil && len(ledger) > 0 && !spoilt {
			spoilt = true
			s.write("data.csv", changed)
		}
		return 0, nil
	}})
	if !errors.Is(err, pipeline.ErrChanged) || !spoilt || s.charges() != 1 {
		t.Fatalf("error %v, %d charges; must be that the table changed, behind one charge", err, s.charges())
	}
	if _, err := s.inPasses(disk.Disk{}); err == nil || s.charges() != 1 {
		t.Errorf("other content of the version: error %v, %d charges; must be refused, with one", err, s.charges())
	}
	s.write("data.csv", whole)
	r, err := s.inPasses(disk.Disk{})
	if err != nil || len(r.Before) != 1 || s.charges() != 1 {
		t.Errorf("the content as it was: %+v, error %v, %d charges; must go on with the one that was made", r, err,
			s.charges())
	}
}

// TestRowsOfAnotherNumberCostNothing: generated rows are read by the model first, which is not charged for what it
// cannot count.
func TestRowsOfAnotherNumberCostNothing(t *testing.T) {
	s := newCounted(t)
	spec := s.read("spec.yaml")
	s.write("spec.yaml", strings.Replace(spec, "{file: data.csv, domain: domain.yaml, rows_public: 60}",
		"{demo: adult, demo_rows: 60, rows_public: 61}", 1))
	s.edit("spec.yaml", "  features: {kind: drop, columns: [id]}\n", "")
	for _, how := range []string{"held", "passes"} {
		code, _, errs := s.run("--count", how)
		if code != exitFailed || !strings.Contains(errs, "rows_public is not the number of rows") ||
			strings.Contains(errs, "The charge of") {
			t.Errorf("%s: exit code %d, %q; must fail on rows_public, without a charge", how, code, errs)
		}
	}
	ledgers, err := filepath.Glob(s.path("runs/ledgers/*.jsonl"))
	s.must(err)
	for _, path := range ledgers {
		if data, err := os.ReadFile(path); err != nil || strings.Contains(string(data), "train") {
			t.Errorf("the ledger holds %s, must hold no charge; error %v", data, err)
		}
	}
}

// TestCountSaysWhatItTakes refuses what is no way to count, and releases the same bytes either way.
func TestCountSaysWhatItTakes(t *testing.T) {
	s := newCounted(t)
	if code, _, errs := s.run("--count", "sampled"); code != exitUsage || !strings.Contains(errs,
		`--count: is "sampled", must be held or passes`) {
		t.Errorf("exit code %d, %q", code, errs)
	}
	var files []string
	for _, how := range []string{"held", "passes"} {
		r := s.result("--count", how, "--insecure-noise-seed", "5", "--fresh")
		for _, path := range r.Release {
			if strings.HasSuffix(path, ".csv") || strings.HasSuffix(path, ".model") {
				data, err := os.ReadFile(path)
				s.must(err)
				files = append(files, string(data))
			}
		}
	}
	if n := len(files) / 2; n < 3 || strings.Join(files[:n], "") != strings.Join(files[n:], "") {
		t.Errorf("%d files, must be three or more and as many equal ones", n)
	}
}
