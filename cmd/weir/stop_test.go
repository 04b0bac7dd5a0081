//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"
)

// child returns weir as a process of its own, which is killed if it hangs.
func child(t *testing.T, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	var output bytes.Buffer
	c := exec.CommandContext(ctx, os.Args[0], args...)
	c.Env, c.Stderr = append(os.Environ(), "WEIR_TEST_MAIN=1"), &output
	return c, &output
}

// answered runs a command line, which must end within a minute: a reader that a file holds up never does.
func (s study) answered(t *testing.T, args []string) (code int, errs string) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		code, _, errs = s.weir(args...)
	}()
	select {
	case <-done:
		return code, errs
	case <-time.After(time.Minute):
		t.Fatalf("weir %v does not end", args)
		return 0, ""
	}
}

// TestInputsAreRegularFiles: a pipe without a writer blocks its reader and the signal
// that should end it; a device never ends.
func TestInputsAreRegularFiles(t *testing.T) {
	t.Parallel()
	s := newStudy(t, 400)
	s.must(syscall.Mkfifo(s.path("pipe"), 0o644))
	s.must(os.Mkdir(s.path("folder"), 0o755))
	for what, args := range map[string][]string{
		"a spec to check": {"check", "FILE"},
		"a spec to run":   {"run", "FILE"},
		"a confined spec": {"check", "--confine", "FILE"},
		"the data":        {"run", s.path("spec.yaml"), "--out", s.path("runs"), "--set", "dataset.file=FILE"},
		"the domain":      {"run", s.path("spec.yaml"), "--out", s.path("runs"), "--set", "dataset.domain=FILE"},
		"data to infer":   {"domain", "infer", "FILE"},
		"a model":         {"sample", "FILE"},
		"an event":        {"epsilon", "--delta", "1e-6", "--event", "@FILE"},
		"tables to judge": {"evaluate", "--domain", s.path("domain.yaml"), "--real", "FILE", "--synthetic", "FILE"},
		"a domain to judge": {"evaluate", "--domain", "FILE", "--real", s.path("data.csv"), "--synthetic",
			s.path("data.csv")},
		"a ledger": {"ledger", "show", "FILE"},
	} {
		for file, kind := range map[string]string{s.path("pipe"): "a pipe", "/dev/zero": "a device",
			s.path("folder"): "a folder"} {
			t.Run(what+" is "+kind, func(t *testing.T) {
				added := make([]string, len(args))
				for i, a := range args {
					added[i] = strings.ReplaceAll(a, "FILE", file)
				}
				code, text := s.answered(t, added)
				if code < 1 || !strings.Contains(text, "is "+kind+", must be a regular file") || !strings.Contains(text, file) &&
					what != "an event" {
					t.Errorf("exit code %d, %q; must say that %s is %s", code, text, file, kind)
				}
			})
		}
	}
}

// TestBoundedSpec: a file that is too long for a spec is not read to its end.
func TestBoundedSpec(t *testing.T) {
	s := newStudy(t, 4)
	s.write("long.yaml", "")
	s.must(os.Truncate(s.path("long.yaml"), 1<<30))
	for _, args := range [][]string{{"check", s.path("long.yaml")}, {"epsilon", "--delta", "1e-6", "--event",
		"@" + s.path("long.yaml")}} {
		if _, _, errs := s.weir(args...); !strings.Contains(errs, "1048576") {
			t.Errorf("%s: %q, must name the bound", args[0], errs)
		}
	}
}

// TestSecondSignalEnds: nobody reads what weir writes, so it cannot end in good order;
// the first signal says so, the second ends it.
func TestSecondSignalEnds(t *testing.T) {
	s := newStudy(t, 400)
	model := releasedPath(t, s.result(), ".model")
	caught := make(chan os.Signal, 1) // whoever ignores Ctrl-C hands that on to its children
	signal.Notify(caught, os.Interrupt)
	defer signal.Stop(caught)
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(sig.String(), func(t *testing.T) {
			c, output := child(t, "sample", model, "--rows", "100000000")
			c.Stderr = nil
			errs, err := c.StderrPipe()
			s.must(err)
			out, err := c.StdoutPipe()
			s.must(err)
			s.must(c.Start())
			var first [1]byte
			if _, err := out.Read(first[:]); err != nil {
				t.Fatal(err)
			}
			time.Sleep(50 * time.Millisecond) // a write is longer than the pipe: it blocks
			s.must(c.Process.Signal(sig))
			buf := make([]byte, 1000)
			n, err := errs.Read(buf)
			if err != nil || !strings.Contains(string(buf[:n]), "press Ctrl-C again") {
				t.Errorf("after the first signal: %q, %v %s", buf[:n], err, output)
			}
			s.must(c.Process.Signal(sig))
			err = c.Wait()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || !exit.Sys().(syscall.WaitStatus).Signaled() ||
				exit.Sys().(syscall.WaitStatus).Signal() != sig {
				t.Errorf("after the second signal: %v", err)
			}
		})
	}
}
