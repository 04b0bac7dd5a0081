package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReleaseThatIsGone: a finished run without its release is not shown as if it were
// there, and is not paid for again: it is made anew, byte by byte, from the cache or
// from its key; without either it is an error that says what to do.
func TestReleaseThatIsGone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		also func(s study, r runResult)
		back bool
	}{
		"with its cache":    {func(study, runResult) {}, true},
		"without its cache": {func(s study, _ runResult) { s.must(os.RemoveAll(s.path("runs/cache"))) }, true},
		"without its key": {func(s study, r runResult) { s.must(os.Remove(filepath.Join(r.Run, "internal", "noise.key"))) },
			false},
		"without its key and its cache": {func(s study, r runResult) {
			s.must(os.Remove(filepath.Join(r.Run, "internal", "noise.key")))
			s.must(os.RemoveAll(s.path("runs/cache")))
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStudy(t, 400)
			r := s.result()
			want := map[string]string{}
			for _, f := range r.Release {
				data, err := os.ReadFile(f)
				s.must(err)
				want[f] = string(data)
			}
			c.also(s, r)
			s.must(os.RemoveAll(filepath.Join(r.Run, "release")))
			code, out, errs := s.run()
			if n := strings.Count(s.read("data.csv.weir-ledger.jsonl"), "\n"); n != 1 {
				t.Errorf("the ledger has %d charges, must have 1", n)
			}
			if !c.back {
				if code != exitFailed || !strings.Contains(errs, "is gone") || !strings.Contains(errs, "--fresh") {
					t.Errorf("exit code %d, %q; must say that it is gone and what to do", code, errs)
				}
				return
			}
			if code != exitDone || !strings.Contains(errs, "made again") ||
				strings.Contains(out, "was run on this data before") {
				t.Errorf("exit code %d, %q, %q; must say that it is made again", code, out, errs)
			}
			for f, text := range want {
				if data, err := os.ReadFile(f); err != nil || string(data) != text {
					t.Errorf("%s is not what it was: %v", filepath.Base(f), err)
				}
			}
			if again := s.result(); !again.Reused || again.Run != r.Run {
				t.Error("the run that was made again is not shown")
			}
		})
	}
}
