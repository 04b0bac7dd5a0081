//go:build long

package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"gopkg.in/yaml.v3"
)

// TestCIHelpers runs testdata/ci/*.txtar: the scripts of packaging/ci in throw-away repositories, with the steps of the
// GitHub Action and of the GitLab job as they are written.
func TestCIHelpers(t *testing.T) {
	helpers, err := filepath.Abs("../../packaging/ci")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/ci",
		Setup: func(e *testscript.Env) error {
			e.Vars = append(e.Vars, "CI_HELPERS="+helpers, "GITHUB_ACTION_PATH="+filepath.Join(helpers, "github"))
			return scriptEnv(e)
		},
		RequireUniqueNames: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": new(inProcess).exits, "edit": edit, "take": take, "step": runStep, "job": runJob,
		},
	})
}

// githubAction is what a composite action declares.
type githubAction struct {
	Inputs map[string]struct{ Description, Default string }
	Runs   struct {
		Using string
		Steps []actionStep
	}
}

type actionStep struct {
	Name, If, Shell, Run, Uses string
	Env                        map[string]string
}

func readAction(path string) (a githubAction, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return a, err
	}
	return a, yaml.Unmarshal(text, &a)
}

// runStep runs a step of the GitHub Action by its name as a runner does, in the environment of the script, which must
// set each variable of the step: step CODE NAME.
func runStep(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: step CODE NAME")
	}
	a, err := readAction(filepath.Join(ts.Getenv("CI_HELPERS"), "github", "action.yml"))
	ts.Check(err)
	i := slices.IndexFunc(a.Runs.Steps, func(s actionStep) bool { return s.Name == args[1] })
	if i < 0 {
		ts.Fatalf("no step %q", args[1])
	}
	for name := range a.Runs.Steps[i].Env {
		if ts.Getenv(name) == "" {
			ts.Fatalf("the step has the variable %s, and the script does not set it", name)
		}
	}
	runBash(ts, args[0], a.Runs.Steps[i].Run)
}

// runJob runs the script of the GitLab job in the environment of the test's script, with the job's own variables where
// that leaves them out: job CODE.
func runJob(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: job CODE")
	}
	text, err := os.ReadFile(filepath.Join(ts.Getenv("CI_HELPERS"), "gitlab.yml"))
	ts.Check(err)
	var file struct {
		Job struct {
			Variables map[string]string
			Script    []string
		} `yaml:"weir-review"`
	}
	ts.Check(yaml.Unmarshal(text, &file))
	for _, name := range slices.Sorted(maps.Keys(file.Job.Variables)) {
		if ts.Getenv(name) == "" {
			ts.Setenv(name, file.Job.Variables[name])
		}
	}
	runBash(ts, args[0], strings.Join(file.Job.Script, "\n"))
}

// runBash runs a script as the runners of GitHub and GitLab do.
func runBash(ts *testscript.TestScript, code, text string) {
	new(inProcess).exits(ts, false, []string{code, "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", text})
}

// TestActionsPassNamesByTheEnvironment: an expression within a script would be carried out as a part of it, whatever a
// branch is called; within the environment it is text. Nothing else is used that a tag could change.
func TestActionsPassNamesByTheEnvironment(t *testing.T) {
	a, err := readAction("../../packaging/ci/github/action.yml")
	if err != nil {
		t.Fatal(err)
	}
	if a.Runs.Using != "composite" || len(a.Runs.Steps) == 0 {
		t.Fatalf("the action has the steps %v, must be composite", a.Runs.Steps)
	}
	for _, s := range a.Runs.Steps {
		if strings.Contains(s.Run, "${{") || s.Uses != "" || s.Shell != "bash" {
			t.Errorf("step %s: runs %q by %q, uses %q, must run a script without expressions by bash", s.Name, s.Run, s.Shell,
				s.Uses)
		}
	}
	for name, input := range a.Inputs {
		if input.Description == "" {
			t.Errorf("input %s has no description", name)
		}
	}
}
