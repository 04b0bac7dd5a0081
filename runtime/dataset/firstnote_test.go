package dataset

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFirstNote: the first run says what lies where now and what to do with it,
// and the next ones say nothing.
func TestFirstNote(t *testing.T) {
	b := newBench(t)
	b.write("a.csv", people(0, 300))
	want := "First run on a.csv: a.csv.weir-owner.json now lies beside it, and its ledger will once something is " +
		"charged. Commit the ledger. Back up the owner file with the data, " +
		"and never commit it: with it copies and corrections are recognised and share one budget."
	if notes := b.identify("a.csv", "1").Notes; len(notes) != 1 || notes[0] != want {
		t.Errorf("%q, must be %q", notes, want)
	}
	if notes := b.identify("a.csv", "1").Notes; len(notes) != 0 {
		t.Errorf("%q the second time", notes)
	}
	for name, change := range map[string]func(o *Opening){
		"its ledger will be /l.jsonl":    func(o *Opening) { o.Ledger = "/l.jsonl" },
		"lies with the runs. Back it up": func(o *Opening) { o.Uncharged = true },
		"First run on postgres clinic.stays of service:clinic: b.csv.weir-owner.json now lies beside the spec, and": func(o *Opening) { o.Where = "postgres clinic.stays of service:clinic" },
		"never commit them: with them": func(o *Opening) { o.Ledger = "/l.jsonl" },
	} {
		b.write("b.csv", people(1000, 1300+len(name)))
		o := b.opening("b.csv", "1")
		change(&o)
		id, err := Identify(t.Context(), o)
		if err != nil || !strings.Contains(id.Notes[0], name) {
			t.Errorf("%v: must say %q", err, name)
		}
		os.Remove(b.path("b.csv" + OwnerSuffix))
		os.RemoveAll(filepath.Join(o.Out, "owners"))
	}
}

// TestFirstChargeInGit: where "git add -A" would stage the key no first charge is made, unless a .gitignore names the
// owner file; weir says so, leaves no key, and changes no file of the user's.
func TestFirstChargeInGit(t *testing.T) {
	for ignore, refused := range map[string]bool{"": true, "# a.csv.weir-owner.json\nruns\n!*\n": true,
		"*.weir-owner.json*\n": false, "/sub/\n": false, "sub/a.csv.weir-owner.json": false} {
		b := newBench(t)
		root := b.dir
		os.Mkdir(filepath.Join(root, ".git"), 0o755)
		os.WriteFile(filepath.Join(root, ".gitignore"), []byte(ignore), 0o644)
		b.dir = filepath.Join(root, "sub")
		os.Mkdir(b.dir, 0o755)
		b.write("a.csv", people(0, 300))
		_, err := b.try("a.csv", "1")
		if found := errors.As(err, new(Refusal)); found != refused || err != nil && !strings.Contains(err.Error(),
			"add the line *.weir-owner.json* to "+b.path(".gitignore")) {
			t.Errorf(".gitignore %q: %v", ignore, err)
		}
		if _, err := os.Stat(b.path("a.csv" + OwnerSuffix)); (err == nil) == refused {
			t.Errorf(".gitignore %q: a key is there: %v", ignore, err == nil)
		}
		if now, _ := os.ReadFile(filepath.Join(root, ".gitignore")); string(now) != ignore {
			t.Errorf(".gitignore was changed to %q", now)
		}
		if _, err := os.Stat(b.path(".gitignore")); err == nil {
			t.Error("a .gitignore was made")
		}
		o := b.opening("a.csv", "1")
		if o.Uncharged, o.Out = true, filepath.Join(root, "results"); refused {
			os.MkdirAll(filepath.Join(o.Out, "study"), 0o755)
			id, err := Identify(t.Context(), o)
			if err != nil || !strings.Contains(strings.Join(id.Notes, "\n"), "holds a key, lies in a git work tree") {
				t.Errorf("a run without noise must only be told: %v", err)
			}
		}
	}
}

// TestFirstChargeIntoUsedFolder: the keys of a folder of runs that was there before, and that nothing hides from git,
// refuse a charge too, though the table lies outside of git.
func TestFirstChargeIntoUsedFolder(t *testing.T) {
	for ignore, refused := range map[string]bool{"": true, "*\n": false} {
		b := newBench(t)
		b.write("a.csv", people(0, 300))
		o := b.opening("a.csv", "1")
		o.Out = filepath.Join(t.TempDir(), "results")
		os.MkdirAll(filepath.Join(o.Out, ".git"), 0o755)
		os.MkdirAll(filepath.Join(o.Out, "study"), 0o755)
		os.WriteFile(filepath.Join(o.Out, ".gitignore"), []byte(ignore), 0o644)
		_, err := Identify(t.Context(), o)
		if found := errors.As(err, new(Refusal)); found != refused || refused && !strings.Contains(err.Error(),
			o.Out+" holds keys") {
			t.Errorf(".gitignore %q: %v", ignore, err)
		}
	}
}

// TestRunsAreIgnored: a new folder of runs, and an empty one, hides its keys from
// git; what is there stays.
func TestRunsAreIgnored(t *testing.T) {
	for name, c := range map[string]struct {
		make    func(out string)
		written bool
	}{
		"new":   {func(string) {}, true},
		"empty": {func(out string) { os.MkdirAll(out, 0o755) }, true},
		"used":  {func(out string) { os.MkdirAll(filepath.Join(out, "study"), 0o755) }, false},
		"its own": {func(out string) {
			os.MkdirAll(out, 0o755)
			os.WriteFile(filepath.Join(out, ".gitignore"), []byte("mine\n"), 0o644)
		}, false},
	} {
		b := newBench(t)
		os.Mkdir(b.path(".git"), 0o755)
		b.out = b.path("runs")
		c.make(b.out)
		b.write("a.csv", people(0, 300))
		os.WriteFile(b.path(".gitignore"), []byte("*"+OwnerSuffix+"*\n"), 0o644)
		_, err := b.try("a.csv", "1")
		text, _ := os.ReadFile(filepath.Join(b.out, ".gitignore"))
		if strings.Contains("\n"+string(text), "\n*\n") != c.written {
			t.Errorf("%s: .gitignore is %q", name, text)
		}
		if (err == nil) != c.written || err != nil && !strings.Contains(err.Error(), b.out+" holds keys") {
			t.Errorf("%s: %v", name, err)
		}
		if name == "its own" && string(text) != "mine\n" {
			t.Errorf("the owner's .gitignore is now %q", text)
		}
	}
}
