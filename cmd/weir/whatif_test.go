package main

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"weir/runtime/experiment"
)

// TestWhatIfForetellsTheFiguresOfTheWholeSpec: stages that give no figure are left out, and stages that only these
// read; a paid stage never. Every figure has the bits of the same figure of a run of the whole spec with the same
// noise. The runs say which epsilon they are, and how many there are.
func TestWhatIfForetellsTheFiguresOfTheWholeSpec(t *testing.T) {
	s := newStudy(t, 60)
	s.training("independent")
	s.edit("spec.yaml", "adjacency: replace_one", "adjacency: replace_one, split: {train: 0.5, other: 0.5}")
	s.edit("spec.yaml", "  sample: {kind: sample, rows: 50}\n", `  sample: {kind: sample, rows: 50, from: train}
  other: {kind: independent, from: complete}
  kept: {kind: drop, columns: [flag], from: complete}
  unread: {kind: drop, columns: [group], from: kept}
  marginals: {kind: marginals, real: complete, synthetic: sample}
  report: {kind: report, real: complete, synthetic: sample}
`)
	code, out, errs := s.weir("what-if", s.path("spec.yaml"), "--epsilon", "1,2", "--rows", "40", "--repeats",
		"1", "--json")
	var foretold experiment.Table
	if err := json.Unmarshal([]byte(out), &foretold); err != nil || code != exitDone || len(foretold.Runs) != 2 {
		t.Fatalf("exit code %d, %d runs: %v: %s", code, len(foretold.Runs), err, errs)
	}
	whole := s.result("--set", "dataset.demo=domain", "--set", "dataset.demo_rows=40", "--set", "dataset.rows_public=40",
		"--set", "seed=0", "--insecure-noise-seed", "0").Metrics
	if got := foretold.Runs[0].Metrics; len(got) < 20 || !maps.Equal(got, whole) {
		t.Errorf("foretold are %v, must be as of the whole spec, %v", got, whole)
	}
	stages := slices.Sorted(maps.Keys(foretold.Runs[0].Seconds))
	want := []string{"clean", "complete", "features", "marginals", "other", "sample", "train"}
	if !slices.Equal(stages, want) {
		t.Errorf("%v are done, must be %v", stages, want)
	}
	for _, want := range []string{"run 2 of 2: epsilon 2, 40 rows, repeat 1 of 1\n", "2 of 2 runs done\n"} {
		if !strings.Contains(errs, want) {
			t.Errorf("%q, must say %q", errs, want)
		}
	}
}
