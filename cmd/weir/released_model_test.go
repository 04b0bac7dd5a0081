package main

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"weir/internal/stattest"
)

// TestModelOfAnUndeclaredTable: in one run, from a table of which nothing is declared but
// types, a domain, a row count, a model and rows; they hold what was released and nothing
// else, and the model draws more of them afterwards. An ordinary run of the tests has two
// of the kinds.
func TestModelOfAnUndeclaredTable(t *testing.T) {
	t.Parallel()
	kinds := []string{"auto", "privbayes"}
	if stattest.Long {
		kinds = append(kinds, "independent", "marginal_tree", "mst", "aim")
	}
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			s := newOpenStudy(t, 4000)
			s.write("spec.yaml", `weir: 1
name: open
dataset: {file: data.csv, domain: domain.yaml}
privacy: {epsilon: 3, delta: 1e-6, adjacency: add_remove, split: {towns: 0.2, bounds: 0.2, rows: 0.1, train: 0.5}}
stages:
  features: {kind: drop, columns: [id]}
  towns: {kind: dp_categories}
  bounds: {kind: dp_bounds, failure: 1e-9}
  rows: {kind: dp_count}
  parts: {kind: split, from: bounds, train: 0.9, test: 0.1}
  train: {kind: `+kind+`, from: parts.train}
  sample: {kind: sample, rows_from: rows}
  likeness: {kind: marginals, real: parts.test, synthetic: sample}
`)
			r := s.result()
			checkOpenRows(t, released(t, r, "sample.csv"), 4000)
			if text := flat(released(t, r, "release/domain.yaml")); !strings.Contains(text, "[Arden, Bree, Combe, other]") ||
				!strings.Contains(text, "bounds: [16384, 131072]") {
				t.Errorf("domain.yaml has not what was released:\n%s", text)
			}
			if text := released(t, r, "DATASHEET.md"); !strings.Contains(text, "stage towns of a run") || !strings.Contains(text,
				"Arden") {
				t.Errorf("DATASHEET.md has not what was released:\n%s", text)
			}
			nothingShows(t, filepath.Join(r.Run, "release"), "Needlestone", "7331373313")
			more := s.path("more.csv")
			if code, _, errs := s.weir("sample", filepath.Join(r.Run, "release", "train.model"), "--rows", "300", "--out",
				more); code != exitDone {
				t.Fatalf("weir sample: %s", errs)
			}
			checkOpenRows(t, contents(t, more), 300)
			if code, out, errs := s.weir("verify", r.Run); code != exitDone {
				t.Errorf("weir verify: exit code %d: %s%s", code, out, errs)
			}
			if err := os.RemoveAll(filepath.Join(r.Run, "release")); err != nil {
				t.Fatal(err)
			}
			if again := s.result(); again.Run != r.Run || !strings.Contains(flat(released(t, again, "release/domain.yaml")),
				"[Arden, Bree, Combe, other]") {
				t.Error("the release is not made again from the cache")
			}
		})
	}
}

// checkOpenRows holds synthetic rows to the released domain of an open study.
func checkOpenRows(t *testing.T, text string, rough int) {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(rows) < rough*9/10 || len(rows) > rough*11/10 {
		t.Fatalf("%d rows, %v; must be about %d", len(rows), err, rough)
	}
	for _, row := range rows[1:] {
		income, errIncome := strconv.Atoi(row[0])
		weight, errWeight := strconv.ParseFloat(row[1], 64)
		if errIncome != nil || errWeight != nil || income < 16384 || income > 131072 || weight < -4 || weight > 8 ||
			!strings.Contains("Arden Bree Combe other", row[2]) {
			t.Fatalf("the row %v is outside the released domain", row)
		}
	}
}

// TestMixtureOfReleasedBounds: a mixture takes bounds that a stage of its run releases, whose
// law has two parameters whatever they are, and refuses such categories, whose number is
// the number of its parameters, with both ways out.
func TestMixtureOfReleasedBounds(t *testing.T) {
	t.Parallel()
	s := newOpenStudy(t, 4000)
	spec := `weir: 1
name: open
dataset: {file: data.csv, domain: domain.yaml}
privacy: {epsilon: 3, delta: 1e-6, adjacency: add_remove, split: {bounds: 0.2, train: 0.8}}
stages:
  features: {kind: drop, columns: [id, town]}
  bounds: {kind: dp_bounds, failure: 1e-9}
  train: {kind: mixture, stratify: [flag], steps: 200, sampling_rate: 0.05, expected_batch_size: 200, components: 2}
  sample: {kind: sample, rows: 500}
`
	s.write("spec.yaml", spec)
	r := s.result()
	if text := flat(released(t, r, "release/domain.yaml")); !strings.Contains(text, "bounds: [16384, 131072]") {
		t.Errorf("domain.yaml has not what was released:\n%s", text)
	}
	rows, err := csv.NewReader(strings.NewReader(released(t, r, "sample.csv"))).ReadAll()
	if err != nil || len(rows) != 501 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for _, row := range rows[1:] {
		if income, err := strconv.Atoi(row[0]); err != nil || income < 16384 || income > 131072 {
			t.Fatalf("the row %v is outside the released domain", row)
		}
	}
	nothingShows(t, filepath.Join(r.Run, "release"), "7331373313")
	if code, out, errs := s.weir("verify", r.Run); code != exitDone {
		t.Errorf("weir verify: exit code %d: %s%s", code, out, errs)
	}
	s.write("spec.yaml", strings.NewReplacer("[id, town]", "[id]", "bounds: {kind",
		"towns: {kind: dp_categories}\n  bounds: {kind", "{bounds: 0.2,", "{bounds: 0.1, towns: 0.1,").Replace(spec))
	if code, _, errs := s.weir("check", s.path("spec.yaml")); code != exitUsage || !strings.Contains(errs,
		"whose column town has categories that are released when the run is under way") || !strings.Contains(errs,
		"released by an earlier run") {
		t.Errorf("exit code %d: %s", code, errs)
	}
}
