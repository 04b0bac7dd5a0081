package main

import (
	"strings"
	"testing"

	"weir/runtime/audit"
)

// TestAuditEndsWithItsVerdict: a fault ends an audit with exit code 4, printed as text or JSON.
func TestAuditEndsWithItsVerdict(t *testing.T) {
	found := &audit.Report{Faults: []audit.Found{{Stage: "train", Text: "its output model differs"}}}
	for _, f := range []auditFlags{{}, {asJSON: true}} {
		if err := f.verdict(found); exitCode(t.Context(), err) != exitMismatch {
			t.Errorf("json %t: %v, must have exit code 4", f.asJSON, err)
		}
		if err := f.verdict(&audit.Report{}); err != nil {
			t.Errorf("json %t: %v of an audit that found nothing", f.asJSON, err)
		}
		var out strings.Builder
		if err := f.print(&out, "spec.yaml", found, "internal/audit.json", 0); err != nil ||
			!strings.Contains(out.String(), "its output model differs") {
			t.Errorf("json %t: %q (%v), must say what was found", f.asJSON, out.String(), err)
		}
	}
}

// TestRowNumbers: numbers from 1 are rows, anything else is the name of a file.
func TestRowNumbers(t *testing.T) {
	for text, want := range map[string][]int64{"1": {0}, "17, 203": {16, 202}, "0": nil, "rows.csv": nil, "3,": nil,
		"-1": nil} {
		got, numbers := rowNumbers(text)
		if len(got) != len(want) || numbers != (want != nil) || len(want) > 0 && got[0] != want[0] {
			t.Errorf("%q: %v (%t), must be %v", text, got, numbers, want)
		}
	}
}
