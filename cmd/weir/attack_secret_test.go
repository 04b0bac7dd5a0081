package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weir/internal/disk"
)

// TestCopiesUnderOtherSecretsDrawTheirOwn: who has the ledger of a dataset and not its owner file begins a side with a
// secret of its own at each opening until a charge. A run that has charged nothing there is copied with its folder,
// and continued in both places: its split falls to other rows in each, so neither has the noise of the other, nor its
// charge: the second place begins a run of another key.
func TestCopiesUnderOtherSecretsDrawTheirOwn(t *testing.T) {
	s := newOpenStudy(t, 2000)
	s.write("spec.yaml", `weir: 1
name: pair
dataset: {file: data.csv, domain: domain.yaml}
privacy: {epsilon: 1, delta: 1e-6, adjacency: add_remove}
stages:
  features: {kind: select, columns: [flag]}
  split: {kind: split, train: 0.5, test: 0.5}
  train: {kind: independent}
  sample: {kind: sample, rows: 50}
`)
	s.done(false)
	for _, name := range []string{"data.csv.weir-owner.json", "data.csv.weir-owner.jsonl", "runs"} {
		s.must(os.RemoveAll(s.path(name)))
	}
	_, err := s.overIn("runs", disk.Disk{Watch: func(c disk.Change) (int64, error) {
		if c.Op == disk.OpRename && strings.HasSuffix(c.To, "noise-train.json") {
			return 0, errDisk
		}
		return 0, nil
	}}, nil)
	if err == nil {
		t.Fatal("the run was not stopped")
	}
	copied := t.TempDir()
	s.must(os.CopyFS(copied, os.DirFS(s.dir)))
	local := s.done(false)
	// Another machine has the copy under the same path.
	s.must(os.Rename(s.dir, filepath.Join(t.TempDir(), "here")))
	s.must(os.Rename(copied, s.dir))
	there := s.done(false)
	if local.Record.KeyCommitment == there.Record.KeyCommitment {
		t.Errorf("the model has the noise of one key in both places, %s", local.Record.KeyCommitment)
	}
	if a, b := idOf(local.Record, "train"), idOf(there.Record, "train"); a == b || a == "" || b == "" {
		t.Errorf("the model is charged as %s in one place and as %s in the other, must be two charges", a, b)
	}
}
