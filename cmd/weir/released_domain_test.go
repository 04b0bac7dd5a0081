package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// newOpenStudy returns a study whose domain declares neither bounds nor categories, with a
// few values that single rows have: they must not be released.
func newOpenStudy(t *testing.T, n int) study {
	s := study{t, t.TempDir()}
	var b strings.Builder
	b.WriteString("id,income,weight,town,flag\n")
	for i := range n {
		income, town := 20000+(i*7919)%60000, []string{"Arden", "Bree", "Combe"}[i%3]
		switch i {
		case 3:
			income = 7331373313 // far out, and in one row
		case 5:
			town = "Needlestone"
		}
		fmt.Fprintf(&b, "%d,%d,%g,%s,%d\n", i, income, float64(i%40)/4-3, town, i%2)
	}
	s.write("data.csv", b.String())
	s.write("domain.yaml", `columns:
  - {name: id, type: integer, bounds: [0, 100000]}
  - {name: income, type: integer}
  - {name: weight, type: numeric, step: 0.25}
  - {name: town, type: text}
  - {name: flag, type: boolean}
`)
	s.write("spec.yaml", `weir: 1
name: open
dataset: {file: data.csv, domain: domain.yaml}
privacy:
  epsilon: 2
  delta: 1e-6
  adjacency: add_remove
  split: {towns: 0.4, bounds: 0.4, rows: 0.2}
stages:
  features: {kind: drop, columns: [id]}
  towns: {kind: dp_categories}
  bounds: {kind: dp_bounds, failure: 1e-9}
  kept: {kind: filter, keep: "weight > -10"}
  rows: {kind: dp_count}
  parts: {kind: split, from: kept, train: 0.5, test: 0.5}
  look: {kind: write, from: parts.test, formats: [csv]}
  likeness: {kind: marginals, real: parts.test, synthetic: parts.train}
`)
	return s
}

// TestDomainIsReleased: columns of which nothing is declared get bounds and categories by
// a charge, the stages behind work by them, and release/ holds them.
func TestDomainIsReleased(t *testing.T) {
	s := newOpenStudy(t, 4000)
	r := s.result()
	for file, wants := range map[string][]string{
		"towns.domain.yaml": {"categories: [Arden, Bree, Combe, other]", "source: stage towns of a run"},
		"bounds.domain.yaml": {"bounds: [16384, 131072]", "bounds: [-4, 8]", "source: stage bounds of a run",
			"categories: [Arden, Bree, Combe, other]"},
		"rows.count.yaml": {"rows: ", "deviation: ", "source: stage rows of a run"},
	} {
		text := flat(released(t, r, file))
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("%s lacks %q:\n%s", file, want, text)
			}
		}
	}
	nothingShows(t, filepath.Join(r.Run, "release"), "Needlestone", "7331373313")
	rows := contents(t, filepath.Join(r.Run, "internal", "look.csv"))
	if strings.Contains(rows, "Needlestone") || strings.Contains(rows, "7331373313") || !strings.Contains(rows, "Arden") {
		t.Error("the table behind the stages is not held to what was released")
	}
	if again := s.result(); !again.Reused {
		t.Error("the finished run is not shown again")
	}
}

// TestSeedMarksReleasedDomains: noise from a seed is no noise, and the names of files say so.
func TestSeedMarksReleasedDomains(t *testing.T) {
	r := newOpenStudy(t, 4000).result("--insecure-noise-seed", "4")
	for _, name := range []string{"towns.NOT-PRIVATE.domain.yaml", "bounds.NOT-PRIVATE.domain.yaml",
		"rows.NOT-PRIVATE.count.yaml"} {
		if !slices.Contains(r.Release, filepath.Join(r.Run, "release", name)) {
			t.Errorf("%s is not among %v", name, r.Release)
		}
	}
}

// TestNoPrivacyReleasesNothing: under epsilon: inf what is found is exact, and stays inside.
func TestNoPrivacyReleasesNothing(t *testing.T) {
	s := newOpenStudy(t, 4000)
	s.edit("spec.yaml", "epsilon: 2", "epsilon: inf\n  claims: none")
	s.edit("spec.yaml", "  split: {towns: 0.4, bounds: 0.4, rows: 0.2}\n", "")
	r := s.result()
	nothingShows(t, filepath.Join(r.Run, "release"), "Arden", "131072", "Needlestone")
	if text := contents(t, filepath.Join(r.Run, "internal", "rows.count.yaml")); !strings.Contains(text, "rows: 4000\n") {
		t.Errorf("the count is not exact:\n%s", text)
	}
}

// TestOpenRunGoesOn: a run that was stopped behind the release takes the released domain
// from the cache, and charges nothing again.
func TestOpenRunGoesOn(t *testing.T) {
	s := newOpenStudy(t, 4000)
	r := s.result()
	first := s.read("data.csv.weir-ledger.jsonl")
	if err := os.RemoveAll(filepath.Join(r.Run, "release")); err != nil {
		t.Fatal(err)
	}
	again := s.result()
	if again.Run != r.Run || s.read("data.csv.weir-ledger.jsonl") != first {
		t.Error("another run was made, or charged")
	}
	if text := flat(released(t, again, "bounds.domain.yaml")); !strings.Contains(text, "[Arden, Bree, Combe, other]") {
		t.Errorf("the domain made again is\n%s", text)
	}
	if code, out, errs := s.weir("verify", r.Run); code != exitDone {
		t.Errorf("weir verify: exit code %d: %s%s", code, out, errs)
	}
}

// TestReleasedDomainIsTakenByALaterSpec: the second of two runs plans by what the first
// released, says who paid for it, and both charges stand in one ledger.
func TestReleasedDomainIsTakenByALaterSpec(t *testing.T) {
	s := newOpenStudy(t, 4000)
	s.edit("spec.yaml", "  features: {kind: drop, columns: [id]}\n", "")
	first := s.result()
	s.write("found.yaml", released(t, first, "bounds.domain.yaml"))
	s.write("spec.yaml", `weir: 1
name: later
dataset: {file: data.csv, domain: found.yaml, csv: {unknown: missing}}
privacy: {epsilon: 1, delta: 1e-6, adjacency: add_remove}
stages:
  features: {kind: drop, columns: [id]}
  clean: {kind: bounds, outside: clip}
  complete: {kind: impute_constant, categories: {town: other}}
  encode: {kind: encode}
  train: {kind: dp_wgan, steps: 20, sampling_rate: 0.01, expected_batch_size: 40, generator: [8], critic: [8], latent_dim: 4}
  sample: {kind: sample, rows: 50}
`)
	r := s.result()
	for _, want := range []string{"town were released by stage towns of a run",
		"income, weight were released by stage bounds of a run"} {
		if !strings.Contains(released(t, r, "BILL.txt"), want) || !strings.Contains(released(t, r, "PRIVACY.md"), want) {
			t.Errorf("BILL.txt or PRIVACY.md lacks %q", want)
		}
	}
	if lines := strings.Count(s.read("data.csv.weir-ledger.jsonl"), "\n"); r.Ledger != first.Ledger || lines < 4 {
		t.Errorf("the ledger has %d lines", lines)
	}
	nothingShows(t, filepath.Join(r.Run, "release"), "Needlestone", "7331373313")
}

// flat returns a YAML text with its lists on one line.
func flat(text string) string {
	for range 9 {
		text = strings.ReplaceAll(text, "\n        - ", ", ")
	}
	text = strings.ReplaceAll(strings.ReplaceAll(text, "bounds:, ", "bounds: ["), "categories:, ", "categories: [")
	return text
}

func nothingShows(t *testing.T, dir string, private ...string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		for _, v := range private {
			if strings.Contains(string(data), v) {
				t.Errorf("%s shows %s", path, v)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func contents(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
