package duckdb

import (
	"slices"
	"testing"
)

// TestLabels: the labels of an ENUM as DuckDB writes its type, a quote in one doubled; nothing of another type or of
// what is none.
func TestLabels(t *testing.T) {
	for text, want := range map[string][]string{
		"ENUM('in', 'o''ut, (2)', '')": {"in", "o'ut, (2)", ""}, "ENUM('''', ''', ''')": {"'", "', '"}, "VARCHAR": nil,
		"ENUM('in": nil, "ENUM(in)": nil, "ENUM('in', x)": nil,
	} {
		if got := (Column{Type: text}).Labels(); !slices.Equal(got, want) {
			t.Errorf("%s has the labels %q, must be %q", text, got, want)
		}
	}
}
