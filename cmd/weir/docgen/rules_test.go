package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/pipeline/spec"
	"weir/runtime"
	"weir/stages"
)

// TestRulesHaveExamples: of each rule that weir check reports there is a spec that it finds, at its level and with no
// fault of another kind, and one without a fault that it does not find; a rule that holds otherwise names the tests
// that show it.
func TestRulesHaveExamples(t *testing.T) {
	base, examples, err := readExamples("../../../testdata/rules")
	if err != nil {
		t.Fatal(err)
	}
	reg, err := runtime.Registry(stages.Kinds())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range spec.AuditRules() {
		e, shown := examples[r.ID]
		delete(examples, r.ID)
		switch {
		case r.Held != spec.HeldByCheck:
			if shown || len(r.Tests) == 0 {
				t.Errorf("%s: is held %s, with an example: %v, and tests %v; must have tests alone", r.ID, r.Held, shown, r.Tests)
			}
		case !shown:
			t.Errorf("%s: has no example", r.ID)
		case e.Corpus != nil:
			e.checkCorpus(t, r)
		default:
			if faults, found := tried(t, reg, base, e.Bad); !finds(r, faults, found) {
				t.Errorf("%s: the bad spec has the faults %v and the findings %v", r.ID, faults, found)
			}
			faults, found := tried(t, reg, base, e.Good)
			if len(faults) > 0 || has(found, r.ID) {
				t.Errorf("%s: the good spec has the faults %v and the findings %v", r.ID, faults, found)
			}
		}
	}
	for id := range examples {
		t.Errorf("%s: has an example and is no rule", id)
	}
}

// finds reports whether all faults are of the rule, or a finding is, at a level that the rule has.
func finds(r spec.AuditRule, faults spec.Diagnostics, found []pipeline.Finding) bool {
	for _, d := range faults {
		if d.Rule != r.ID || r.Level != "error" {
			return false
		}
	}
	for _, f := range found {
		if f.Rule == r.ID && (string(f.Level) == r.Level || r.Eased != "" && f.Level == pipeline.LevelWarning) {
			return true
		}
	}
	return len(faults) > 0
}

func has(found []pipeline.Finding, rule string) bool {
	for _, f := range found {
		if f.Rule == rule {
			return true
		}
	}
	return false
}

// tried compiles the base spec with overrides.
func tried(t *testing.T, reg *pipeline.Registry, base []byte, set []string) (spec.Diagnostics, []pipeline.Finding) {
	t.Helper()
	s, err := spec.Parse(spec.Input{File: "base.yaml", Data: base, Set: set, More: compile.Faults}, reg)
	var plan *compile.Plan
	if err == nil {
		plan, err = compile.Compile(s)
	}
	var faults spec.Diagnostics
	if err != nil && !errors.As(err, &faults) {
		t.Fatal(err)
	}
	if plan == nil {
		return faults, nil
	}
	return faults, plan.Findings
}

// checkCorpus looks for the rule in what TestBadCorpus and TestGoodCorpus want of the specs.
func (e ruleExamples) checkCorpus(t *testing.T, r spec.AuditRule) {
	t.Helper()
	for name, want := range map[string]bool{"bad/" + e.Corpus.Bad: true, "good/" + e.Corpus.Good: false} {
		text, err := os.ReadFile(filepath.Join("../../../pipeline/compile/testdata", name+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		if _, wanted, _ := strings.Cut(string(text), "# want\n"); strings.Contains(wanted, r.ID) != want {
			t.Errorf("%s: %s names the rule: %v, must be %v", r.ID, name, !want, want)
		}
	}
}
