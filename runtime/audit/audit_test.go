package audit

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"weir/pipeline"
	"weir/privacy/noise"
)

// audited audits the spec of a test.
func audited(t *testing.T, s *Subject, neighbours int, pairs bool) *Report {
	t.Helper()
	r, err := s.Audit(t.Context(), Settings{Neighbours: neighbours, Pairs: pairs, Seed: Seed{1}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// wordsOf returns the faults of a report, a line each.
func wordsOf(r *Report) string {
	var list []string
	for _, f := range r.Faults {
		list = append(list, fmt.Sprintf("%s: %s (%s)", f.Stage, f.Text, strings.Join(f.Seen, "; ")))
	}
	return strings.Join(list, "\n")
}

// TestRightSpecPasses: under either adjacency the audit of a right spec finds nothing, and reaches all that is paid
// for: a row at the ends of its domain is clipped to the norm that the mechanism states.
func TestRightSpecPasses(t *testing.T) {
	for _, edits := range [][]string{nil, {"adjacency: add_remove", "adjacency: replace_one", "privacy_unit: row",
		"privacy_unit: row\n  rows_public: 60"}} {
		r := audited(t, subjectOf(t, edits...), 6, true)
		if len(r.Faults) > 0 {
			t.Errorf("%v: %s", edits, wordsOf(r))
		}
		line := r.Stages[0]
		if len(r.Stages) != 1 || line.Mechanism != "sums" || line.Compared < 6 || line.Reached == nil ||
			*line.Reached < .9999 || *line.Reached > 1 {
			t.Errorf("%v: %+v, must reach all that is paid for", edits, r.Stages)
		}
	}
}

// TestPlantedFaultsAreFound: each by the name of its stage, and by what is wrong.
func TestPlantedFaultsAreFound(t *testing.T) {
	for fault, want := range map[string]string{
		"an unpaid look":               "its output sums differs",
		"a wide clip":                  "its sensitivity is larger than paid for",
		"a private row count":          "its output rows differs",
		"one stream twice":             "asked for twice",
		"the same noise":               "has the noise of",
		"a count in an error":          "its error differs",
		"a panic":                      "internal error in weir",
		"noise doubled":                "has the noise of",
		"noise negated":                "has the noise of",
		"no noise":                     "no noise was drawn",
		"a look inside what comes out": "holds something else of the rows",
	} {
		r := audited(t, subjectOf(t, "fault: none", "fault: "+fault), 4, false)
		if !slices.ContainsFunc(r.Faults, func(f Found) bool {
			return f.Stage == "sums" && strings.Contains(f.Text, want) && len(f.Seen) > 0
		}) {
			t.Errorf("%s: %q, must say of sums: %s", fault, wordsOf(r), want)
		}
		if panics := strings.Join(r.Panics, "\n"); strings.Contains(panics, "of a test") != (fault == "a panic") {
			t.Errorf("%s: kept of panics: %q", fault, panics)
		}
		if r.Stages[0].Faults == 0 {
			t.Errorf("%s: the line of the stage has no fault", fault)
		}
	}
}

// TestSharedSecretIsFound: a secret that is one whatever the rows are is found by the runs that share it on different
// rows, at the name of its stage, and by no run alone.
func TestSharedSecretIsFound(t *testing.T) {
	s := subjectOf(t)
	s.plant = func(stage string, env *pipeline.Env) {
		env.Secret = func(string) *noise.Stream {
			st, err := noise.NewSource(noise.Key{1}, stage).Stream("planted", 0)
			if err != nil {
				panic(err)
			}
			return st
		}
	}
	r := audited(t, s, 1, true)
	if len(r.Faults) != 1 || r.Faults[0].Stage != "sums" || !strings.Contains(r.Faults[0].Text, "the same secret draws") ||
		!strings.Contains(r.Faults[0].Seen[0], "new version") {
		t.Errorf("%q, must be one fault of sums", wordsOf(r))
	}
}

// TestNeighboursCostWhatCanDiffer: a stage that reads released rows alone works once, and a stage of which nothing
// leaves once more, on the first neighbour; a stage that pays works on every table.
func TestNeighboursCostWhatCanDiffer(t *testing.T) {
	s := subjectOf(t, "fault: none}", "fault: none}\n  shown: {kind: same, from: sums.rows}\n"+
		"  inside: {kind: look, from: dataset}")
	var mu sync.Mutex
	worked := map[string]int{}
	s.plant = func(stage string, _ *pipeline.Env) {
		mu.Lock()
		defer mu.Unlock()
		worked[stage]++
	}
	r := audited(t, s, 5, false)
	if len(r.Faults) > 0 {
		t.Error(wordsOf(r))
	}
	if want := map[string]int{"sums": r.Runs, "shown": 1, "inside": 2}; !maps.Equal(worked, want) {
		t.Errorf("stages work %v times in %d runs, must %v", worked, r.Runs, want)
	}
}

// TestOtherNumbersAreExplained: where more or fewer neighbours are tried than were asked for, the report says why: a
// row of a new unit lacks a name, or there are no further rows.
func TestOtherNumbersAreExplained(t *testing.T) {
	s := subjectOf(t, "privacy_unit: row", "privacy_unit: {column: c, max_rows: 1}", "file: people.csv", "file: ids.csv",
		"{name: c, type: numeric", "{name: c, type: integer", "{kind: sums, noise_multiplier: 5, fault: none}",
		"{kind: look}")
	rows := []byte("a,b,c\n1,1,1\n1,1,2\n2,2,3\n")
	if err := os.WriteFile(filepath.Join(s.opts.Dir, "ids.csv"), rows, 0o600); err != nil {
		t.Fatal(err)
	}
	if text := audited(t, s, 5, false).Text(); !strings.Contains(text, "a new privacy unit needs") {
		t.Errorf("where no unit can be added the report says\n%s", text)
	}
	for want, r := range map[string]Report{
		"":                                {Asked: 2, Neighbours: 2, unnamed: "a"},
		" 2 were asked for; more were":    {Asked: 2, Neighbours: 3, unnamed: "a"},
		" 4 were asked for; the dataset ": {Asked: 4, Neighbours: 3},
	} {
		if got := r.otherNumber(); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%d tried of %d: %q, must begin with %q", r.Neighbours, r.Asked, got, want)
		}
	}
}

// TestNothingIsLeft: neither an audit that ends nor one that is interrupted leaves a file of its runs, beside the rows
// either.
func TestNothingIsLeft(t *testing.T) {
	for _, interrupted := range []bool{false, true} {
		s := subjectOf(t)
		ctx, stop := context.WithCancel(t.Context())
		_, err := s.Audit(ctx, Settings{Neighbours: 2, Seed: Seed{1}, Ran: func(done, _ int, _ string) {
			if interrupted && done == 2 {
				stop()
			}
		}})
		stop()
		if (err != nil) != interrupted {
			t.Fatal(err)
		}
		for _, dir := range []string{s.opts.Out, s.opts.Dir} {
			filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
				if err == nil && !d.IsDir() && d.Name() != "people.csv" && d.Name() != "spec.yaml" {
					t.Errorf("interrupted %t: %s is left", interrupted, path)
				}
				return nil
			})
		}
	}
}

// TestNothingIsClaimed: at epsilon infinity no fault is reported of what pays, nor behind it, and the report says so.
func TestNothingIsClaimed(t *testing.T) {
	r := audited(t, subjectOf(t, "epsilon: 4, delta: 1e-5", "epsilon: inf, claims: none", "noise_multiplier: 5, ", "",
		"fault: none}", "fault: an unpaid look}\n  shown: {kind: same, from: sums.rows}"), 2, true)
	if len(r.Faults) > 0 {
		t.Error(wordsOf(r))
	}
	for _, line := range r.Stages {
		if line.NoClaim == "" {
			t.Errorf("%+v claims something", line)
		}
	}
	if text := r.Text(); !strings.Contains(text, "no claim on sums: epsilon is inf") {
		t.Error(text)
	}
}
