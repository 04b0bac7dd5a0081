//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"weir/internal/stattest"
)

// long makes the study train for a second, with many checkpoints.
func long(s study) {
	s.edit("spec.yaml", "steps: 40, critic_steps: 1, expected_batch_size: 16, generator: [8], critic: [8]",
		"steps: 10000, expected_batch_size: 64, generator: [32], critic: [32]")
	s.edit("spec.yaml", "checkpoint_every: 10}", "checkpoint_every: 250}")
}

// waitFor polls until a file that matches appears; five minutes are far beyond what
// the first checkpoint takes.
func waitFor(t *testing.T, pattern string) {
	t.Helper()
	for range 150000 {
		if found, _ := filepath.Glob(pattern); len(found) > 0 {
			return
		}
		time.Sleep(2 * time.Millisecond)
	}
	t.Fatalf("%s never appeared", pattern)
}

// stopped runs the study in a process, sends it a signal in the middle of
// training, and returns its exit code and what it said.
func stopped(t *testing.T, s study, sig syscall.Signal) (int, string) {
	t.Helper()
	var output bytes.Buffer
	c := s.process(nil, "--insecure-noise-seed", "9")
	c.Stderr = &output
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, s.path("runs/cache/*/scratch/checkpoint"))
	if err := c.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
	c.Wait()
	return c.ProcessState.ExitCode(), output.String()
}

// TestKilledRunIsContinued: kill -9 or Ctrl-C in the middle, the same command
// again: the same bytes as a run that nobody stopped, and one charge.
func TestKilledRunIsContinued(t *testing.T) {
	t.Parallel()
	whole := newStudy(t, 400)
	long(whole)
	want := whole.result("--insecure-noise-seed", "9")
	for _, sig := range []syscall.Signal{syscall.SIGKILL, syscall.SIGINT} {
		t.Run(sig.String(), func(t *testing.T) {
			s := newStudy(t, 400)
			long(s)
			code, text := stopped(t, s, sig)
			if sig == syscall.SIGINT && code != exitInterrupted {
				t.Errorf("exit code %d, must be %d: %s", code, exitInterrupted, text)
			}
			if sig == syscall.SIGINT && (!strings.Contains(text, "interrupted, train at ") || !strings.Contains(text,
				"with a checkpoint to go on from")) {
				t.Errorf("%q, must say where train stands and that it has a checkpoint", text)
			}
			if found, _ := filepath.Glob(s.path("runs/study/*/release")); len(found) > 0 {
				t.Error("a stopped run left a release")
			}
			got := s.result("--insecure-noise-seed", "9")
			if released(t, got, "sample.csv") != released(t, want, "sample.csv") {
				t.Error("the continued run gives other rows")
			}
			if n := strings.Count(s.read("data.csv.NOT-PRIVATE.weir-ledger.jsonl"), "\n"); n != 1 {
				t.Errorf("the ledger has %d charges, must have 1", n)
			}
			if runs, _ := filepath.Glob(s.path("runs/study/*/run.json")); len(runs) != 1 {
				t.Errorf("there are %d runs, must be 1 that was continued", len(runs))
			}
			if found, _ := filepath.Glob(s.path("runs/cache/*/scratch")); len(found) > 0 {
				t.Error("a finished stage left its private checkpoints")
			}
		})
	}
}

// TestSecondProcessWaits for the first one that works on the same run, and is cancelled
// like any run; when the first is killed, the next one continues it.
func TestSecondProcessWaits(t *testing.T) {
	t.Parallel()
	s := newStudy(t, 400)
	long(s)
	c := s.process(nil, "--insecure-noise-seed", "9")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, s.path("runs/cache/*/scratch/checkpoint"))
	c.Process.Signal(syscall.SIGSTOP) // on a busy machine it may be done before the second has begun
	second := s.process(nil, "--insecure-noise-seed", "9")
	errs, err := second.StderrPipe()
	if err == nil {
		err = second.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	said, waits := bufio.NewScanner(errs), false
	for said.Scan() {
		if strings.Contains(said.Text(), "waiting for the run") {
			waits = true
			c.Process.Kill()
			c.Wait()
		}
	}
	if err := second.Wait(); err != nil || !waits {
		t.Errorf("%v; the second waited: %v", err, waits)
	}
	s.onePaid("data.csv.NOT-PRIVATE.weir-ledger.jsonl")
}

// onePaid checks that there is one run, charged once.
func (s study) onePaid(ledger string) {
	s.t.Helper()
	if n := strings.Count(s.read(ledger), "\n"); n != 1 {
		s.t.Errorf("the ledger has %d charges, must have 1", n)
	}
	if runs, _ := filepath.Glob(s.path("runs/study/*/run.json")); len(runs) != 1 {
		s.t.Errorf("there are %d runs, must be 1", len(runs))
	}
}

// TestPairsOfProcesses lets two processes begin the same spec at the same moment. It is charged
// once, and both give the same release. 16 of 40 such pairs were charged twice: eight miss that
// in one of 60 times, the 40 of -tags long never.
func TestPairsOfProcesses(t *testing.T) {
	t.Parallel()
	for range stattest.Rounds(8, 40) {
		s := newStudy(t, 60)
		var pair [2]*exec.Cmd
		var out, errs [2]bytes.Buffer
		for i := range pair {
			pair[i] = s.process(nil, "--json")
			pair[i].Stdout, pair[i].Stderr = &out[i], &errs[i]
			if err := pair[i].Start(); err != nil {
				t.Fatal(err)
			}
		}
		var results [2]runResult
		for i, c := range pair {
			if err := c.Wait(); err != nil {
				t.Fatalf("%v: %s", err, errs[i].String())
			}
			if err := json.Unmarshal(out[i].Bytes(), &results[i]); err != nil {
				t.Fatal(err)
			}
		}
		if results[0].Run != results[1].Run || results[0].Reused == results[1].Reused {
			t.Errorf("%+v and %+v, must be one run, which one of them is shown", results[0], results[1])
		}
		s.onePaid("data.csv.weir-ledger.jsonl")
	}
}

// TestNoSpaceLeft: files may not grow beyond 2 kB, as on a full disk.
func TestNoSpaceLeft(t *testing.T) {
	s := newStudy(t, 400)
	var output bytes.Buffer
	c := s.process([]string{"WEIR_TEST_FSIZE=2000"})
	c.Stderr = &output
	if err := c.Run(); err == nil {
		t.Fatal("a run without space must end with an error")
	}
	if code := c.ProcessState.ExitCode(); code != exitFailed || !strings.Contains(output.String(), "file too large") {
		t.Errorf("exit code %d: %s", code, output.String())
	}
	if found, _ := filepath.Glob(s.path("runs/study/*/release")); len(found) > 0 {
		t.Error("a run without space left a release")
	}
	r := s.result()
	if released(t, r, "sample.csv") == "" {
		t.Error("with space again the run must be done")
	}
	if n := strings.Count(s.read("data.csv.weir-ledger.jsonl"), "\n"); n > 2 {
		t.Errorf("the ledger has %d charges", n)
	}
}

// TestReadOnlyFolders: runs need a writable folder; a ledger whose dataset lies
// in a read-only folder goes with the runs, and weir says so.
func TestReadOnlyFolders(t *testing.T) {
	s := newStudy(t, 400)
	s.write("file", "not a folder")
	if code, _, errs := s.weir("run", s.path("spec.yaml"), "--out", s.path("file/runs")); code != exitFailed ||
		!strings.Contains(errs, "writable") {
		t.Errorf("exit code %d: %s", code, errs)
	}
	out := t.TempDir()
	if err := os.Chmod(s.dir, 0o555); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(s.dir, 0o755)
	code, _, errs := s.weir("run", s.path("spec.yaml"), "--out", out)
	if code != exitDone || !strings.Contains(errs, "read-only") {
		t.Errorf("exit code %d: %s", code, errs)
	}
	if found, _ := filepath.Glob(filepath.Join(out, "ledgers", "*.weir-ledger.jsonl")); len(found) != 1 {
		t.Errorf("ledgers: %v, must be one", found)
	}
}
