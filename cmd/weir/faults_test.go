package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"weir/internal/disk"
	"weir/internal/stattest"
	"weir/pipeline/compile"
	"weir/runtime"
)

// chance is the randomness of a machine whose every draw gives the same bytes: whichever attempt makes
// a key makes the same one.
type chance struct{}

func (chance) Read(p []byte) (int, error) { return rand.NewChaCha8([32]byte{1}).Read(p) }

// attempt makes run i of `weir run` on the study, over a disk.
func (s study) attempt(plan *compile.Plan, on disk.Disk, i int) (*runtime.Result, error) {
	start := time.Unix(1.7e9, 0).Add(time.Duration(i) * time.Hour)
	return runtime.Run(s.t.Context(), plan, runtime.Options{Disk: on, Out: s.path("runs"), Dir: s.dir, Workers: 1,
		Version: "test", Build: "test",
		Log: slog.New(slog.DiscardHandler), Progress: newProgress(io.Discard, true), Clock: func() time.Time { return start },
		Random: chance{}})
}

// memory returns a folder in memory where the machine has one: what is on disk and what is not the
// faulty disk knows, so a thousand runs need not wait for a real one.
func memory(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "weir")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// briefly makes a run of a few milliseconds with two checkpoints.
func briefly(t *testing.T) study {
	s := newStudyIn(t, memory(t), 60)
	s.edit("spec.yaml", "steps: 40, critic_steps: 1, expected_batch_size: 16, generator: [8], critic: [8]",
		"steps: 6, expected_batch_size: 8, generator: [4], critic: [4]")
	s.edit("spec.yaml", "checkpoint_every: 10}", "checkpoint_every: 2}")
	return s
}

// TestEveryFaultOfADiskIsSurvived: each change that a paid run makes on disk fails in turn, alone, with
// all that follow, or by a power cut, or is slow. What follows on a sound disk ends in the release
// of a run that met no fault, from one charge, and leaves no torn file. Under -tags long each change
// fails in every manner; in an ordinary run of the tests four of eleven fail, each in one, so that each kind of change
// that is made twenty times or more meets each manner.
func TestEveryFaultOfADiskIsSurvived(t *testing.T) {
	s, counter := briefly(t), newFaultyDisk(t, "", 0)
	plan, err := (&specFlags{}).compile(s.path("spec.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.attempt(plan, counter.disk(), 0)
	if err != nil {
		t.Fatal(err)
	}
	want := s.table(r)
	t.Logf("%d changes", counter.n)
	const stride = 11 // a file takes seven changes, so that seven would meet one kind of them alone
	manners := []string{"fails once", "fails on", "loses power", "is slow"}
	for first, manner := range manners {
		t.Run(manner, func(t *testing.T) {
			t.Parallel()
			met := map[disk.Op]bool{}
			for i := 1 + first%stattest.Rounds(stride, 1); i <= counter.n; i += stattest.Rounds(stride, 1) {
				met[counter.ops[i-1]] = true
				if err := briefly(t).survive(plan, newFaultyDisk(t, manner, i), want); err != nil {
					t.Errorf("change %d of %d %s: %v", i, counter.n, manner, err)
				}
			}
			for op, n := range countsOf(counter.ops) {
				if n >= 20 && !met[op] {
					t.Errorf("no %s of %d %s", op, n, manner)
				}
			}
		})
	}
}

func countsOf(ops []disk.Op) map[disk.Op]int {
	counts := map[disk.Op]int{}
	for _, op := range ops {
		counts[op]++
	}
	return counts
}

// survive says what is wrong after a fault and a second attempt on a sound disk.
func (s study) survive(plan *compile.Plan, faulty *faultyDisk, want string) error {
	first, failed := s.attempt(plan, faulty.disk(), 0)
	if faulty.manner == "loses power" {
		faulty.cut()
	}
	if failed == nil && s.table(first) != want {
		return errors.New("it is not noticed, and the release is another one")
	}
	if failed != nil && faulty.manner == "is slow" {
		return failed
	}
	again, err := s.attempt(plan, disk.Disk{}, 1)
	if err != nil {
		return fmt.Errorf("%s, first attempt: %v; then, on a sound disk: %w", faulty.hit, failed, err)
	}
	if s.table(again) != want {
		return fmt.Errorf("%s: the second attempt gives other rows than a run without a fault", faulty.hit)
	}
	if err := s.paidOnce(); err != nil {
		return fmt.Errorf("%s: %w", faulty.hit, err)
	}
	return nil
}

// table returns the synthetic table of a run.
func (s study) table(r *runtime.Result) string {
	data, err := os.ReadFile(filepath.Join(r.Path, "release", "sample.csv"))
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// paidOnce checks the ledger with the record that a run left, and that no unfinished file is there.
func (s study) paidOnce() error {
	if n := strings.Count(s.read("data.csv.weir-ledger.jsonl"), "\n"); n != 1 {
		return fmt.Errorf("the ledger has %d charges, must have 1", n)
	}
	if code, out, errs := s.weir("ledger", "verify", s.path("data.csv.weir-ledger.jsonl"), "--runs",
		s.path("runs")); code != exitDone {
		return fmt.Errorf("weir ledger verify: exit code %d: %s%s", code, out, errs)
	}
	return filepath.WalkDir(s.dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && strings.Contains(e.Name(), ".tmp") {
			err = fmt.Errorf("%s is left", path)
		}
		return err
	})
}
