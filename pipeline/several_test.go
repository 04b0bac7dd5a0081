package pipeline

import (
	"strings"
	"testing"
)

func TestColumnsAre(t *testing.T) {
	for names, want := range map[string]string{
		"a":                   "column a is",
		"a b":                 "columns a, b are",
		"a b c d e f g h":     "columns a, b, c, d, e, f, g, h are",
		"a b c d e f g h i j": "columns a, b, c, d, e, f, g, h and 2 more are",
	} {
		if got := ColumnsAre(strings.Fields(names)); got != want {
			t.Errorf("%s: %q, must be %q", names, got, want)
		}
	}
}
