//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"weir/internal/stattest"
)

// TestKilledRunLendsItsNoise: a run is killed in the middle of training, and then its spec is
// edited behind the paid stage. The charge that it made is not made again: training goes on
// with its noise key, to the same bytes.
func TestKilledRunLendsItsNoise(t *testing.T) {
	t.Parallel()
	whole := newStudy(t, 400)
	long(whole)
	want := whole.result("--insecure-noise-seed", "9")
	s := newStudy(t, 400)
	long(s)
	stopped(t, s, syscall.SIGKILL)
	killed, _ := filepath.Glob(s.path("runs/study/2*"))
	s.edit("spec.yaml", "rows: 50", "rows: 60")
	got := s.result("--insecure-noise-seed", "9")
	if len(killed) != 1 || len(got.Charged) != 0 || got.From["train"] != filepath.Base(killed[0]) {
		t.Errorf("charged %v, reused %v of %v; must take the noise of the killed run", got.Charged, got.From, killed)
	}
	if released(t, got, "train.model") != released(t, want, "train.model") {
		t.Error("the model differs from that of a run that nobody stopped")
	}
	if code, out, errs := s.weir("verify", got.Run); code != exitDone {
		t.Errorf("its replay: %d: %s%s", code, out, errs)
	}
}

// TestUnfinishedTrainingIsNoReuse: what a run has paid and not finished, at work or killed, is
// planned as a stage to be continued, in its own spec and in another one; once it is done it is
// one to be used again.
func TestUnfinishedTrainingIsNoReuse(t *testing.T) {
	t.Parallel()
	s := newStudy(t, 400)
	long(s)
	c := s.process(nil)
	s.must(c.Start())
	waitFor(t, s.path("runs/cache/*/scratch/checkpoint"))
	c.Process.Signal(syscall.SIGSTOP) // on a busy machine it may be done before it is looked at
	first, _ := filepath.Glob(s.path("runs/study/2*"))
	planned := func(when, want string) {
		t.Helper()
		if code, out, errs := s.weir("plan", s.path("spec.yaml"), "--out", s.path("runs")); code != exitDone ||
			!strings.Contains(out, want) {
			t.Errorf("%s: %d, must be planned as %q: %s%s", when, code, want, out, errs)
		}
	}
	paid := "paid in run " + filepath.Base(first[0]) + ", to be continued"
	planned("a run at work", paid)
	s.must(c.Process.Kill())
	c.Wait()
	planned("a killed run", paid)
	s.edit("spec.yaml", "rows: 50", "rows: 60")
	planned("a killed run of another spec", paid)
	s.result()
	planned("a finished training", "reused, charged in run "+filepath.Base(first[0]))
}

// TestVerifyNeedsTheKeyOfTheRunThatPaid, and says whose is gone.
func TestVerifyNeedsTheKeyOfTheRunThatPaid(t *testing.T) {
	d := newDay(t)
	first := d.step("the first run", 1)
	second := d.edited("rows: 50", "rows: 60", "rows", 0)
	s := d.study
	s.must(os.Remove(filepath.Join(first.Run, "internal", "noise.key")))
	if code, _, errs := s.weir("verify", second.Run); code != exitUsage || !bytes.Contains([]byte(errs),
		[]byte(filepath.Base(first.Run))) {
		t.Errorf("without the key of the run that paid: %d: %s", code, errs)
	}
}

// TestProcessesPayOnce: processes begin specs at the same moment that differ behind the paid
// stage alone. One of them charges it, and the others use what it makes.
func TestProcessesPayOnce(t *testing.T) {
	t.Parallel()
	for round := range stattest.Rounds(3, 8) {
		s := newStudy(t, 60)
		s.result() // so that none finds a dataset which is not known yet
		var all [3]*exec.Cmd
		var out, errs [len(all)]bytes.Buffer
		for i := range all {
			all[i] = s.process(nil, "--json", "--set", "seed=77", "--set", fmt.Sprint("name=study", i), "--set",
				fmt.Sprint("stages.sample.rows=", 10+i))
			all[i].Stdout, all[i].Stderr = &out[i], &errs[i]
			s.must(all[i].Start())
		}
		charged := 0
		for i, c := range all {
			var r runResult
			if err := c.Wait(); err != nil {
				t.Fatalf("%v: %s", err, errs[i].String())
			}
			s.must(json.Unmarshal(out[i].Bytes(), &r))
			charged += len(r.Charged)
		}
		if charged != 1 || s.charges() != 2 {
			t.Errorf("round %d: %d processes charged, and the ledger has %d charges; must be 1 and 2", round, charged,
				s.charges())
		}
	}
}
