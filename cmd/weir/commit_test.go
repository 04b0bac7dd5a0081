package main

import (
	"os/exec"
	"strings"
	"testing"

	"weir/runtime/review"
	"weir/runtime/store"
)

// TestCommitIsRecorded where the file of the spec is as git has it, and nowhere else: not where it was edited,
// overridden or never committed.
func TestCommitIsRecorded(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Log("there is no git here: no commit can be recorded")
		return
	}
	s := newStudy(t, 40)
	recorded := func(args ...string) string {
		t.Helper()
		rec, err := store.ReadRecord(s.result(append(args, "--fresh")...).Run)
		s.must(err)
		return rec.Commit
	}
	if got := recorded(); got != "" {
		t.Errorf("outside of a repository: %q", got)
	}
	s.repository()
	head, err := exec.Command("git", "-C", s.dir, "rev-parse", "HEAD").Output()
	s.must(err)
	if got := recorded(); got != strings.TrimSpace(string(head)) {
		t.Errorf("the commit is %q, must be %s", got, head)
	}
	if got := recorded("--set", "seed=4"); got != "" {
		t.Errorf("with an overridden setting: %q", got)
	}
	s.edit("spec.yaml", "seed: 3", "seed: 5")
	if got := recorded(); got != "" {
		t.Errorf("with an edited spec: %q", got)
	}
	s.edit("spec.yaml", "seed: 5", "seed: 3")
	s.write("domain.yaml", s.read("domain.yaml")+"# a comment\n")
	if got := recorded(); got != strings.TrimSpace(string(head)) {
		t.Errorf("with a comment in its domain: %q", got)
	}
	s.edit("domain.yaml", "bounds: [0, 100000]", "bounds: [0, 100001]")
	if got := recorded(); got != "" {
		t.Errorf("with an edited domain: %q", got)
	}
	s.write("other.yaml", s.read("spec.yaml"))
	reg, err := registry()
	s.must(err)
	if got := review.CommittedAt(t.Context(), s.path("other.yaml"), "", reg); got != "" {
		t.Errorf("of a spec that was never committed: %q", got)
	}
}
