package main

import (
	"strings"
	"testing"
)

// TestSpreadsheetSafe: a category that a spreadsheet would compute stands in the CSV as
// it is, or with an apostrophe where the spec asks for it; the release says which.
func TestSpreadsheetSafe(t *testing.T) {
	t.Parallel()
	for safe, want := range map[bool]string{false: ",=HYPERLINK", true: ",'=HYPERLINK"} {
		s := newStudy(t, 400)
		s.write("data.csv", strings.ReplaceAll(strings.ReplaceAll(s.read("data.csv"), ",a,", ",=HYPERLINK(1),"), ",b,",
			",-3,"))
		s.edit("domain.yaml", "categories: [a, b, c]", `categories: ["=HYPERLINK(1)", "-3", c]`)
		s.edit("spec.yaml", "rows: 50", "rows: 300")
		if safe {
			s.edit("spec.yaml", "seed: 3\n", "seed: 3\nwrite: {spreadsheet_safe: true}\n")
		}
		r := s.result()
		rows := released(t, r, "sample.csv")
		if !strings.Contains(rows, want) || !strings.Contains(rows, ",-3,") {
			t.Errorf("spreadsheet_safe: %v: must hold %q and -3 as it is:\n%.200s", safe, want, rows)
		}
		if code, out, errs := s.weir("verify", r.Run); code != exitDone {
			t.Errorf("spreadsheet_safe: %v: weir verify: exit code %d: %s%s", safe, code, out, errs)
		}
		words := "stand in the CSV files as they are"
		if safe {
			words = "have an apostrophe in front"
		}
		for _, page := range []string{"PRIVACY.md", "DATASHEET.md"} {
			if text := released(t, r, page); !strings.Contains(text, "`sample.group`") || !strings.Contains(text, words) {
				t.Errorf("spreadsheet_safe: %v: %s must say that cells of sample.group %s", safe, page, words)
			}
		}
	}
	s := newStudy(t, 400)
	if text := released(t, s.result(), "PRIVACY.md"); strings.Contains(text, "spreadsheet") {
		t.Error("PRIVACY.md speaks of formulas where there are none")
	}
}
