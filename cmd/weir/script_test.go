package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestScripts runs testdata/script/*.txtar, each in a folder of its own with weir as a process.
// CONTRIBUTING.md says how to add one.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                "testdata/script",
		Setup:              scriptEnv,
		RequireUniqueNames: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "interrupt": interrupt, "edit": edit, "take": take,
		},
	})
}

// scriptEnv gives git an author, and none of the settings of whoever runs the tests.
func scriptEnv(e *testscript.Env) error {
	e.Vars = append(e.Vars, "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"WEIR_TEST_BUILD="+ownBuild(), "GOGC=400", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	return nil
}

// exits runs a program, which must end with an exit code: exits CODE PROGRAM [ARG ...].
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM [ARG ...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	mustExit(ts, want, ts.Exec(args[1], args[2:]...))
}

func mustExit(ts *testscript.TestScript, want int, err error) {
	code := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if code != want {
		ts.Fatalf("exit code %d, must be %d", code, want)
	}
}

// interrupt presses Ctrl-C once a file is there, which must end the program with exit code
// 130: interrupt PATTERN PROGRAM [ARG ...]. A program that never writes it fails after a minute.
func interrupt(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: interrupt PATTERN PROGRAM [ARG ...]")
	}
	path, err := exec.LookPath(args[1])
	ts.Check(err)
	var out, errs bytes.Buffer
	c := exec.Command(path, args[2:]...)
	c.Dir, c.Stdout, c.Stderr = ts.MkAbs("."), &out, &errs
	c.Env = append(os.Environ(), "HOME="+ts.Getenv("HOME"), "TMPDIR="+ts.Getenv("TMPDIR"))
	ts.Check(c.Start())
	if !appears(ts.MkAbs(args[0])) {
		ts.Check(c.Process.Kill())
	}
	ts.Check(c.Process.Signal(os.Interrupt))
	err = c.Wait()
	ts.Stdout().Write(out.Bytes())
	ts.Stderr().Write(errs.Bytes())
	mustExit(ts, exitInterrupted, err)
}

func appears(pattern string) bool {
	for range 12000 {
		if found, _ := filepath.Glob(pattern); len(found) > 0 {
			return true
		}
		time.Sleep(5 * time.Millisecond)
	}
	return false
}

// edit replaces a text, which must be there, in a file: edit FILE OLD NEW.
func edit(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: edit FILE OLD NEW")
	}
	text := []byte(ts.ReadFile(args[0]))
	if !bytes.Contains(text, []byte(args[1])) {
		ts.Fatalf("%s does not hold %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), bytes.ReplaceAll(text, []byte(args[1]), []byte(args[2])), 0o644))
}

// take keeps what the group of a pattern matches in the last stdout as a variable, such as the
// folder of a run: take NAME PATTERN.
func take(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: take NAME PATTERN")
	}
	pattern, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	found := pattern.FindStringSubmatch(ts.ReadFile("stdout"))
	if len(found) != 2 {
		ts.Fatalf("no group of %s in %s", args[1], ts.ReadFile("stdout"))
	}
	ts.Setenv(args[0], found[1])
}
