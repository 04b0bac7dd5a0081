package main

import (
	"strings"
	"testing"

	"weir/record"
)

// TestResultRoundsBoundsUp: the end of a run says no less than PRIVACY.md.
func TestResultRoundsBoundsUp(t *testing.T) {
	proven, published := 1.99950002, 0.123451
	var b strings.Builder
	epsilons(&b, &b, record.Terms{Proven: &proven, Published: &published, Delta: 1e-6})
	if text := b.String(); !strings.Contains(text, " 1.9996 at delta") || !strings.Contains(text, " 0.12346 by the paper") {
		t.Errorf("a run ends with %s", text)
	}
}

// TestTablesAreNamedForWhatTheyHold: rows of people and lists of counts are not called
// synthetic at the end of a run.
func TestTablesAreNamedForWhatTheyHold(t *testing.T) {
	rec := &record.Run{Stages: []record.Stage{{ID: "draw", Kind: "sample"}, {ID: "keep", Kind: "write"}}}
	for _, c := range []struct{ path, what, want string }{
		{"release/draw.csv", "table of stage draw", "synthetic table"},
		{"internal/draw.csv", "table of stage draw", "synthetic table"},
		{"internal/keep.csv", "table of stage keep", "PRIVATE table"},
		{"release/keep.csv", "table of stage keep", "released table"},
		{"release/train.marginals.csv", "", "noisy counts"},
	} {
		if got := tableWord(rec, record.File{Path: c.path, What: c.what}); got != c.want {
			t.Errorf("%s is a %s, must be a %s", c.path, got, c.want)
		}
	}
}
