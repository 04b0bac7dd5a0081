package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestScripts runs testdata/script/*.txtar, each in a folder of its own. CONTRIBUTING.md says how
// to add one. It is not parallel: while a script runs weir, this process stands in that script's folder.
func TestScripts(t *testing.T) {
	var program inProcess
	scripts, err := filepath.Abs("testdata/script") // opened while this process stands elsewhere
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                scripts,
		Setup:              scriptEnv,
		RequireUniqueNames: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"weir": program.command, "exits": program.exits, "interrupt": interrupt, "edit": edit, "take": take,
		},
	})
}

// scriptVariables returns settings of scripts that weir or the git below it reads: an author, and none
// of the settings of whoever runs the tests.
func scriptVariables() []string {
	return []string{"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b"}
}

// scriptEnv gives them to the processes of a script, and what a weir among those would find out anew.
func scriptEnv(e *testscript.Env) error {
	e.Vars = append(append(e.Vars, scriptVariables()...), "WEIR_TEST_BUILD="+ownBuild(), "GOGC=400")
	return nil
}

// inProcess runs weir inside this process for a script: one command at a time, since a process has one
// working folder and one environment. A script that needs a process (a terminal, a signal) says
// "exec weir" or "interrupt".
type inProcess struct{ turn sync.Mutex }

// command carries out the line "weir ARG ...", which must end with exit code 0.
func (p *inProcess) command(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("must say which exit code, by exits CODE weir")
	}
	mustExit(ts, exitDone, p.weir(ts, args))
}

// weir runs a command line in the folder and the environment of a script, and returns its exit code.
func (p *inProcess) weir(ts *testscript.TestScript, args []string) int {
	p.turn.Lock()
	defer p.turn.Unlock()
	defer p.enter(ts)()
	return execute(context.Background(), streams{in: strings.NewReader(""), out: ts.Stdout(), err: ts.Stderr(),
		build: ownBuild}, args)
}

// enter takes this process to the folder and the variables of a script, and returns what brings it back.
func (p *inProcess) enter(ts *testscript.TestScript) (leave func()) {
	home, err := os.Getwd()
	ts.Check(err)
	before := os.Environ()
	ts.Check(os.Chdir(ts.MkAbs(".")))
	for _, name := range []string{"HOME", "TMPDIR", "NO_COLOR", "CLINIC", "RELEASE", "CLUSTER"} {
		ts.Check(os.Setenv(name, ts.Getenv(name)))
	}
	for _, setting := range scriptVariables() {
		name, value, _ := strings.Cut(setting, "=")
		ts.Check(os.Setenv(name, value))
	}
	return func() {
		os.Clearenv()
		for _, setting := range before {
			name, value, _ := strings.Cut(setting, "=")
			ts.Check(os.Setenv(name, value))
		}
		ts.Check(os.Chdir(home))
	}
}

// exits runs a program, which must end with an exit code: exits CODE PROGRAM [ARG ...]. The program
// weir is run inside this process, by "exec weir" as one of its own.
func (p *inProcess) exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM [ARG ...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if args[1] == "weir" {
		mustExit(ts, want, p.weir(ts, args[2:]))
		return
	}
	mustExit(ts, want, exitOf(ts, ts.Exec(args[1], args[2:]...)))
}

// exitOf returns the exit code with which a process ended; any other fault is the script's.
func exitOf(ts *testscript.TestScript, err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	ts.Check(err)
	return exitDone
}

func mustExit(ts *testscript.TestScript, want, code int) {
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
	mustExit(ts, exitInterrupted, exitOf(ts, err))
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
