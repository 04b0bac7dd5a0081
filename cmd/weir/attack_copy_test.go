package main

import (
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"weir/internal/disk"
	"weir/runtime"
	"weir/runtime/pay"
)

// overIn is a run of the study's spec, whose runs are under the folder out.
func (s study) overIn(out string, on disk.Disk, ask func([]runtime.Quote) error) (*runtime.Result, error) {
	s.t.Helper()
	plan, err := (&specFlags{}).compile(s.path("spec.yaml"))
	s.must(err)
	return runtime.Run(s.t.Context(), plan, runtime.Options{Disk: on, Out: s.path(out), Dir: s.dir, Workers: 1, Version: "test", Build: "test", Confirm: ask,
		Log: slog.New(slog.DiscardHandler), Progress: newProgress(io.Discard, true), Clock: time.Now, Random: rand.Reader})
}

// copied is a study of which an unfinished run lies in two folders, one a copy of the other. The run was
// stopped by the first change that the watch refuses.
func copied(t *testing.T, refuses func(disk.Change) bool) study {
	s := newPair(t)
	_, err := s.overIn("runs", disk.Disk{Watch: func(c disk.Change) (int64, error) {
		if refuses(c) {
			return 0, errDisk
		}
		return 0, nil
	}}, nil)
	if err == nil {
		t.Fatal("the run was not stopped")
	}
	s.must(os.CopyFS(s.path("other"), os.DirFS(s.path("runs"))))
	return s
}

// TestCopiesOfARunGiveEqualBytes: a run that had charged all its stages is copied and continued in both
// places. What its noise stands on is in both folders, so both draw the same noise on the same values:
// one release, charged once.
func TestCopiesOfARunGiveEqualBytes(t *testing.T) {
	s := copied(t, func(c disk.Change) bool { return c.Op == disk.OpRename && filepath.Base(c.To) == "release" })
	charges := s.charges()
	for _, out := range []string{"runs", "other"} { // all outputs are computed anew
		dirs, err := filepath.Glob(s.path(out + "/cache/*"))
		s.must(err)
		for _, dir := range dirs {
			if filepath.Base(dir) != "paid" {
				s.must(os.RemoveAll(dir))
			}
		}
	}
	one, err := s.overIn("runs", disk.Disk{}, nil)
	s.must(err)
	two, err := s.overIn("other", disk.Disk{}, nil)
	s.must(err)
	if one.Record.ID != two.Record.ID || s.table(one) != s.table(two) || !strings.Contains(s.table(one), ",") || s.charges() != charges {
		t.Errorf("%s and %s, %d charges, were %d; must be one run with the same rows, charged once", one.Record.ID, two.Record.ID, s.charges(), charges)
	}
}

// TestCopiesOfARunDoNotShareACharge: where the copy was made before a stage was charged, nothing says what
// the other folder's noise stood on. The second of two that are continued is refused before it draws, be it that the
// first one charged before it began, while it asked, or between its look at the ledger and its charge.
func TestCopiesOfARunDoNotShareACharge(t *testing.T) {
	for _, stage := range []string{"bounds", "train"} {
		stands := func(c disk.Change) bool {
			return c.Op == disk.OpRename && strings.HasSuffix(c.To, "noise-"+stage+".json")
		}
		for when, want := range map[string]error{"before": pay.ErrNewCharge, "asked": pay.ErrNewCharge, "charging": pay.ErrElsewhere} {
			s := copied(t, stands)
			other := func() { _, err := s.overIn("other", disk.Disk{}, nil); s.must(err) }
			ask := func([]runtime.Quote) error { return nil }
			on := disk.Disk{}
			switch when {
			case "before":
				other()
			case "asked":
				ask = func([]runtime.Quote) error { other(); return nil }
			case "charging":
				on.Watch = func(c disk.Change) (int64, error) {
					if stands(c) {
						other()
					}
					return 0, nil
				}
			}
			if _, err := s.overIn("runs", on, ask); !errors.Is(err, want) || s.charges() != 2 {
				t.Errorf("%s, %s: %v, %d charges; must be refused by %v with 2 charges", stage, when, err, s.charges(), want)
			}
		}
	}
}
