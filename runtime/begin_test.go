package runtime

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/privacy/ledger"
	"weir/record"
	"weir/runtime/payment"
	"weir/runtime/store"
)

// TestWhichRunIsTakenUp: a run is continued, or shown, only where it is the same in all
// that its noise and its rows follow from; everything else draws new noise. A wrong "yes"
// puts old noise on other values, a wrong "no" charges twice.
func TestWhichRunIsTakenUp(t *testing.T) {
	for name, c := range map[string]struct {
		lie    string // "none" ends, "resumes" stops the first time
		change func(t *testing.T, dir string, o *Options)
		same   bool
	}{
		"a finished run":        {"none", nil, true},
		"a finished run, fresh": {"none", func(_ *testing.T, _ string, o *Options) { o.Fresh = true }, false},
		"another repeat":        {"none", func(_ *testing.T, _ string, o *Options) { o.Repeat = 1 }, false},
		"another test seed": {"none", func(_ *testing.T, _ string, o *Options) {
			two := uint64(2)
			o.Insecure = &two
		}, false},
		"real noise":                    {"none", func(_ *testing.T, _ string, o *Options) { o.Insecure = nil }, false},
		"a finished run of other build": {"none", func(_ *testing.T, _ string, o *Options) { o.Build = "two" }, true},
		"other content":                 {"none", write("internal/content", "other"), false},
		"no content":                    {"none", remove("internal/content"), false},
		"an interrupted run":            {"stops", nil, true},
		"interrupted, another repeat":   {"stops", func(_ *testing.T, _ string, o *Options) { o.Repeat = 1 }, false},
		"interrupted, other build":      {"stops", func(_ *testing.T, _ string, o *Options) { o.Build = "two" }, false},
		"interrupted, unknown build":    {"stops", func(_ *testing.T, _ string, o *Options) { o.Build = "" }, false},
		"interrupted, without key":      {"stops", remove("internal/noise.key"), false},
		"interrupted, another key":      {"stops", write("internal/noise.key", strings.Repeat("0", 64)), false},
	} {
		t.Run(name, func(t *testing.T) {
			out := t.TempDir()
			plan := planSpec(t, strings.Replace(liarSpec, "LIE", c.lie, 1))
			first, err := Run(t.Context(), plan, testOptions(out))
			if (err != nil) != (c.lie == "stops") {
				t.Fatal(err)
			}
			opts := testOptions(out)
			if c.change != nil {
				c.change(t, first.Path, &opts)
			}
			billsAlike(t, name, plan, opts, c.same)
			again, err := Run(t.Context(), plan, opts)
			if err != nil && c.lie == "none" {
				t.Fatal(err)
			}
			if (again.Path == first.Path) != c.same {
				t.Errorf("the second run is %s, the first %s; must be the same: %v", again.Path, first.Path, c.same)
			}
			if c.same && again.Record.KeyCommitment != first.Record.KeyCommitment {
				t.Error("the same run has another key")
			}
			if c.same != again.Reused && c.lie == "none" {
				t.Errorf("reused is %v, must be %v", again.Reused, c.same)
			}
		})
	}
}

// TestEditedReleaseIsNotPaidAgain: whatever became of a finished release, a run of the same
// spec draws no new noise in its place. Moved away, it is made again, uncharged.
func TestEditedReleaseIsNotPaidAgain(t *testing.T) {
	for name, change := range map[string]func(*testing.T, string, *Options){
		"edited": write("release/BILL.txt", "free"), "too many": write("release/rows.csv", "1"),
		"too few": remove("release/domain.yaml"),
	} {
		out := t.TempDir()
		plan := planSpec(t, strings.Replace(liarSpec, "LIE", "none", 1))
		first, err := Run(t.Context(), plan, testOptions(out))
		if err != nil {
			t.Fatal(err)
		}
		opts := testOptions(out)
		change(t, first.Path, &opts)
		if again, err := Run(t.Context(), plan, opts); !errors.Is(err, errEdited) || again != nil {
			t.Errorf("%s: %+v, %v, must be refused", name, again, err)
		}
		if err := os.RemoveAll(filepath.Join(first.Path, "release")); err != nil {
			t.Fatal(err)
		}
		again, err := Run(t.Context(), plan, opts)
		if err != nil || again.Path != first.Path {
			t.Fatalf("%s: %+v, %v, must be made again", name, again, err)
		}
		runs, err := store.Runs(filepath.Dir(first.Path))
		if err != nil || len(runs) != 1 || len(again.Record.Charges) != len(first.Record.Charges) {
			t.Errorf("%s: %v, %d charges of %d, %v", name, runs, len(again.Record.Charges), len(first.Record.Charges), err)
		}
	}
}

// billsAlike: the bill of an experiment leaves out just the trials that are taken up. What
// only a look at the release or at the key tells is left to the ledger, charge by charge.
func billsAlike(t *testing.T, name string, plan *compile.Plan, opts Options, same bool) {
	t.Helper()
	inputs, s, err := openFiles(t.Context(), plan, opts)
	if err != nil {
		t.Fatal(err)
	}
	defer inputs.Close()
	task, err := taskOf(t.Context(), plan, s, inputs, opts)
	if err != nil {
		t.Fatal(err)
	}
	runs, err := payment.FindRuns(filepath.Join(opts.Out, plan.Name), plan.Digest, s.ID, s.Version, nil)
	if err != nil {
		t.Fatal(err)
	}
	found := !opts.Fresh && slices.ContainsFunc(runs, func(f payment.Found) bool {
		_, err := task.Resume(store.RunDir{Path: f.Path}, f.Record)
		standing := task.Standing(f)
		return standing == payment.Finished || standing == payment.Unfinished && err == nil
	})
	looks := strings.Contains(name, " key")
	if found != same && !looks {
		t.Errorf("the bill counts it as taken up: %v, must be %v", found, same)
	}
}

func write(name, text string) func(*testing.T, string, *Options) {
	return func(t *testing.T, dir string, _ *Options) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func remove(name string) func(*testing.T, string, *Options) {
	return func(t *testing.T, dir string, _ *Options) {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestBusyRunIsWaitedFor: two processes never write into one run. The second says that it
// waits, can be cancelled, and continues a run whose process is gone.
func TestBusyRunIsWaitedFor(t *testing.T) {
	out := t.TempDir()
	plan := planSpec(t, strings.Replace(liarSpec, "LIE", "stops", 1))
	first, err := Run(t.Context(), plan, testOptions(out))
	if err == nil {
		t.Fatal("the first run did not stop")
	}
	other := store.RunDir{Path: first.Path}
	if err := other.Lock(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	opts, text := testOptions(out), &hears{word: "waiting for the run", then: cancel}
	opts.Log = slog.New(text)
	if _, err := Run(ctx, plan, opts); !errors.Is(err, context.Canceled) || !text.heard {
		t.Errorf("%v, must be cancelled while another holds it; told to wait: %v", err, text.heard)
	}
	opts.Log = slog.New(&hears{word: "waiting for the run", then: func() { other.Unlock() }})
	if again, _ := Run(t.Context(), plan, opts); again == nil || again.Path != first.Path {
		t.Errorf("%+v, must be continued once it is free", again)
	}
}

// hears is a log that acts on a message.
type hears struct {
	slog.Handler
	word  string
	then  func()
	heard bool
}

func (h *hears) Enabled(context.Context, slog.Level) bool { return true }
func (h *hears) Handle(_ context.Context, r slog.Record) error {
	if strings.Contains(r.Message, h.word) && !h.heard {
		h.heard = true
		h.then()
	}
	return nil
}

// TestTwoAtOnceAreOneRun: of runs of one spec that begin at the same moment one pays, and
// the others show it; fresh ones pay each.
func TestTwoAtOnceAreOneRun(t *testing.T) {
	for _, fresh := range []bool{false, true} {
		out := t.TempDir()
		plan := planSpec(t, strings.Replace(liarSpec, "LIE", "none", 1))
		results := make([]*Result, 8)
		var all sync.WaitGroup
		for i := range results {
			all.Add(1)
			go func() {
				defer all.Done()
				opts := testOptions(out)
				opts.Fresh = fresh
				var err error
				if results[i], err = Run(t.Context(), plan, opts); err != nil {
					t.Error(err)
				}
			}()
		}
		all.Wait()
		if t.Failed() {
			return
		}
		paid := map[string]bool{}
		for _, r := range results {
			paid[r.Path] = true
		}
		text, err := os.ReadFile(results[0].Record.Dataset.Ledger)
		if want := map[bool]int{false: 1, true: len(results)}[fresh]; err != nil || len(paid) != want ||
			strings.Count(string(text), "\n") != want {
			t.Errorf("fresh %v: %d runs and the ledger %s, must be %d", fresh, len(paid), text, want)
		}
	}
}

// TestRefusedRunLeavesNoTrace: nothing was spent, so no folder, no key and no charge stays.
func TestRefusedRunLeavesNoTrace(t *testing.T) {
	out := t.TempDir()
	plan := planSpec(t, strings.Replace(liarSpec, "LIE", "none", 1))
	plan.Dataset.Budget = &pipeline.Budget{Epsilon: 0.1, Delta: 1e-6, Filter: "rdp"}
	if _, err := Run(t.Context(), plan, testOptions(out)); !errors.Is(err, ledger.ErrOverBudget) {
		t.Fatalf("%v, must be over the budget", err)
	}
	for _, pattern := range []string{"lies/2*", "ledgers/*.jsonl"} {
		if left, _ := filepath.Glob(filepath.Join(out, pattern)); len(left) > 0 {
			t.Errorf("%v is left", left)
		}
	}
}

// TestLostChargeIsWrittenAgain: what was released was paid for, whatever became of the
// ledger; showing the run writes the same charge, once.
func TestLostChargeIsWrittenAgain(t *testing.T) {
	out := t.TempDir()
	plan := planSpec(t, strings.Replace(liarSpec, "LIE", "none", 1))
	first, err := Run(t.Context(), plan, testOptions(out))
	if err != nil || first.Record.Status != record.Done {
		t.Fatal(err)
	}
	path := first.Record.Dataset.Ledger
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if again, err := Run(t.Context(), plan, testOptions(out)); err != nil || !again.Reused {
			t.Fatalf("%+v, %v", again, err)
		}
		text, err := os.ReadFile(path)
		if err != nil || strings.Count(string(text), "\n") != 1 || !strings.Contains(string(text),
			first.Record.Charges[0].ID) {
			t.Errorf("the ledger is %s (%v), must hold the charge of the run once", text, err)
		}
	}
}
