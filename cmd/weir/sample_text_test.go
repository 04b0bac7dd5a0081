package main

import (
	"strings"
	"testing"
)

// TestSampleWritesAsItsRun: rows that are drawn later have the text of the run's own tables, where the model lies in
// its release; --delimiter and the ending .tsv say otherwise.
func TestSampleWritesAsItsRun(t *testing.T) {
	s := newStudy(t, 300)
	s.write("data.csv", strings.ReplaceAll(s.read("data.csv"), ",", ";"))
	s.write("spec.yaml", "weir: 1\nname: study\ndataset: {file: data.csv, csv: {delimiter: ;}, domain: domain.yaml, "+
		"rows_public: 300}\n"+
		"privacy: {epsilon: 1, delta: 1e-6, adjacency: replace_one}\nwrite: {spreadsheet_safe: true}\n"+
		"stages:\n  features: {kind: drop, columns: [id]}\n  clean: {kind: bounds, outside: missing}\n  train: {kind: "+
		"independent}\n  sample: {kind: sample, rows: 9}\n")
	run := s.result("--fresh").Run
	ours, _, _ := strings.Cut(s.read(rel(t, s.dir, run)+"/release/sample.csv"), "\n")
	model := run + "/release/train.model"
	s.write("sent.model", s.read(rel(t, s.dir, model)))
	for _, c := range []struct{ model, out, want string }{
		{model, "more.csv", ours}, {run, "more2.csv", ours}, {model, "more.tsv", strings.ReplaceAll(ours, ";", "\t")},
		{s.path("sent.model"), "sent.csv", strings.ReplaceAll(ours, ";", ",")},
	} {
		if code, _, errs := s.weir("sample", c.model, "--rows", "5", "--out", s.path(c.out)); code != exitDone {
			t.Fatalf("exit code %d: %s", code, errs)
		}
		if got, _, _ := strings.Cut(s.read(c.out), "\n"); got != c.want {
			t.Errorf("%s: %q, must be %q", c.out, got, c.want)
		}
	}
	code, out, errs := s.weir("sample", model, "--rows", "5", "--delimiter", "|")
	if first, _, _ := strings.Cut(out, "\n"); code != exitDone || first != strings.ReplaceAll(ours, ";", "|") {
		t.Errorf("exit code %d: %q %s", code, first, errs)
	}
}
