package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weir/record"
)

// TestRemadeRunChargesNothing: with release/ gone it is made again, uncharged. With a public file
// changed from which a paid stage's input follows, a run is another computation, which is a
// charge of its own; the record of the finished run keeps its charges.
func TestRemadeRunChargesNothing(t *testing.T) {
	s := newStudy(t, 400)
	s.write("ref.csv", references)
	s.edit("data.csv", "2,35838,c,0", "2,35838,,0")
	s.edit("domain.yaml", "categories: [a, b, c]", "categories: [a, b, c], nullable: true")
	s.edit("spec.yaml", "  encode: {kind: encode}\n", imputedStages+"  encode: {kind: encode, from: imputed}\n")
	r := s.result()
	before := s.record(r.Run)
	s.must(os.RemoveAll(filepath.Join(r.Run, "release")))
	s.write("ref.csv", "group,flag\nb,1\nb,0\nc,1\n")
	code, _, errs := s.run()
	if code != exitDone || !strings.Contains(errs, "another computation") || s.charges() != 2 {
		t.Errorf("exit code %d and %d charges, must be another run and its charge: %s", code, s.charges(), errs)
	}
	if after := s.record(r.Run); after.Status != record.Done || len(after.Charges) != 1 ||
		after.Dataset.LedgerHead != before.Dataset.LedgerHead {
		t.Errorf("the record has status %s, %d charges and the head %q; must be as it was", after.Status, len(after.Charges),
			after.Dataset.LedgerHead)
	}
	s.write("ref.csv", "group,flag\na,1\nb,0\nc,1\n")
	if again := s.result(); again.Run != r.Run {
		t.Errorf("with the file as it was the run is made again in %s, must be in %s", again.Run, r.Run)
	}
	if s.charges() != 2 {
		t.Errorf("%d charges, must be 2", s.charges())
	}
}

func (s study) record(dir string) *record.Run {
	s.t.Helper()
	rec, err := readRun(dir)
	s.must(err)
	return rec
}
