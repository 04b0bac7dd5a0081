package main

import (
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	randv2 "math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"weir/internal/disk"
	"weir/privacy"
	"weir/record"
	"weir/runtime"
	"weir/runtime/payment"
)

// overIn returns a run of the study's spec, whose runs are under the folder out.
func (s study) overIn(out string, files disk.Disk, ask func([]payment.Quote) error) (*runtime.Result, error) {
	s.t.Helper()
	plan, err := (&specFlags{}).compile(s.path("spec.yaml"))
	s.must(err)
	return runtime.Run(s.t.Context(), plan, runtime.Options{Disk: files, Out: s.path(out), Dir: s.dir, Workers: 1,
		Version: "test", Build: "test", Confirm: ask,
		Log: slog.New(slog.DiscardHandler), Progress: newProgress(io.Discard, true), Clock: time.Now, Random: rand.Reader})
}

// copied returns a study of which an unfinished run lies in two folders, one a copy of the other. The run was
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
	if one.Record.ID != two.Record.ID || s.table(one) != s.table(two) || !strings.Contains(s.table(one), ",") ||
		s.charges() != charges {
		t.Errorf("%s and %s, %d charges, were %d; must be one run with the same rows, charged once", one.Record.ID,
			two.Record.ID, s.charges(), charges)
	}
}

// TestCopiesOfARunDoNotShareACharge: where the copy was made before a stage was charged, nothing says what
// the other folder's noise stood on. The second of two that are continued is refused before it draws, be it that the
// first one charged before it began, while it asked, or between its look at the ledger and its charge.
func TestCopiesOfARunDoNotShareACharge(t *testing.T) {
	t.Parallel()
	for _, stage := range []string{"bounds", "train"} {
		isThere := func(c disk.Change) bool {
			return c.Op == disk.OpRename && strings.HasSuffix(c.To, "noise-"+stage+".json")
		}
		for when, want := range map[string]error{"before": payment.ErrNewCharge, "asked": payment.ErrNewCharge,
			"charging": payment.ErrElsewhere} {
			s := copied(t, isThere)
			other := func() { _, err := s.overIn("other", disk.Disk{}, nil); s.must(err) }
			ask := func([]payment.Quote) error { return nil }
			files := disk.Disk{}
			switch when {
			case "before":
				other()
			case "asked":
				ask = func([]payment.Quote) error { other(); return nil }
			case "charging":
				files.Watch = func(c disk.Change) (int64, error) {
					if isThere(c) {
						other()
					}
					return 0, nil
				}
			}
			if _, err := s.overIn("runs", files, ask); !errors.Is(err, want) || s.charges() != 2 {
				t.Errorf("%s, %s: %v, %d charges; must be refused by %v with 2 charges", stage, when, err, s.charges(), want)
			}
		}
	}
}

// heard is the noise of the counts that a stage releases: what came out less what went in.
type heard struct{ noise [][]int64 }

func (h *heard) Release(r privacy.Released) any {
	if round, rounds := r.In.(privacy.Round); rounds {
		r.In = round.In
	}
	if in, counts := r.In.([]int64); counts {
		noise := slices.Clone(r.Out.([]int64))
		for i := range noise {
			noise[i] -= in[i]
		}
		h.noise = append(h.noise, noise)
	}
	return r.Out
}

// listened returns a run of the study's spec, with the noise of the counts of its stage train.
func (s study) listened(random *randv2.ChaCha8) (*runtime.Result, [][]int64) {
	s.t.Helper()
	plan, err := (&specFlags{}).compile(s.path("spec.yaml"))
	s.must(err)
	train := &heard{}
	r, err := runtime.Run(s.t.Context(), plan, runtime.Options{Out: s.path("runs"), Dir: s.dir, Workers: 1,
		Version: "test", Build: "test", Clock: time.Now, Random: random,
		Log: slog.New(slog.DiscardHandler), Progress: newProgress(io.Discard, true),
		Probe: func(stage string) privacy.Probe {
			if stage == "train" {
				return train
			}
			return &heard{}
		}})
	s.must(err)
	return r, train.noise
}

// TestCopiesOnOtherNoiseDrawTheirOwn: a run that has charged nothing is copied with its data and ledger, and continued
// in both places. In one the bounds have by then been drawn by a run of another spec, so that the model stands on
// bounds of two keys. It has noise of its own on each, and a charge: the ledgers together count both. The first four
// counts have noise of a deviation above 10, so that two drawings are equal by chance in one test of 1.5e6: the most
// likely difference has a probability of 1 / (2 sqrt(pi) 10) in each.
func TestCopiesOnOtherNoiseDrawTheirOwn(t *testing.T) {
	s := copied(t, func(c disk.Change) bool {
		return c.Op == disk.OpRename && strings.HasSuffix(c.To, "noise-bounds.json")
	})
	copied := study{t, t.TempDir()}
	s.must(os.CopyFS(copied.dir, os.DirFS(s.dir)))
	random := randv2.NewChaCha8([32]byte{1})
	s.edit("spec.yaml", "name: pair", "name: second")
	s.edit("spec.yaml", "kind: independent", "kind: marginal_tree")
	second, _ := s.listened(random)
	s.edit("spec.yaml", "name: second", "name: pair")
	s.edit("spec.yaml", "kind: marginal_tree", "kind: independent")
	local, noiseHere := s.listened(random)
	there, noiseThere := copied.listened(random)
	bounds := fromOf(local.Record, "bounds")
	if other := fromOf(there.Record, "bounds"); local.Record.ID != there.Record.ID || bounds != second.Record.ID ||
		other != "" {
		t.Fatalf("%s on bounds of %q, %s on bounds of %q: must be one run, on bounds of %s and of its own",
			local.Record.ID, bounds, there.Record.ID, other, second.Record.ID)
	}
	if len(noiseHere) == 0 || len(noiseThere) == 0 || slices.Equal(noiseHere[0], noiseThere[0]) {
		t.Errorf("the model has the noise %v on one release of bounds and %v on the other", noiseHere, noiseThere)
	}
	if a, b := idOf(local.Record, "train"), idOf(there.Record, "train"); a == b || a == "" || b == "" {
		t.Errorf("the model is charged as %s on one release of bounds and as %s on the other, must be two charges", a, b)
	}
	for _, v := range []struct {
		study
		run *runtime.Result
	}{{s, local}, {copied, there}} {
		if code, out, errs := v.weir("verify", v.run.Path); code != exitDone {
			t.Errorf("weir verify: exit code %d: %s%s", code, out, errs)
		}
	}
}

func idOf(r *record.Run, stage string) string {
	for _, c := range r.Charges {
		if c.Stage == stage {
			return c.ID
		}
	}
	return ""
}
