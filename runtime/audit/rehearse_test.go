package audit

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline"
	"weir/runtime"
)

// rehearsed returns the released file of a rehearsal.
func rehearsed(t *testing.T, s *Subject, c Change, seed Seed) []byte {
	t.Helper()
	r, err := s.Rehearse(t.Context(), c, seed)
	if err != nil {
		t.Fatal(err)
	}
	files, err := pipeline.ReadFiles(t.Context(), r.Released[pipeline.Ref{Stage: "sums", Port: "sums"}])
	if err != nil || len(files) != 1 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	return files[0].Data
}

// TestRehearsalLeavesNothing: no file is left in the folder of rehearsals, and none is written beside the dataset or
// anywhere else that a run of the spec would write to.
func TestRehearsalLeavesNothing(t *testing.T) {
	s := subjectOf(t)
	if _, err := s.Rehearse(t.Context(), Change{}, Seed{1}); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string][]string{s.opts.Out: nil, s.opts.Dir: {"people.csv", "spec.yaml"}} {
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		if !slices.Equal(names, want) {
			t.Errorf("%s holds %v, must hold %v", dir, names, want)
		}
	}
}

// TestRehearsalOfASeed: one seed gives one release, another seed another, and a run that charges the dataset of people
// is not found again by a rehearsal, nor disturbed by it.
func TestRehearsalOfASeed(t *testing.T) {
	s := subjectOf(t)
	one := rehearsed(t, s, Change{}, Seed{1})
	if !bytes.Equal(one, rehearsed(t, s, Change{}, Seed{1})) {
		t.Error("two rehearsals of one seed differ")
	}
	if bytes.Equal(one, rehearsed(t, s, Change{}, Seed{2})) {
		t.Error("two seeds give one noise")
	}
	plan, dir := planOf(t)
	opts := runtime.Local(filepath.Join(dir, "runs"))
	opts.Dir = dir
	if _, err := runtime.Run(t.Context(), plan, opts); err != nil {
		t.Fatal(err)
	}
	ledger := filepath.Join(dir, "people.csv.weir-ledger.jsonl")
	before, err := os.ReadFile(ledger)
	if err != nil {
		t.Fatal(err)
	}
	opts.Out = t.TempDir()
	if s, err = Open(plan, opts); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if !bytes.Equal(one, rehearsed(t, s, Change{}, Seed{1})) {
		t.Error("a rehearsal after a run differs from one before it")
	}
	if after, err := os.ReadFile(ledger); err != nil || !bytes.Equal(before, after) {
		t.Errorf("a rehearsal changed the ledger of the dataset (%v)", err)
	}
}

// TestChangesOfRows: sums of one seed differ by what the rows differ in, of which the test knows each (all are clipped
// to norm 1, so that three equal numbers count 3^-1/2 each).
func TestChangesOfRows(t *testing.T) {
	s := subjectOf(t)
	const third = 0.57735026919
	for name, c := range map[string]struct {
		change Change
		moves  float64
	}{
		"nothing":       {Change{}, 0},
		"the last row":  {Change{Drop: []int64{59}}, -third},
		"a row more":    {Change{Add: []arrow.Record{row(t, s, -10, -10, -10)}}, -third},
		"two rows more": {Change{Add: []arrow.Record{row(t, s, 9, 9, 9), row(t, s, 9, 9, 9)}}, 2 * third},
		"another row":   {Change{Put: map[int64]arrow.Record{59: row(t, s, -9, -9, -9)}}, -2 * third},
		"both": {Change{Drop: []int64{59}, Put: map[int64]arrow.Record{59: row(t, s, -9, -9, -9)}},
			-third},
	} {
		if moved := sum(t, s, c.change) - sum(t, s, Change{}); moved < c.moves-1e-5 || moved > c.moves+1e-5 {
			t.Errorf("%s: the first sum moves by %.6f, must by %.6f", name, moved, c.moves)
		}
	}
	wrong, err := s.Rehearse(t.Context(), Change{Add: []arrow.Record{counts(t)}}, Seed{1})
	if err == nil {
		t.Errorf("a row of other columns is taken: %v", wrong.Record.ID)
	}
}
