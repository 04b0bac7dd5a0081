//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"weir/internal/disk"
	"weir/runtime/collect"
)

func (s study) gc(args ...string) (code int, out string) {
	s.t.Helper()
	code, out, errs := s.weir(append([]string{"gc", "--out", s.path("runs"), "--older", "0h"}, args...)...)
	return code, out + errs
}

// TestCollectedRunIsMadeAgain: without cache and release a finished run gives the same
// bytes again, and nothing is charged.
func TestCollectedRunIsMadeAgain(t *testing.T) {
	s := newStudy(t, 200)
	first := s.result()
	want, paid := released(t, first, "sample.csv"), s.ledgerLines()
	if code, out := s.gc("--release"); code != exitDone || !strings.Contains(out, "there is no terminal to ask; --yes "+
		"removes") {
		t.Errorf("exit code %d: %s", code, out)
	}
	if code, out := s.gc("--release", "--yes", "--dry-run"); code != exitDone ||
		!strings.Contains(out, "nothing was removed (--dry-run)") {
		t.Errorf("exit code %d: %s", code, out)
	}
	if again := s.result(); !again.Reused {
		t.Error("a dry run has removed something")
	}
	if code, out := s.gc("--release", "--yes"); code != exitDone || !strings.Contains(out, "release ") ||
		!strings.Contains(out, "freed") {
		t.Errorf("exit code %d: %s", code, out)
	}
	if found, _ := filepath.Glob(s.path("runs/study/*/release")); len(found) > 0 {
		t.Errorf("%v is there", found)
	}
	again := s.result()
	if again.Run != first.Run || released(t, again, "sample.csv") != want || s.ledgerLines() != paid {
		t.Errorf("run again: %s with %d charges, must be %s with %d and the same rows", again.Run, s.ledgerLines(), first.Run,
			paid)
	}
}

// TestWhatWasPaidIsUsedAgain: gc leaves what an edited spec takes again; of what --paid removes
// the list says whether it is a new charge, and so it is.
func TestWhatWasPaidIsUsedAgain(t *testing.T) {
	t.Parallel()
	s := newStudy(t, 200)
	first := s.result()
	charges := func(rows string, gc []string, said string, want int) {
		t.Helper()
		if code, out := s.gc(gc...); code != exitDone || !strings.Contains(out, said) ||
			strings.Contains(out, "is a new charge") != (want > 1) {
			t.Errorf("gc %v: exit code %d: %s", gc, code, out)
		}
		s.edit("spec.yaml", "{kind: sample, rows: ", "{kind: sample, rows: "+rows)
		s.result()
		if n := s.ledgerLines(); n != want {
			t.Errorf("after gc %v: %d charges, must be %d", gc, n, want)
		}
	}
	charges("1", []string{"--yes"}, "use it again at no charge", 1)
	charges("2", []string{"--yes", "--paid"}, "cached output that was paid", 1)
	os.Remove(filepath.Join(first.Run, "internal", "noise.key"))
	charges("3", []string{"--yes"}, "use it again at no charge", 1)
	charges("4", []string{"--yes", "--paid"}, "to have it again is a new charge", 2)
}

// TestCollectionStoppedAnywhere: however far it came, running the spec again gives the same
// bytes and charges nothing.
func TestCollectionStoppedAnywhere(t *testing.T) {
	t.Parallel()
	s := newStudy(t, 200)
	first := s.result()
	want, paid := released(t, first, "sample.csv"), s.ledgerLines()
	for stop, ended := 0, false; !ended; stop += 2 {
		changes := 0
		d := disk.Disk{Watch: func(c disk.Change) (int64, error) {
			if c.Op != disk.OpLock && c.Op != disk.OpSyncDir {
				changes++
			}
			if changes > stop {
				return 0, errors.New("stopped")
			}
			return 0, nil
		}}
		found, err := collect.Find(collect.Rules{Disk: d, Out: s.path("runs"), Before: time.Now().Add(time.Hour),
			Release: true, Build: ownBuild()})
		if err != nil || len(found.Removable()) == 0 {
			t.Fatalf("found %v, %v", found, err)
		}
		ended = found.Remove(t.Context(), func(collect.Item) {}) == nil
		again := s.result()
		if again.Run != first.Run || released(t, again, "sample.csv") != want || s.ledgerLines() != paid {
			t.Fatalf("stopped after %d changes: %s with %d charges, must be %s with %d", stop, again.Run, s.ledgerLines(),
				first.Run, paid)
		}
	}
}

// TestKilledRunThatPaidIsKept, and continues at no charge; without its data's ledger nobody
// can tell, and it is kept too.
func TestKilledRunThatPaidIsKept(t *testing.T) {
	t.Parallel()
	s := newStudy(t, 400)
	long(s)
	c := s.process(nil)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, s.path("runs/cache/*/scratch/checkpoint"))
	c.Process.Signal(syscall.SIGSTOP) // on a busy machine it may be done before it is looked at
	if _, out := s.gc("--paid", "--yes"); !strings.Contains(out, "a process works on it") ||
		!strings.Contains(out, "in all 0 items") {
		t.Errorf("a run at work is not left alone: %s", out)
	}
	c.Process.Kill()
	c.Wait()
	if _, out, _ := s.weir("runs", "--out", s.path("runs")); !strings.Contains(out, "killed") {
		t.Errorf("the list does not say that it was killed: %s", out)
	}
	if code, out := s.gc("--yes"); code != exitDone || !strings.Contains(out, "it has paid (charges: 1)") {
		t.Errorf("exit code %d: %s", code, out)
	}
	os.Rename(s.path("data.csv.weir-ledger.jsonl"), s.path("away"))
	if _, out := s.gc("--yes"); !strings.Contains(out, "nobody can tell whether it has paid") {
		t.Errorf("without its ledger: %s", out)
	}
	os.Rename(s.path("away"), s.path("data.csv.weir-ledger.jsonl"))
	s.result()
	if n := s.ledgerLines(); n != 1 {
		t.Errorf("the continued run has charged again: %d charges, must be 1", n)
	}
}

// TestCollectionAnswers: as JSON, to a wrong age, and after a question.
func TestCollectionAnswers(t *testing.T) {
	s := newStudy(t, 200)
	s.result()
	code, out := s.gc("--json")
	var printed struct {
		Items, Removed []collect.Item
		Note           string
		Bytes          int64 `json:"removable_bytes"`
	}
	if err := json.Unmarshal([]byte(out), &printed); code != exitDone || err != nil || len(printed.Items) == 0 ||
		len(printed.Removed) != 0 || printed.Note == "" || printed.Bytes == 0 {
		t.Errorf("exit code %d, %v: %s", code, err, out)
	}
	if code, out := s.gc("--json", "--yes"); code != exitDone || json.Unmarshal([]byte(out), &printed) != nil ||
		len(printed.Removed) == 0 || printed.Note != "" {
		t.Errorf("exit code %d: %s", code, out)
	}
	s.mustSay(exitUsage, []string{"--older: is 30, must be"}, "gc", "--older", "30")
	s.mustSay(exitDone, nil, "gc", "--out", s.path("absent"))
	if _, err := os.Stat(s.path("absent")); err == nil {
		t.Error("a folder of runs was made")
	}
	for answer, want := range map[string]bool{"y\n": true, "YES\n": true, "\n": false, "no\n": false, "": false,
		"yet\n": false} {
		if agreed(strings.NewReader(answer)) != want {
			t.Errorf("%q is taken for %v", answer, !want)
		}
	}
}

// TestWhatIsKeptForOneReasonIsOneLine: thirty outputs that were paid are not thirty lines above
// the question; another reason is a line of its own.
func TestWhatIsKeptForOneReasonIsOneLine(t *testing.T) {
	var b strings.Builder
	printKept(&b, []collect.Item{
		{What: "cached output", Path: "runs/cache/a", Bytes: 1000, Kept: "paid"},
		{What: "unfinished run", Path: "runs/s/1", Bytes: 10, Kept: "it has paid"},
		{What: "cached output", Path: "runs/cache/b", Bytes: 2000, Kept: "paid"},
		{What: "cached output", Path: "runs/cache/c"},
	})
	want := "  cached output, 3.0 kB, runs/cache/a and 1 more (--json lists them): paid\n  unfinished run, 10 B, " +
		"runs/s/1: it has paid\n"
	if b.String() != want {
		t.Errorf("kept is\n%s, must be\n%s", b.String(), want)
	}
}
