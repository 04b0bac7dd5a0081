package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/runtime"
	"weir/runtime/audit"
	"weir/stages"
	"weir/stages/model/graphical"
)

// twice is a model of columns that counts every row twice, and pays for one: a planted fault.
type twice struct {
	graphical.Independent `yaml:",inline"`
}

// Plan implements pipeline.Stage.
func (s *twice) Plan(in pipeline.Headers) (pipeline.Work, error) {
	work, err := s.Independent.Plan(in)
	run := work.Run
	work.Counts = nil
	work.Run = func(ctx context.Context, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
		t := in["in"]
		open := t.Open
		t.Open = func(ctx context.Context) pipeline.Batches {
			return func(yield func(arrow.Record, error) bool) {
				for rec, err := range open(ctx) {
					if !yield(rec, err) || err != nil || !yield(rec, err) {
						return
					}
				}
			}
		}
		return run(ctx, env, pipeline.Tables{"in": t})
	}
	return work, err
}

// kindsAndTwice returns all kinds, and the planted one.
func kindsAndTwice(t *testing.T) []pipeline.Kind {
	t.Helper()
	list := stages.Kinds()
	for _, k := range list {
		if k.Name == "independent" {
			k.Name, k.New, k.Readers = "twice", func() pipeline.Stage { return &twice{} }, nil
			return append(list, k)
		}
	}
	t.Fatal("no kind independent")
	return nil
}

// wards returns a table of 2,000 rows whose one column has 100 of many wards: the others are left for canaries.
func wards(many int) (domain, rows string) {
	var d, r strings.Builder
	d.WriteString("columns:\n  - name: ward\n    type: categorical\n    categories: [")
	for i := range many {
		fmt.Fprintf(&d, "w%d, ", i)
	}
	r.WriteString("ward\n")
	for i := range 2000 {
		fmt.Fprintf(&r, "w%d\n", i%100)
	}
	return d.String() + "]\n", r.String()
}

// subject opens a spec of stages over a table for an audit.
func subject(t *testing.T, kinds []pipeline.Kind, domain, rows, text string) *audit.Subject {
	t.Helper()
	s := study{t, t.TempDir()}
	s.write("domain.yaml", domain)
	s.write("rows.csv", rows)
	s.write("spec.yaml", text)
	return s.subject(kinds)
}

// subject opens the spec of a study for an audit.
func (s study) subject(kinds []pipeline.Kind) *audit.Subject {
	t, dir := s.t, s.dir
	t.Helper()
	reg, err := runtime.Registry(kinds)
	if err != nil {
		t.Fatal(err)
	}
	read, err := runtime.LoadSpec(filepath.Join(dir, "spec.yaml"), nil, false, reg)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := compile.Compile(read)
	if err != nil {
		t.Fatal(err)
	}
	opts := runtime.Local(t.TempDir())
	opts.Dir = dir
	subject, err := audit.Open(plan, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { subject.Close() })
	return subject
}

const wardsSpec = `weir: 1
name: wards
dataset: {file: rows.csv, domain: domain.yaml, privacy_unit: row}
privacy: {epsilon: 4, delta: 1e-5, adjacency: add_remove}
stages:
  train: {kind: %s}
  sample: {kind: sample, rows: 100}
`

// played plays a game with fixed randomness: a test that passes keeps passing.
func played(t *testing.T, s *audit.Subject, canaries, runs int) *audit.Canaries {
	t.Helper()
	found, err := s.Canaries(t.Context(), audit.Game{Canaries: canaries, Runs: runs, Random: rand.NewChaCha8([32]byte{7})})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestCanaryBoundOfIndependent: 10,000 canaries in cells of their own refute, in one run at confidence .95, every mu
// whose epsilon is half of the proven one, and not the proven one. Of other randomness than the fixed one, a model that
// is right fails the first with a chance of about 1e-4 (at most 424 of 500 guesses right; 24 games of other randomness
// had a mean of 447.2 and a deviation of 6.2), the second with .05, and is refuted with 1e-6 (theorem 1 of
// docs/design/canary.md).
func TestCanaryBoundOfIndependent(t *testing.T) {
	domain, rows := wards(10_200)
	found := played(t, subject(t, kindsAndTwice(t), domain, rows, fmt.Sprintf(wardsSpec, "independent")), 10_000, 1)
	epsilon, proven := *found.Bounds[0].Epsilon, *found.Proven
	if found.Own != 10_000 || found.Refuted || epsilon < proven/2 || epsilon > proven {
		t.Errorf("epsilon above %.3g of %.3g proven, by %d canaries on their own, refuted: %v; must be above half, by 10,000",
			epsilon, proven, found.Own, found.Refuted)
	}
	if any := found.Bounds[0].Any; any < 1 || any > *found.Proven {
		t.Errorf("epsilon of any mechanism is above %.3g, must be above 1 and not above %.3g", any, *found.Proven)
	}
}

// TestNoRoomForUnitsTellsNoCount: canaries for which a column has too few free names of units are refused in words that
// do not tell how many units there are (20 of 31 names: 11 are free).
func TestNoRoomForUnitsTellsNoCount(t *testing.T) {
	t.Parallel()
	s := study{t, t.TempDir()}
	s.write("domain.yaml", "columns:\n  - {name: pid, type: integer, bounds: [0, 30]}\n  - {name: flag, type: boolean}\n")
	rows := "pid,flag\n"
	for i := range 20 {
		rows += fmt.Sprintf("%d,%d\n", i, i%2)
	}
	s.write("rows.csv", rows)
	s.write("spec.yaml", strings.NewReplacer("privacy_unit: row", "privacy_unit: {column: pid, max_rows: 2}", "{kind: %s}",
		"{kind: independent, from: drop}", "stages:", "stages:\n  drop: {kind: drop, columns: [pid]}").Replace(wardsSpec))
	code, out, errs := s.weir("audit", s.path("spec.yaml"), "--canary", "--canaries", "40", "--out", s.path("runs"))
	printed := strings.ReplaceAll(out+errs, s.dir, "")
	if code != exitUsage || !strings.Contains(printed, "column pid which no unit") || strings.Contains(printed, "11") ||
		strings.Contains(printed, "20") {
		t.Errorf("exit code %d, %s: must be refused without a count", code, printed)
	}
}

// TestCanaryCommand: what was found is printed, as text or JSON, and kept where the owner alone reads it; a game that
// cannot be played is a mistake of the command line; a bill that is refuted ends with exit code 4.
func TestCanaryCommand(t *testing.T) {
	t.Parallel()
	domain, rows := wards(200)
	s := study{t, t.TempDir()}
	s.write("domain.yaml", domain)
	s.write("rows.csv", rows)
	s.write("spec.yaml", fmt.Sprintf(wardsSpec, "independent"))
	for _, format := range []string{"--json=false", "--json"} {
		code, out, errs := s.weir("audit", s.path("spec.yaml"), "--canary", "--canaries", "40", "--runs", "1", "--out",
			s.path("runs"), format)
		if code != exitDone || !strings.Contains(out, "0.9247-GDP") || !strings.Contains(out, "internal/canary-") {
			t.Errorf("%s: exit code %d, %s%s", format, code, out, errs)
		}
	}
	files, err := filepath.Glob(s.path("runs/wards/internal/canary-*.json"))
	if err != nil || len(files) != 2 {
		t.Fatalf("kept are %v (%v), must be two", files, err)
	}
	if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%s is %v (%v), must be the owner's alone", files[0], info.Mode(), err)
	}
	if code, _, errs := s.weir("audit", s.path("spec.yaml"), "--canary", "--canaries", "5"); code != exitUsage ||
		!strings.Contains(errs, "--canaries: are 5, must be 1, or 20") || strings.Contains(errs, "note:") {
		t.Errorf("5 canaries: exit code %d, %s", code, errs)
	}
	for want, args := range map[string][]string{
		"--neighbours: is given with --canary, must be given without": {"--canary", "--neighbours", "3"},
		"--no-pairs: is given with --canary":                          {"--canary", "--with", "x.yaml", "--no-pairs"},
		"--runs: is given without --canary, must be given with":       {"--canaries", "40", "--runs", "2"},
	} {
		if code, _, errs := s.weir(append([]string{"audit", s.path("spec.yaml")}, args...)...); code != exitUsage ||
			!strings.Contains(errs, want) {
			t.Errorf("%v: exit code %d, %s", args, code, errs)
		}
	}
	for _, f := range []auditFlags{{}, {asJSON: true}} {
		if code := exitCode(t.Context(), f.refuted(&audit.Canaries{Refuted: true})); code != exitMismatch {
			t.Errorf("a refuted bill ends with exit code %d, must be %d", code, exitMismatch)
		}
	}
}
