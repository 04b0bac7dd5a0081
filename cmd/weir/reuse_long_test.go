//go:build long

package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestADayOfEdits counts the lines of the ledger: what does not change the computation of a
// paid stage costs nothing, and what changes it is one charge.
func TestADayOfEdits(t *testing.T) {
	t.Parallel()
	d := newDay(t)
	first := d.step("the first run", 1)
	if again := d.step("again", 0); !again.Reused || again.Run != first.Run {
		t.Errorf("the same spec is %s, must be shown", again.Run)
	}
	d.edit("spec.yaml", "seed: 3\n", "# a comment\n")
	if again := d.edited("name: study\n", "seed: 3\nname: study\n", "comments and the order of keys", 0); !again.Reused {
		t.Error("comments and the order of keys make another run")
	}
	rows := d.edited("rows: 50", "rows: 60", "rows", 0)
	if rows.From["train"] != filepath.Base(first.Run) || released(t, rows, "train.model") != released(t, first,
		"train.model") {
		t.Errorf("rows: train is of run %q, must be the model of %s", rows.From["train"], first.Run)
	}
	d.edited("rows: 60}\n", "rows: 60}\n  close: {kind: marginals, real: features, synthetic: sample}\n  "+
		"report: {kind: report, real: features, synthetic: sample}\n", "an evaluation", 0)
	d.edited("kind: report,", "kind: report, target: flag,", "plots", 0)
	d.edited("name: study\n", "name: renamed\n", "the name", 0)
	d.edited("seed: 3", "seed: 4", "the seed", 1)
	d.edited("seed: 4", "seed: 3", "the seed as it was", 0)
	d.edited("epsilon: 1,", "epsilon: 0.5,", "the noise", 1)
	d.edited("kind: auto}", "kind: auto, target_weight: 3}", "a setting of the model", 1)
	table := d.read("data.csv")
	d.write("data.csv", strings.Replace(table, "35838", "35839", 1))
	if code, _, errs := d.run(); code != exitPrivacy || !strings.Contains(errs, "dataset.version") {
		t.Errorf("exit %d, %s: other data under a version that was charged must be refused", code, errs)
	}
	d.step("the data", 1, "--set", "dataset.version=2")
	d.write("data.csv", table)
	d.step("the data as they were", 0)
	fresh := d.step("--fresh", 1, "--fresh")
	if latest := d.edited("rows: 60", "rows: 70", "rows again", 0); latest.From["train"] != filepath.Base(fresh.Run) {
		t.Errorf("the model is of run %q, must be the latest, of %s", latest.From["train"], fresh.Run)
	}
	for _, run := range []string{first.Run, rows.Run, d.runs[len(d.runs)-1]} {
		if code, out, errs := d.weir("verify", run); code != exitDone {
			t.Errorf("verify %s: %d: %s%s", run, code, out, errs)
		}
	}
}
