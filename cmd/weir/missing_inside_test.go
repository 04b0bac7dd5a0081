package main

import (
	"strings"
	"testing"
)

// TestMissingInsideTheBounds: 0 stands for a missing value between bounds of 0 and 10. The
// model, noisy at epsilon .1, draws 0 too: that ends no run once it is paid
// for, and the domain of the release reads it as the number that it is. Nor does a private
// row show that is clipped to 0 before it is written.
func TestMissingInsideTheBounds(t *testing.T) {
	for what, stages := range map[string]string{
		"drawn":   "  train: {kind: independent}\n  rows: {kind: sample, rows: 2000}\n",
		"clipped": "  clean: {kind: bounds, outside: clip}\n  rows: {kind: write}\n",
	} {
		s := study{t, t.TempDir()}
		s.write("data.csv", "n,c\n"+strings.Repeat("0,a\n3,b\n-4,a\n", 400))
		s.write("spec.yaml", `weir: 1
name: zero
dataset:
  file: data.csv
  domain:
    columns:
      - {name: n, type: integer, bounds: [0, 10], missing: ["0", NA], nullable: true}
      - {name: c, type: categorical, categories: [a, b]}
privacy: {epsilon: 0.1, delta: 1e-6, adjacency: add_remove}
stages:
`+stages)
		r := s.result("--insecure-noise-seed", "1") // of drawn noise one in twelve leaves no 0 or no NA
		if what == "clipped" {
			continue
		}
		rows := released(t, r, "release/rows.csv")
		if !strings.Contains(rows, "\n0,") || !strings.Contains(rows, "\nNA,") {
			t.Errorf("no 0 and no NA among rows: the test is blind")
		}
		if text := flat(released(t, r, "release/domain.yaml")); !strings.Contains(text, "missing: [NA]") {
			t.Errorf("the released domain takes 0 for missing:\n%s", text)
		}
	}
}
