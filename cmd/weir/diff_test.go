package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"weir/pipeline/words"
	"weir/runtime/review"
)

// repository makes a study's folder a git repository with one commit of all but the table.
func (s study) repository() {
	s.t.Helper()
	s.git("init", "-q", "-b", "main", ".")
	s.write(".gitignore", "runs\n*.weir-owner.json*\n")
	s.commit("first")
}

func (s study) commit(message string) {
	s.t.Helper()
	s.git("add", "-A")
	s.git("commit", "-q", "-m", message)
}

func (s study) git(args ...string) {
	s.t.Helper()
	c := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.org", "-c",
		"commit.gpgsign=false", "-C", s.dir}, args...)...)
	c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	if out, err := c.CombinedOutput(); err != nil {
		s.t.Fatalf("git %v: %v %s", args, err, out)
	}
}

// diff compares and decodes; the exit code must be as expected.
func (s study) diff(code int, args ...string) words.Differences {
	s.t.Helper()
	got, out, errs := s.weir(append([]string{"diff", "--json", "--exit-code"}, args...)...)
	if got != code {
		s.t.Fatalf("weir diff %v: exit %d, must be %d: %s%s", args, got, code, out, errs)
	}
	var r words.Differences
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		s.t.Fatalf("%v in %s", err, out)
	}
	return r
}

func settingPaths(changes []words.Change) string {
	var all []string
	for _, c := range changes {
		all = append(all, c.Path)
	}
	return strings.Join(all, " ")
}

// TestDiffSpecs: what is written otherwise is equal; what means something else is named
// by its path, with its default filled in, and the bill moves with it.
func TestDiffSpecs(t *testing.T) {
	t.Parallel()
	s := newStudy(t, 300).tight()
	s.write("same.yaml", "# the same\n"+strings.NewReplacer("seed: 3\n", "",
		"privacy: {epsilon: 1, delta: 1e-6, adjacency: replace_one}",
		"seed: 3\nprivacy:\n  adjacency: replace_one\n  accountant: pld\n  delta: 0.000001\n  epsilon: 1.0").Replace(
		s.read("spec.yaml")))
	if r := s.diff(exitDone, s.path("spec.yaml"), s.path("same.yaml")); r.Differ {
		t.Errorf("layout, comments, order and defaults differ: %+v", r)
	}
	s.write("b.yaml", strings.NewReplacer("epsilon: 1,", "epsilon: 2,", "steps: 40", "steps: 41", "sample: {", "draw: {",
		"rows: 50", "rows: 60").Replace(s.read("spec.yaml")))
	r := s.diff(exitMismatch, s.path("spec.yaml"), s.path("b.yaml"))
	if got := settingPaths(r.Settings); got != "stages.sample privacy.epsilon stages.train.steps stages.draw.rows" {
		t.Errorf("settings %s", got)
	}
	for _, want := range []string{"train.epsilon_alone", "train.noise_multiplier", "total.epsilon_proven",
		"train.mechanisms.train.event.repeated.count"} {
		if !strings.Contains(settingPaths(r.Bill), want) {
			t.Errorf("the bill says %s, must name %s", settingPaths(r.Bill), want)
		}
	}
	if *r.Totals.A.Proven >= 1.01 || *r.Totals.B.Proven <= 1.9 {
		t.Errorf("totals %v and %v, must be close to the budgets 1 and 2", *r.Totals.A.Proven, *r.Totals.B.Proven)
	}
	if code, out, _ := s.weir("diff", s.path("spec.yaml"), s.path("b.yaml")); code != exitDone ||
		strings.Contains(out, "\x1b") || !strings.Contains(out, "privacy.epsilon: 1 -> 2") {
		t.Errorf("without --exit-code: exit %d, %s", code, out)
	}
	s.write("bad.yaml", "weir: 1\n")
	if code, _, errs := s.weir("diff", s.path("bad.yaml"), s.path("absent.yaml")); code != exitUsage ||
		!strings.Contains(errs, "absent.yaml") || !strings.Contains(errs, "dataset") {
		t.Errorf("two bad sides: exit %d, %s must name both", code, errs)
	}
}

// TestDiffPlansAndRuns: every kind against every other, and figures of runs marked
// private, in text and JSON alone.
func TestDiffPlansAndRuns(t *testing.T) {
	s := newStudy(t, 300)
	s.edit("spec.yaml", "  sample: {kind: sample, rows: 50}",
		"  sample: {kind: sample, rows: 50}\n  look: {kind: marginals, real: complete, synthetic: sample}")
	_, plan, _ := s.weir("plan", s.path("spec.yaml"), "--json")
	s.write("plan.json", plan)
	first := s.result()
	for _, pair := range [][2]string{{"plan.json", "spec.yaml"}, {"spec.yaml", "plan.json"}, {"plan.json", "plan.json"}} {
		s.diff(exitDone, s.path(pair[0]), s.path(pair[1]))
	}
	for _, other := range []string{s.path("spec.yaml"), s.path("plan.json"), first.Run,
		filepath.Join(first.Run, "run.json")} {
		s.diff(exitDone, first.Run, other)
	}
	s.edit("spec.yaml", "seed: 3", "seed: 4")
	second := s.result()
	r := s.diff(exitMismatch, first.Run, second.Run)
	if settingPaths(r.Settings) != "seed" || len(r.Results) == 0 || r.Results[0].Verdict == "" {
		t.Errorf("runs: settings %s, %d figures", settingPaths(r.Settings), len(r.Results))
	}
	_, text, _ := s.weir("diff", first.Run, second.Run)
	if !strings.Contains(text, "PRIVATE") || !strings.Contains(text, "look.total_variation") ||
		strings.Count(text, "no spread known") != 1 {
		t.Errorf("text of two runs: %s", text)
	}
	if _, markdown, _ := s.weir("diff", first.Run, second.Run, "--format", "markdown"); strings.Contains(markdown,
		"look.") || !strings.Contains(markdown, "private") {
		t.Errorf("Markdown of two runs: %s", markdown)
	}
	if r := s.diff(exitMismatch, first.Run, s.path("spec.yaml")); r.Results != nil {
		t.Error("a run against a spec has figures")
	}
	if code, _, errs := s.weir("diff", first.Run, s.path("data.csv")); code != exitUsage || !strings.Contains(errs,
		"a ledger is compared with a ledger") {
		t.Errorf("a run against a ledger: exit %d, %s", code, errs)
	}
	if code, _, errs := s.weir("diff", s.path("runs/study"), s.path("spec.yaml")); code != exitUsage ||
		!strings.Contains(errs, "OUT/NAME/ID") {
		t.Errorf("a folder of runs: exit %d, %s", code, errs)
	}
}

// TestDiffExitCodeSaysNothingOfRows: two runs of one spec differ in their figures alone.
func TestDiffExitCodeSaysNothingOfRows(t *testing.T) {
	t.Parallel()
	s := newStudy(t, 300)
	s.edit("spec.yaml", "  sample: {kind: sample, rows: 50}",
		"  sample: {kind: sample, rows: 50}\n  look: {kind: marginals, real: complete, synthetic: sample}")
	a, b, c := s.result("--fresh"), s.result("--fresh"), s.result("--fresh")
	r := s.diff(exitDone, a.Run, b.Run)
	if r.Differ || len(r.Results) == 0 {
		t.Errorf("%+v", r)
	}
	for _, f := range r.Results {
		if f.Verdict == words.NoSpread {
			t.Errorf("%s has no spread beside %s", f.Name, c.Run)
		}
	}
}

func TestDiffLedgers(t *testing.T) {
	s := study{t, t.TempDir()}
	a, b := newLedger(t, s, "a.weir-ledger.jsonl", "one", "two"), newLedger(t, s, "b.jsonl", "one")
	if r := s.diff(exitDone, a, a); r.Ledger.Both != 2 || *r.Ledger.A.Epsilon <= 0 {
		t.Errorf("%+v", r.Ledger)
	}
	r := s.diff(exitMismatch, a, b)
	if !strings.HasPrefix(r.Ledger.Relation, "forked after line 0") || len(r.Ledger.OnlyA) != 2 ||
		len(r.Ledger.OnlyB) != 1 {
		t.Errorf("%+v", r.Ledger)
	}
	if code, out, _ := s.weir("diff", a, b); code != exitDone || !strings.Contains(out, "- line 2") ||
		!strings.Contains(out, "+ line 1") || !strings.Contains(out, "A: epsilon") {
		t.Errorf("exit %d, %s", code, out)
	}
	if code, out, _ := s.weir("diff", a, b, "--format", "markdown"); code != exitDone || !strings.Contains(out, "forked") {
		t.Errorf("exit %d, %s", code, out)
	}
}

// TestDiffRevisions: a spec of a revision meets the domain of that revision, whatever lies
// there today.
func TestDiffRevisions(t *testing.T) {
	t.Parallel()
	s := newStudy(t, 300)
	s.repository()
	s.git("branch", "base")
	s.edit("domain.yaml", "[0, 100000]", "[0, 200000]")
	s.commit("a wider domain")
	s.edit("spec.yaml", "epsilon: 1,", "epsilon: 2,")
	s.edit("domain.yaml", "[0, 200000]", "[0, 300000]")
	spec := s.path("spec.yaml")
	const column = "dataset.domain.columns.income.bounds"
	for args, want := range map[string]string{
		"base..main":  column,
		"base..":      column,
		"..base":      column,
		"base...main": column,
		"main...base": "", // they parted at base
		"HEAD..main":  "",
		"HEAD":        column + " privacy.epsilon",
		"main~1":      column + " privacy.epsilon",
		"main..base":  column,
	} {
		code := exitMismatch
		if want == "" {
			code = exitDone
		}
		if r := s.diff(code, args, "--", spec); settingPaths(r.Settings) != want {
			t.Errorf("%s: %s, must be %s", args, settingPaths(r.Settings), want)
		}
	}
	if err := os.Remove(spec); err != nil {
		t.Fatal(err)
	}
	s.diff(exitMismatch, "base..main", "--", spec) // it is gone today
}

// TestDiffHostileRevisions: no revision becomes an option, and no path or link leads out
// of the repository.
func TestDiffHostileRevisions(t *testing.T) {
	outer := newStudyIn(t, t.TempDir(), 300)
	s := newStudyIn(t, filepath.Join(outer.dir, mkdir(t, outer.path("inner"))), 300)
	for name, domain := range map[string]string{"up": "../domain.yaml", "absolute": outer.path("domain.yaml"),
		"link": "away.yaml", "folder": "sub/domain.yaml"} {
		s.write(name+".yaml", strings.Replace(s.read("spec.yaml"), "domain: domain.yaml", "domain: "+domain, 1))
	}
	for name, to := range map[string]string{"away.yaml": "../domain.yaml", "sub": ".."} {
		if err := os.Symlink(to, s.path(name)); err != nil {
			t.Fatal(err)
		}
	}
	s.repository()
	for name, want := range map[string]string{"up": "leaves the repository", "absolute": "absolute path",
		"link": "symbolic link", "folder": "no such file"} {
		code, _, errs := s.weir("diff", "HEAD..HEAD", "--", s.path(name+".yaml"))
		if code != exitUsage || !strings.Contains(errs, want) {
			t.Errorf("%s: exit %d, %s must say %s", name, code, errs, want)
		}
	}
	for _, rev := range []string{"--output=" + s.path("made"), "-h", "nowhere", "", "HEAD:spec.yaml", "HEAD^{tree}",
		"HEAD\nx", "--upload-pack=touch " + s.path("made"), "$(touch " + s.path("made") + ")"} {
		if _, err := review.OpenCommit(t.Context(), s.path("spec.yaml"), rev); exitCode(t.Context(), err) != exitUsage ||
			strings.HasPrefix(rev, "-") && strings.Contains(err.Error(), "shallow") {
			t.Errorf("%q is taken for a revision, or git is asked for it: %v", rev, err)
		}
		if strings.HasPrefix(rev, "-") || rev == "" {
			continue // an option of weir, or HEAD as in git
		}
		for _, arg := range []string{rev, rev + "..HEAD", "HEAD.." + rev} {
			if code, out, errs := s.weir("diff", arg, "--", s.path("spec.yaml")); code != exitUsage || out != "" {
				t.Errorf("%q: exit %d, %s%s", arg, code, out, errs)
			}
		}
	}
	for _, rev := range []string{"HEAD..-h", "HEAD..--output=" + s.path("made")} {
		if code, out, errs := s.weir("diff", rev, "--", s.path("spec.yaml")); code != exitUsage || out != "" ||
			!strings.Contains(errs, "must be a commit") {
			t.Errorf("%q: exit %d, %s%s", rev, code, out, errs)
		}
	}
	if _, err := os.Stat(s.path("made")); err == nil {
		t.Error("a revision was taken for an option or a command")
	}
	for _, outside := range []string{outer.path("spec.yaml"), s.path("absent.yaml")} {
		if code, _, errs := s.weir("diff", "HEAD", "--", outside); code != exitUsage {
			t.Errorf("%s: exit %d, %s", outside, code, errs)
		}
	}
	if code, _, errs := s.weir("diff", "HEAD"); code != exitUsage || !strings.Contains(errs, "A B") {
		t.Errorf("one argument: exit %d, %s", code, errs)
	}
}

func mkdir(t *testing.T, path string) string {
	t.Helper()
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	return filepath.Base(path)
}

// TestDiffInGit: REV:PATH, ledgers of two revisions, and what an experiment costs in all.
func TestDiffInGit(t *testing.T) {
	s := newStudy(t, 300)
	s.repository()
	first := s.result()
	s.commit("the first charge")
	s.edit("spec.yaml", "seed: 3", "seed: 4\nexperiment: {repeats: 3}")
	t.Chdir(s.dir)
	const ledger = "data.csv.weir-ledger.jsonl"
	if r := s.diff(exitDone, "HEAD:spec.yaml", first.Run); r.A.Name != "HEAD:spec.yaml" {
		t.Errorf("%+v", r.A)
	}
	r := s.diff(exitMismatch, "HEAD:spec.yaml", "spec.yaml")
	if paths := settingPaths(r.Settings); paths != "seed experiment" || r.Totals.A.Experiment != nil ||
		r.Totals.B.Experiment.Runs != 3 || *r.Totals.B.Experiment.Proven <= *r.Totals.B.Proven {
		t.Errorf("%s, %+v", paths, r.Totals)
	}
	if _, text, _ := s.weir("diff", "HEAD", "--", "spec.yaml"); !strings.Contains(text, "in 3 runs") {
		t.Errorf("the text does not say what all runs cost:\n%s", text)
	}
	if r := s.diff(exitMismatch, "HEAD~1..HEAD", "--", ledger); len(r.Ledger.OnlyA) != 0 || len(r.Ledger.OnlyB) != 1 {
		t.Errorf("%+v", r.Ledger)
	}
	s.diff(exitDone, "HEAD", "--", ledger)
	for _, arg := range []string{"HEAD:../spec.yaml", "HEAD:/etc/passwd", "HEAD:../x.weir-ledger.jsonl",
		"nowhere:spec.yaml", "HEAD:"} {
		if code, out, errs := s.weir("diff", "spec.yaml", arg); code != exitUsage || out != "" {
			t.Errorf("%s: exit %d, %s%s", arg, code, out, errs)
		}
	}
}
