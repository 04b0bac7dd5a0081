package ledger

import (
	"bytes"
	"strings"
	"testing"
)

// TestLinesComeBack: lines that were taken out of a ledger are read as its charges, wherever they stood, and not when
// one was edited, is told twice or is of another dataset.
func TestLinesComeBack(t *testing.T) {
	entries, err := Parse(branch(t, nil, 1, "a", "b", "c"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := Lines([]Entry{entries[2], entries[0]})
	if err != nil {
		t.Fatal(err)
	}
	got, err := ParseLines(text)
	if err != nil || len(got) != 2 || got[0].ID != "c" || got[1].ID != "a" {
		t.Errorf("%v, %v", got, err)
	}
	foreign := entries[1]
	foreign.Dataset, foreign.Prev = "ds-other", genesis("ds-other")
	if foreign, err = foreign.seal(); err != nil {
		t.Fatal(err)
	}
	other, err := Lines([]Entry{foreign})
	if err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string][]byte{
		"an edit":         bytes.Replace(text, []byte(`"id":"c"`), []byte(`"id":"d"`), 1),
		"twice":           append(bytes.Clone(text), text...),
		"another dataset": append(bytes.Clone(text), other...),
		"cut short":       bytes.TrimSpace(text),
		"a blank line":    append(bytes.Clone(text), '\n'),
	} {
		if _, err := ParseLines(bad); err == nil || !strings.HasPrefix(err.Error(), "line ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if none, err := ParseLines(nil); err != nil || len(none) > 0 {
		t.Errorf("%v, %v", none, err)
	}
}
