package lock

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// merge commits a lock, changes it in two branches, and merges them with git.
func merge(t *testing.T, base, ours, theirs []Entry) (merged string, clean bool) {
	t.Helper()
	dir := t.TempDir()
	git := func(args ...string) error {
		c := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.org", "-c",
			"commit.gpgsign=false"}, args...)...)
		c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		return c.Run()
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	commit := func(all []Entry) {
		must(os.WriteFile(filepath.Join(dir, File), []byte(Format(all)), 0o644))
		must(git("add", File))
		must(git("commit", "-m", "lock", "--allow-empty"))
	}
	must(git("init", "-b", "main"))
	commit(base)
	must(git("checkout", "-b", "theirs"))
	commit(theirs)
	must(git("checkout", "main"))
	commit(ours)
	err := git("merge", "theirs")
	data, _ := os.ReadFile(filepath.Join(dir, File))
	return string(data), err == nil
}

// TestTwoBranchesMerge without a conflict, and to what `weir lock` would have written: new
// specs, new stages, changed stages that are neighbours, a changed and a removed one.
func TestTwoBranchesMerge(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not here")
	}
	changed := func(all []Entry, stage string) []Entry {
		list := append([]Entry(nil), all...)
		for i := range list {
			if list[i].What == Stage && list[i].Names[0] == stage {
				list[i].Is = []string{"drop", "2", digest1}
			}
		}
		return list
	}
	base := study("b.yaml", "clean", "encode", "train", "zero")
	for name, c := range map[string]struct{ ours, theirs, want []Entry }{
		"new specs with like names": {append(study("eps-1.yaml", "train"), base...), append(study("eps-2.yaml", "train"),
			base...),
			append(append(study("eps-1.yaml", "train"), study("eps-2.yaml", "train")...), base...)},
		"new stages": {study("b.yaml", "attack", "clean", "encode", "train", "zero"), study("b.yaml", "clean", "encode",
			"marginals", "train", "zero"),
			study("b.yaml", "attack", "clean", "encode", "marginals", "train", "zero")},
		"neighbours change": {changed(base, "encode"), changed(base, "train"), changed(changed(base, "encode"), "train")},
		"a spec and a stage": {append(study("a.yaml", "x"), base...), changed(base, "clean"),
			append(study("a.yaml", "x"), changed(base, "clean")...)},
		"one goes, one changes": {study("b.yaml", "encode", "train", "zero"), changed(base, "train"),
			changed(study("b.yaml", "encode", "train", "zero"), "train")},
	} {
		if got, clean := merge(t, base, c.ours, c.theirs); !clean || got != Format(c.want) {
			t.Errorf("%s: clean is %v:\n%s", name, clean, got)
		}
	}
	got, clean := merge(t, base, changed(base, "train"), study("b.yaml", "clean", "encode", "zero"))
	if _, problems := Parse(got); clean || Damage(File, problems) == nil || Damage(File, problems, "b.yaml") != nil {
		t.Errorf("a stage that changed here and went there is no conflict that writing it again mends:\n%s", got)
	}
}

// TestNewSpecsSeldomMeet: of two specs that are added at once, how many pairs conflict. Below
// 16 guides two of 16 names meet with 1 in 16; where an old spec stands between they do not.
func TestNewSpecsSeldomMeet(t *testing.T) {
	var together int
	for i := range 16 {
		for j := range i {
			if place(fmt.Sprintf("spec-%d.yaml", i)) == place(fmt.Sprintf("spec-%d.yaml", j)) {
				together++
			}
		}
	}
	if together > 20 { // of 120 pairs 7.5 are expected
		t.Errorf("%d of 120 pairs of specs stand at one place", together)
	}
}
