package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// privateTowns returns an open study whose domain says that the list of towns is private, with
// bounds declared.
func privateTowns(t *testing.T) study {
	s := newOpenStudy(t, 4000)
	s.write("domain.yaml", `columns:
  - {name: id, type: integer, bounds: [0, 100000]}
  - {name: income, type: integer, bounds: [0, 100000]}
  - {name: weight, type: numeric, step: 0.25, bounds: [-4, 8]}
  - {name: town, type: categorical, categories: private}
  - {name: flag, type: boolean}
`)
	return s
}

// TestPrivateCategoriesAreAskedFor: a model that needs a private list is refused, with the
// lines to add; with these, as they are printed, the run goes through, and what is released
// is what many rows have.
func TestPrivateCategoriesAreAskedFor(t *testing.T) {
	s := privateTowns(t)
	const stages = "  train: {kind: marginal_tree}\n  sample: {kind: sample, rows: 1000}\n"
	spec := func(share, added string) {
		s.write("spec.yaml", "weir: 1\nname: open\ndataset: {file: data.csv, domain: domain.yaml}\nprivacy:\n  epsilon: "+
			"3\n  delta: 1e-6\n  adjacency: add_remove\n"+share+
			"stages:\n  features: {kind: drop, columns: [id]}\n  clean: {kind: bounds, outside: clip}\n"+added+stages)
	}
	spec("", "")
	code, out, errs := s.weir("check", s.path("spec.yaml"))
	lines := regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(out+errs, -1)
	if code == exitDone || !strings.Contains(out+errs, "W02") || len(lines) != 2 {
		t.Fatalf("exit code %d, must refuse and print two lines to add: %s%s", code, out, errs)
	}
	if lines[0][1] != "categories: {kind: dp_categories, columns: [town]}" ||
		lines[1][1] != "split: {categories: 0.2, train: 0.8}" {
		t.Fatalf("the lines are %q", lines)
	}
	spec("  "+lines[1][1]+"\n", "  "+lines[0][1]+"\n")
	s.saysOfBudget("plan", exitDone, "afterwards       no budget (dataset.budget) can be set on this dataset, for good")
	r := s.result()
	if text := flat(released(t, r, "release/domain.yaml")); !strings.Contains(text, "[Arden, Bree, Combe, other]") {
		t.Errorf("domain.yaml has not what was released:\n%s", text)
	}
	nothingShows(t, filepath.Join(r.Run, "release"), "Needlestone")
	s.saysOfBudget("plan", exitDone, "budget           none, and none can be set")
	s.edit("spec.yaml", "domain: domain.yaml", "domain: domain.yaml, budget: {epsilon: 9, delta: 1e-5}")
	s.saysOfBudget("plan", exitPrivacy, "no sum, since the filter has no measure for a charge (filter rdp",
		"if all charges were fixed in advance")
	s.saysOfBudget("check", exitPrivacy, "dataset.budget: is set with charges that no filter has a measure for, must "+
		"be left out")
}

// saysOfBudget fails the test where a command on the spec ends otherwise or does not print all texts.
func (s study) saysOfBudget(command string, want int, texts ...string) {
	s.t.Helper()
	code, out, errs := s.weir(command, s.path("spec.yaml"))
	for _, text := range texts {
		if code != want || !strings.Contains(out+errs, text) {
			s.t.Errorf("weir %s: exit code %d, must be %d, and say %q:\n%s%s", command, code, want, text, out, errs)
		}
	}
}

// TestInitReleasesPrivateCategories: a spec that is begun from a domain with a private list
// has the stage that releases it and its part of the budget, and runs; the column can be the
// target.
func TestInitReleasesPrivateCategories(t *testing.T) {
	t.Parallel()
	s := privateTowns(t)
	if code, _, errs := s.weir("init", s.path("new"), "--from", s.path("domain.yaml"), "--data", s.path("data.csv"),
		"--target", "town"); code != exitDone {
		t.Fatalf("init: exit code %d: %s", code, errs)
	}
	text := s.read("new/pipeline.yaml")
	for _, want := range []string{"  categories: {kind: dp_categories, columns: [town]}\n",
		"  split: {categories: 0.2, train: 0.8} ", "models: [logistic_regression]",
		"drop, from: split.train, columns: [id]"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if code, _, errs := s.weir("run", s.path("new/pipeline.yaml"), "--out", s.path("runs")); code != exitDone {
		t.Fatalf("run: exit code %d: %s", code, errs)
	}
	dirs, _ := filepath.Glob(s.path("runs/data/2*"))
	if len(dirs) != 1 {
		t.Fatalf("runs %v, must be one", dirs)
	}
	if bill := s.read(rel(t, s.dir, dirs[0]) + "/release/BILL.txt"); !strings.Contains(bill,
		"partition selection of 1 column") {
		t.Errorf("the bill must list the selection:\n%s", bill)
	}
}
