package main

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// hospital returns a study of three columns, of which one is a date.
func hospital(t *testing.T) study {
	t.Helper()
	s := study{t, t.TempDir()}
	var b strings.Builder
	b.WriteString("admitted,ward,days\n")
	for i := range 400 {
		b.WriteString("2021-01-" + []string{"03", "17", "30"}[i%3] + "," + []string{"east", "west"}[i/3%2] + "," +
			strconv.Itoa(1+i%9) + "\n")
	}
	s.write("data.csv", b.String())
	s.write("domain.yaml", `columns:
  - {name: admitted, type: date, bounds: [2021-01-01, 2021-12-31]}
  - {name: ward, type: categorical, categories: [east, west]}
  - {name: days, type: integer, bounds: [0, 30]}
`)
	s.write("spec.yaml", `weir: 1
name: stays
dataset: {file: data.csv, domain: domain.yaml}
privacy: {epsilon: 10, delta: 1e-6, adjacency: add_remove}
stages:
  few: {kind: drop, columns: [days]}
  train: {kind: marginal_tree, from: few}
  sample: {kind: sample, rows: 50}
  scored: {kind: score, from: sample, model: train}
  scores: {kind: write, from: scored}
`)
	return s
}

// TestSampleDrawsCopies: as the setting of the kind does, one table below the other, and
// dates as dates.
func TestSampleDrawsCopies(t *testing.T) {
	s := hospital(t)
	run := s.result().Run
	code, out, errs := s.weir("sample", filepath.Join(run, "release", "train.model"), "--rows", "7", "--copies", "3")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if code != exitDone || len(lines) != 22 || lines[0] != "admitted,ward,copy" {
		t.Fatalf("exit code %d, %d lines, head %s: %s", code, len(lines), lines[0], errs)
	}
	for i, line := range lines[1:] {
		if !strings.HasPrefix(line, "2021-") || !strings.HasSuffix(line, ","+strconv.Itoa(1+i/7)) {
			t.Errorf("row %d is %s, must be of copy %d", i, line, 1+i/7)
		}
	}
	for _, wrong := range []string{"1", "-2", "1001"} {
		code, _, errs := s.weir("sample", filepath.Join(run, "release", "train.model"), "--copies", wrong)
		if code != exitUsage || !strings.Contains(errs, "--copies: is "+wrong+", must be 2 to 1000") {
			t.Errorf("--copies %s: exit code %d: %s", wrong, code, errs)
		}
	}
	for step, want := range map[string]string{"0": "--step: is 0, must be at least 1", "3": "step: is 3, must be absent"} {
		if code, _, errs := s.weir("sample", filepath.Join(run, "release", "train.model"), "--step", step); code ==
			exitDone || !strings.Contains(errs, want) {
			t.Errorf("--step %s: exit code %d: %s", step, code, errs)
		}
	}
}

// TestEachReleasedTableHasItsDomain: domain.yaml is the domain of the synthetic rows, without the
// column that was dropped and the scores that another table has beside.
func TestEachReleasedTableHasItsDomain(t *testing.T) {
	s := hospital(t)
	release := filepath.Join(s.result().Run, "release")
	for table, domain := range map[string]string{"sample.csv": "domain.yaml", "scores.csv": "scores.domain.yaml"} {
		table, domain = filepath.Join(release, table), filepath.Join(release, domain)
		code, _, errs := s.weir("evaluate", "--real", table, "--synthetic", table, "--domain", domain, "--metrics",
			"marginals")
		if code != exitDone {
			t.Errorf("%s with %s: exit code %d: %s", table, domain, code, errs)
		}
	}
	text := released(t, s.result(), "release/domain.yaml")
	if strings.Contains(text, "days") || strings.Contains(text, "score") || !strings.Contains(text, "2021-12-31") {
		t.Errorf("domain.yaml is not that of sample.csv:\n%s", text)
	}
}
