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
			if _, err := Run(t.Context(), plan, opts); !errors.Is(err, ledger.ErrTampered) || !strings.Contains(err.Error(),
				"run.json") {
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

// TestRecordOfNoFolderTellsNothing: a record of a rehearsal that names its ledger relative to some folder is of no
// ledger that lies relative to this one: all rehearsals share one dataset id.
func TestRecordOfNoFolderTellsNothing(t *testing.T) {
	out := t.TempDir()
	t.Chdir(out)
	plan, opts := planSpec(t, strings.Replace(liarSpec, "LIE", "none", 1)), testOptions(out)
	opts.Fresh, opts.Ledger = true, "asked.jsonl"
	r, err := Run(t.Context(), plan, opts)
	if err != nil {
		t.Fatal(err)
	}
	path := r.Record.Dataset.Ledger
	if !filepath.IsAbs(path) {
		t.Errorf("the record names the ledger %s, must be a whole path", path)
	}
	list, _ := filepath.Glob(filepath.Join(out, "*", "*", "run.json"))
	if len(list) != 1 {
		t.Fatalf("records %q, must be one", list)
	}
	text, err := os.ReadFile(list[0])
	if err != nil {
		t.Fatal(err)
	}
	other := bytes.ReplaceAll(bytes.ReplaceAll(text, []byte(path), []byte(filepath.Base(path))),
		[]byte(`"ledger_count": `), []byte(`"ledger_count": 9`))
	if err := os.WriteFile(list[0], other, 0o644); err != nil || bytes.Equal(text, other) {
		t.Fatal("the record was not changed", err)
	}
	if _, err := Run(t.Context(), plan, opts); err != nil {
		t.Errorf("refused for a record of another folder: %v", err)
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
	var output bytes.Buffer
	opts := testOptions(out)
	opts.Fresh, opts.Log = true, slog.New(slog.NewTextHandler(&output, nil))
	if _, err := Run(t.Context(), plan, opts); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{fmt.Sprint("bytes=", len(torn)), "kept=" + path + ".remnant-1"} {
		if !strings.Contains(output.String(), want) {
			t.Errorf("%s, must say %q", output.String(), want)
		}
	}
}
