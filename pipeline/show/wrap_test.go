package show

import (
	"strings"
	"testing"
	"unicode/utf8"

	"weir/pipeline"
)

// TestTextFitsATerminal: sentences of a plan are broken between words, and nothing of them
// is lost; what has no space to break at stays whole.
func TestTextFitsATerminal(t *testing.T) {
	long := strings.Repeat("one secret draw serves ë batch, ", 12) + "and no more"
	p := plan()
	p.Epsilon.Reason = long
	p.Findings = append(p.Findings, pipeline.Finding{Rule: "W36", Level: pipeline.LevelWarning, Stage: "train", Message: long, Fix: long})
	text := Text(p)
	for line := range strings.Lines(text) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > width {
			t.Errorf("a line has %d columns, must have at most %d: %s", n, width, line)
		}
	}
	if got := strings.Count(strings.Join(strings.Fields(text), " "), long); got != 3 {
		t.Errorf("the sentence stands %d times when lines are joined, must stand 3 times:\n%s", got, text)
	}
	if word := strings.Repeat("x", 300) + "\n"; Wrap("  "+word) != "  "+word {
		t.Error("a word without a space was broken")
	}
}
