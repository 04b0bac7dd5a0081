package runtime

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weir/privacy/ledger"
)

// TestRecordsKeepTheHead: where there is no owner's side, as for made-up rows, the records
// of runs show that the end of a ledger was cut off, or that all of it is gone.
func TestRecordsKeepTheHead(t *testing.T) {
	for name, cut := range map[string]func(text string) string{
		"the last line": func(text string) string { return text[:strings.LastIndex(strings.TrimSpace(text), "\n")+1] },
		"every line":    func(string) string { return "" },
	} {
		for _, real := range []bool{true, false} {
			out := t.TempDir()
			plan := planSpec(t, strings.Replace(liarSpec, "LIE", "none", 1))
			opts := testOptions(out)
			opts.Fresh, opts.Ledger = true, filepath.Join(out, "asked.jsonl")
			if real {
				opts.Insecure = nil
			}
			var path string
			for range 2 {
				r, err := Run(t.Context(), plan, opts)
				if err != nil {
					t.Fatal(err)
				}
				path = r.Record.Dataset.Ledger
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(cut(string(text))), 0o644); err != nil {
				t.Fatal(err)
			}
			if _, err := Run(t.Context(), plan, opts); !errors.Is(err, ledger.ErrTampered) || !strings.Contains(err.Error(), "run.json") {
				t.Errorf("%s removed, real noise %v: %v, must be refused by the record", name, real, err)
			}
			if err := os.WriteFile(path, text, 0o644); err != nil {
				t.Fatal(err)
			}
			if _, err := Run(t.Context(), plan, opts); err != nil {
				t.Errorf("the restored ledger is refused: %v", err)
			}
		}
	}
}

// TestRemovedBytesAreSaid, with the path of the file that keeps them and their number.
func TestRemovedBytesAreSaid(t *testing.T) {
	out := t.TempDir()
	plan := planSpec(t, strings.Replace(liarSpec, "LIE", "none", 1))
	first, err := Run(t.Context(), plan, testOptions(out))
	if err != nil {
		t.Fatal(err)
	}
	path := first.Record.Dataset.Ledger
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := ledger.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	torn := `{"prev":"` + entries[0].Hash + `","time":"2026`
	if err := os.WriteFile(path, append(text, torn...), 0o644); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	opts := testOptions(out)
	opts.Fresh, opts.Log = true, slog.New(slog.NewTextHandler(&said, nil))
	if _, err := Run(t.Context(), plan, opts); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{fmt.Sprint("bytes=", len(torn)), "kept=" + path + ".remnant-1"} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("%s, must say %q", said.String(), want)
		}
	}
}
