package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	seconds = regexp.MustCompile(`\d+(\.\d+)?(ms|s)\b|time=\S+`)
	// underWay is a line that comes with time: a stage that takes long has more of them. The
	// totals are the study's numbers, which are public; a line with another one stays.
	underWay = regexp.MustCompile(`(?m)^(train: \d+ of 40|sample: \d+ of 50), .*\n`)
	runID    = regexp.MustCompile(`\d{8}-\d{6}-[0-9a-f]{32}|ds-[0-9a-f]{32}`)
)

const publish = `  leak: {kind: read, file: FILE, class: public, like: dataset}
  out: {kind: write, from: leak, formats: [csv]}
`

// TestPublicFileThatIsTheDataset: the private table read as a public one and
// written again was once a release at epsilon 0. By name it is refused before
// anything is read, by content before anything is paid.
func TestPublicFileThatIsTheDataset(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		make func(study) string
		plan int // exit code of weir plan
	}{
		"path": {func(study) string { return "./data.csv" }, exitPrivacy},
		"link": {func(s study) string { s.must(os.Symlink(s.path("data.csv"), s.path("other.csv"))); return "other.csv" },
			exitPrivacy},
		"inode": {func(s study) string { s.must(os.Link(s.path("data.csv"), s.path("other.csv"))); return "other.csv" },
			exitPrivacy},
		"ledger": {func(s study) string {
			s.write("other.csv", "id\n")
			s.write("other.csv.weir-ledger.jsonl", "")
			return "other.csv"
		}, exitPrivacy},
		"copy": {func(s study) string { s.write("other.csv", s.read("data.csv")); return "other.csv" }, exitDone},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStudy(t, 400)
			file := c.make(s)
			s.write("spec.yaml", s.read("spec.yaml")+strings.ReplaceAll(publish, "FILE", file))
			if code, out, errs := s.weir("plan", s.path("spec.yaml")); code != c.plan {
				t.Errorf("weir plan: exit code %d, must be %d: %s%s", code, c.plan, out, errs)
			}
			code, _, errs := s.run()
			if code != exitPrivacy {
				t.Errorf("weir run: exit code %d, must be %d: %s", code, exitPrivacy, errs)
			}
			if _, err := os.Stat(s.path("data.csv.weir-ledger.jsonl")); err == nil {
				t.Error("something was charged")
			}
		})
	}
}

func (s study) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// TestPublicFilesAreNamed: bill and PRIVACY.md say which files nobody protects,
// and who says that they need no protection.
func TestPublicFilesAreNamed(t *testing.T) {
	s := newStudy(t, 400)
	withReference(s)
	s.edit("spec.yaml", "class: public,", "class: public, declared_by: the statistics office,")
	r := s.result()
	for _, file := range []string{"BILL.txt", "PRIVACY.md"} {
		if text := released(t, r, file); !strings.Contains(text, "reference.csv") || !strings.Contains(text,
			"the statistics office") {
			t.Errorf("%s does not name the public file and who declares it:\n%s", file, text)
		}
	}
}

// capped gives the dataset a budget that one run uses up.
func capped(s study) {
	s.edit("spec.yaml", "rows_public: 400}", "rows_public: 400, budget: {epsilon: 1.3, delta: 1e-6}}")
}

// TestCapFollowsTheData: a copy, a link, a gzip, another ledger, a changed cell
// once began a new budget.
func TestCapFollowsTheData(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(study) []string{
		"the same": func(s study) []string { return nil },
		"copy": func(s study) []string {
			s.write("copy.csv", s.read("data.csv"))
			return []string{"--set", "dataset.file=" + s.path("copy.csv")}
		},
		"link": func(s study) []string {
			s.must(os.Symlink("data.csv", s.path("link.csv")))
			return []string{"--set", "dataset.file=" + s.path("link.csv")}
		},
		"changed cell":  func(s study) []string { s.edit("data.csv", "7,75433,b,1", "7,75434,b,1"); return nil },
		"last newline":  func(s study) []string { s.write("data.csv", s.read("data.csv")+"\n"); return nil },
		"other ledger":  func(s study) []string { return []string{"--ledger", s.path("other.jsonl")} },
		"other version": func(s study) []string { return []string{"--set", `dataset.version="2"`} },
	} {
		t.Run(name, func(t *testing.T) {
			s := newStudy(t, 400)
			capped(s)
			s.result()
			code, out, errs := s.run(append(change(s), "--fresh")...)
			if code != exitPrivacy {
				t.Errorf("exit code %d, must be %d: %s%s", code, exitPrivacy, out, errs)
			}
		})
	}
}

// TestSharedRowsAreSaid (W32): a table of another name and content that shares
// rows is not refused, and the owner is told.
func TestSharedRowsAreSaid(t *testing.T) {
	s := newStudy(t, 400)
	s.result()
	lines := strings.SplitAfter(s.read("data.csv"), "\n")
	s.write("half.csv", strings.Join(lines[:201], ""))
	code, _, errs := s.run("--set", "dataset.file="+s.path("half.csv"), "--set", "dataset.rows_public=200")
	if code != exitDone || !strings.Contains(errs, "W32") {
		t.Errorf("exit code %d, must be 0 with W32: %s", code, errs)
	}
}

func leftKeys(t *testing.T) int {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(os.TempDir(), "weir-verify-*"))
	if err != nil {
		t.Fatal(err)
	}
	return len(found)
}

// TestSeedMarksEverything: what a known seed made says so wherever it goes.
func TestSeedMarksEverything(t *testing.T) {
	s := newStudy(t, 400)
	r := s.result("--insecure-noise-seed", "9")
	for _, file := range []string{"BILL.txt", "PRIVACY.md", "DATASHEET.md"} {
		if !strings.Contains(released(t, r, file), "NOT PRIVATE") {
			t.Errorf("%s does not say so", file)
		}
	}
	if strings.Contains(released(t, r, "PRIVACY.md"), "**epsilon = ") {
		t.Error("PRIVACY.md promises an epsilon")
	}
	for _, f := range r.Release {
		if base := filepath.Base(f); (strings.HasPrefix(base, "sample") || strings.HasPrefix(base, "train")) &&
			!strings.Contains(base, "NOT-PRIVATE") {
			t.Errorf("%s does not say so", base)
		}
	}
}

// TestExperimentIsBilledWhole: the sum over its runs is printed, by plan too, and refused over
// the cap before the first run.
func TestExperimentIsBilledWhole(t *testing.T) {
	s := newStudy(t, 400)
	capped(s)
	s.write("spec.yaml", s.read("spec.yaml")+"experiment: {repeats: 3}\n")
	code, out, errs := s.weir("plan", "--total", s.path("spec.yaml"))
	if code != exitPrivacy || !strings.Contains(out, "3 runs") {
		t.Errorf("weir plan: exit code %d, must name the whole and refuse it: %s%s", code, out, errs)
	}
	if code, _, errs = s.run(); code != exitPrivacy {
		t.Errorf("weir run: exit code %d, must be %d: %s", code, exitPrivacy, errs)
	}
	if found, _ := filepath.Glob(s.path("runs/study/*/run.json")); len(found) > 0 {
		t.Errorf("runs were made: %v", found)
	}
}

// TestUnpaidRunLeavesTheDataAlone: a run that charges nothing needs no writable folder
// beside the data and leaves nothing there, whether it is without privacy or draws no
// noise; the paid one that follows still knows the dataset.
func TestUnpaidRunLeavesTheDataAlone(t *testing.T) {
	for name, privacy := range map[string]string{"without privacy": "epsilon: inf, delta: 1e-6, claims: none,",
		"without noise": "epsilon: 1, delta: 1e-6,"} {
		t.Run(name, func(t *testing.T) {
			s := newStudy(t, 400)
			paid := s.read("spec.yaml")
			head, _, _ := strings.Cut(paid, "  clean:")
			s.write("spec.yaml", strings.Replace(head, "epsilon: 1, delta: 1e-6,", privacy, 1))
			s.must(os.Mkdir(s.path("data"), 0o755))
			s.must(os.Rename(s.path("data.csv"), s.path("data/data.csv")))
			paths := []string{"--set", "dataset.file=" + s.path("data/data.csv")}
			first := s.result(paths...)
			if left, _ := filepath.Glob(s.path("data/*")); len(left) != 1 {
				t.Errorf("it leaves %v, must be the data alone", left)
			}
			if first.Ledger != "" {
				t.Errorf("it names the ledger %s, must name none", first.Ledger)
			}
			if again := s.result(paths...); !again.Reused {
				t.Error("the same run is not shown again")
			}
			s.write("spec.yaml", paid)
			if _, _, errs := s.run(paths...); strings.Contains(errs, "First run") {
				t.Errorf("the dataset is not known again: %s", errs)
			}
		})
	}
}
