package weir_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"weir/pipeline/spec"
)

// TestRulesAreHeldWhereTheyAreSaidToBe: a rule that weir check reports stands in
// the compiler or a stage, one that only a run reports in the runtime, every other
// one in neither; and the tests that a rule names are there.
func TestRulesAreHeldWhereTheyAreSaidToBe(t *testing.T) {
	reports, tests := project(t)
	for i, r := range spec.AuditRules() {
		if want := fmt.Sprintf("W%02d", i+1); r.ID != want {
			t.Errorf("%s is out of order, must be %s", r.ID, want)
		}
		if held := holder(reports, r.ID); held != r.Held {
			t.Errorf("%s is held by %s, must be %s: by the files where its number stands", r.ID, r.Held, held)
		}
		if r.Held == spec.HeldByDesign && len(r.Tests) == 0 {
			t.Errorf("%s names no test: what shows that it holds?", r.ID)
		}
		for _, name := range r.Tests {
			if !strings.Contains(tests, "\nfunc "+name+"(t *testing.T)") {
				t.Errorf("%s names the test %s, which is not there", r.ID, name)
			}
		}
	}
	if len(reports) < 100 || len(tests) < 1e5 {
		t.Errorf("only %d files and %d bytes of tests were read", len(reports), len(tests))
	}
}

// holder says who reports a rule, by the rooms where its number stands.
func holder(reports map[string]string, id string) spec.Holder {
	retained := spec.HeldByDesign
	for path, text := range reports {
		if !strings.Contains(text, `"`+id+`"`) {
			continue
		}
		if room, _, _ := strings.Cut(path, "/"); room == "pipeline" || room == "stages" {
			return spec.HeldByCheck
		}
		retained = spec.HeldByRun
	}
	return retained
}

// project reads the rooms that report rules, and every test.
func project(t *testing.T) (reports map[string]string, tests string) {
	t.Helper()
	reports = map[string]string{}
	root := "."
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(root, path)
		room, _, _ := strings.Cut(filepath.ToSlash(name), "/")
		switch {
		case strings.HasSuffix(path, "_test.go"):
			tests += string(text)
		case slices.Contains([]string{"pipeline", "stages", "runtime"}, room) && !strings.Contains(filepath.ToSlash(name),
			"pipeline/spec/audit.go"):
			reports[filepath.ToSlash(name)] = string(text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return reports, tests
}
