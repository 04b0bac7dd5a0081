package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"weir/privacy/ledger"
)

// TestExitCodeOfATamperedLedger: run and verify end with one code.
func TestExitCodeOfATamperedLedger(t *testing.T) {
	s := newStudy(t, 400)
	s.result()
	const name = "data.csv.weir-ledger.jsonl"
	whole := s.read(name)
	for how, text := range map[string]string{
		"edited":  strings.Replace(whole, `"stage":"train"`, `"stage":"other"`, 1),
		"no line": "{}\n",
	} {
		s.write(name, text)
		if code, _, errs := s.run("--fresh"); code != exitMismatch {
			t.Errorf("%s: exit code %d, must be %d: %s", how, code, exitMismatch, errs)
		}
	}
}

func TestExitCodeOfAnUnknownCommand(t *testing.T) {
	code, _, errs := study{t, ""}.weir("plam", "spec.yaml")
	if code != exitUsage || !strings.Contains(errs, `"plam"`) || !strings.Contains(errs, "plan") || !strings.Contains(errs,
		"weir --help") {
		t.Errorf("exit code %d, must be %d and propose plan: %s", code, exitUsage, errs)
	}
}

// TestFlagsOfAnotherType: a flag whose value is not of its type says what it must be, in no word of a library.
func TestFlagsOfAnotherType(t *testing.T) {
	for args, want := range map[string]string{
		"sample m --rows x":      `--rows: is "x", must be a whole number`,
		"what-if s --rows 1,x":   `--rows: is "1,x", must be whole numbers with commas between them`,
		"what-if s --epsilon x":  `--epsilon: is "x", must be numbers with commas between them`,
		"epsilon --delta little": `--delta: is "little", must be a number`,
		"check --strict=perhaps": `--strict: is "perhaps", must be true or false`,
	} {
		code, _, errs := study{t, ""}.weir(strings.Fields(args)...)
		if code != exitUsage || !strings.Contains(errs, want) || strings.Contains(errs, "strconv") {
			t.Errorf("%s: exit code %d, %s: must say %s", args, code, errs, want)
		}
	}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if err := c.Flags().Set(f.Name, "x"); err != nil && !strings.Contains(flagFault(err).Error(), `: is "x", must be `) {
				t.Errorf("%s --%s x: %v", c.CommandPath(), f.Name, flagFault(err))
			}
		})
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRoot(streams{}))
}

// TestExitCodeOfTooManyArguments: the exit code is the one for any mistake in the command line, whichever
// number a command takes.
func TestExitCodeOfTooManyArguments(t *testing.T) {
	for _, command := range []string{"init", "kinds", "schema", "version", "render", "verify"} {
		code, out, errs := study{t, ""}.weir(command, "one", "two", "three")
		if code != exitUsage || out != "" || !strings.Contains(errs, "is given 3 arguments") || !strings.Contains(errs,
			"weir "+command+" --help") {
			t.Errorf("%s: exit code %d, must be %d and point to the help: %s", command, code, exitUsage, errs)
		}
	}
}

// TestFolderOfRunsIsNoRun: OUT/NAME is not a run, and both commands say which folder is meant.
func TestFolderOfRunsIsNoRun(t *testing.T) {
	s := study{t, t.TempDir()}
	s.keep("20260102-030405-aa", "ds-data", "", ledger.Head{})
	for command, absent := range map[string]string{"verify": "is not there, must be", "report": "run.json"} {
		code, _, errs := s.weir(command, s.path("runs/study"))
		if code != exitUsage || !strings.Contains(errs, "is not a run, must be") || !strings.Contains(errs, "such as "+
			s.path("runs/study/20260102-030405-aa")) {
			t.Errorf("%s: exit code %d, %s", command, code, errs)
		}
		if code, _, errs = s.weir(command, s.path("absent")); code != exitUsage || !strings.Contains(errs, absent) {
			t.Errorf("%s of an absent folder: exit code %d, %s", command, code, errs)
		}
	}
}

// TestWarningsPrecedeTheRun, once, with what to do instead; not with --json.
func TestWarningsPrecedeTheRun(t *testing.T) {
	s := newStudy(t, 400)
	s.edit("spec.yaml", "{epsilon: 1,", "{epsilon: 40,")
	code, out, errs := s.run()
	if code != exitDone || strings.Count(errs, "warning W33") != 1 || !strings.Contains(errs,
		"\n  instead: a smaller budget") || strings.Contains(out, "W33") {
		t.Errorf("run: exit code %d, %s%s", code, out, errs)
	}
	if _, _, errs = s.run("--json"); strings.Contains(errs, "W33") {
		t.Errorf("with --json, run says %s", errs)
	}
	if _, out, _ = s.weir("check", s.path("spec.yaml")); !strings.Contains(out, "\n  instead: a smaller budget") {
		t.Errorf("check says %s", out)
	}
}

// TestInterruptedCommandsSaySo: what Ctrl-C ends is told in words, whichever command it was.
func TestInterruptedCommandsSaySo(t *testing.T) {
	s := newStudy(t, 300)
	s.write("other.csv", s.read("data.csv"))
	for _, args := range [][]string{
		{"what-if", s.path("rehearsal.yaml"), "--repeats", "1"},
		{"domain", "infer", s.path("data.csv"), "--page", "none"},
		{"evaluate", "--domain", s.path("domain.yaml"), "--real", s.path("data.csv"), "--synthetic", s.path("other.csv")},
	} {
		s.write("rehearsal.yaml", s.read("spec.yaml")+"  close: {kind: marginals, real: clean, synthetic: sample}\n")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		var out, errs bytes.Buffer
		code := execute(ctx, streams{in: strings.NewReader(""), out: &out, err: &errs,
			build: func() string { return "test" }}, args)
		if code != exitInterrupted || !strings.Contains(errs.String(), "weir: interrupted; the same command begins anew\n") ||
			strings.Contains(errs.String(), "context canceled") {
			t.Errorf("%s: exit code %d: %s%s", args[0], code, out.String(), errs.String())
		}
	}
}
