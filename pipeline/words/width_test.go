package words

import (
	"strings"
	"testing"
	"unicode/utf8"

	"weir/pipeline"
	"weir/privacy"
)

// widest returns how many columns the longest line of a text has.
func widest(text string) (most int) {
	for line := range strings.Lines(text) {
		most = max(most, utf8.RuneCountInString(strings.TrimRight(line, "\n")))
	}
	return most
}

// TestTableFitsATerminal: cells of the widest column go on below themselves, no word is broken, and where there is no
// terminal a row is one line.
func TestTableFitsATerminal(t *testing.T) {
	rows := [][]string{{"  STAGE", "MECHANISM", "USES"}, {"  train", "noisy marginals of chosen pairs", "any"}}
	for columns, want := range map[int]string{
		0: "  STAGE  MECHANISM                        USES\n  train  noisy marginals of chosen pairs  any\n",
		34: "  STAGE  MECHANISM           USES\n  train  noisy marginals of  any\n" +
			"         chosen pairs\n",
		3: "  STAGE  MECHANISM     USES\n  train  noisy         any\n         marginals of\n         chosen pairs\n",
	} {
		if got := Table(rows, columns); got != want {
			t.Errorf("%d columns:\n%s\nmust be\n%s", columns, got, want)
		}
	}
}

// TestPlanFitsATerminal: every line that has blanks to be broken at is within the columns, and says what it says in a
// pipe.
func TestPlanFitsATerminal(t *testing.T) {
	p := examplePlan()
	p.Steps[1].Spends[0].Mechanism = strings.Repeat("noise of many words ", 8)
	p.Steps[1].Decided[0].Why = strings.Repeat("since this is so ", 10)
	p.Steps[1].Unproven = privacy.Unproven{Rule: "W13", Why: strings.Repeat("the encoder has no noise ", 8)}
	p.Findings[0].Message = strings.Repeat("a long note ", 20)
	p.Findings = append(p.Findings, pipeline.Finding{Rule: "W99", Level: pipeline.LevelNote, Message: "short"})
	words := func(text string) int { return len(strings.Fields(text)) }
	for _, columns := range []int{60, 80, 120} {
		text := PlanTo(p, columns)
		if n := widest(text); n > columns {
			t.Errorf("a line has %d columns, must have at most %d:\n%s", n, columns, text)
		}
		if got, want := words(text), words(Plan(p)); got != want {
			t.Errorf("%d columns: %d words, must be the %d of a pipe", columns, got, want)
		}
	}
	if n := widest(Plan(p)); n < 150 {
		t.Errorf("the table of a pipe is %d columns wide, must not be broken", n)
	}
}

// TestMarkdownFitsATerminal: paragraphs are filled anew, a list goes on below its text, and tables stay.
func TestMarkdownFitsATerminal(t *testing.T) {
	const text = "# Head of it\n\none two three\nfour five six\n\n- seven eight nine ten\n| a | b | c | d | e | f |\n"
	const want = "# Head of it\n\none two three\nfour five six\n\n- seven eight\n  nine ten\n| a | b | c | d | e | f |\n"
	if got := WrapMarkdown(text, 14); got != want {
		t.Errorf("%q, must be %q", got, want)
	}
	if got := WrapMarkdown("one two\nthree four\n", 80); got != "one two three four\n" {
		t.Errorf("%q, must be one line", got)
	}
}

// TestListing: a table where it has room, else a paragraph for each row, without lines of empty cells, in which a name
// is whole; where there is no terminal it is a table.
func TestListing(t *testing.T) {
	head := []string{"RUN", "WHY", "EVENT"}
	rows := [][]string{{"20261128-080201-42a7a4", "", "gaussian"}, {"b", "c d", "e"}}
	const table = "RUN                     WHY  EVENT\n20261128-080201-42a7a4       gaussian\nb                       " +
		"c d  e\n"
	const folded = "RUN: 20261128-080201-42a7a4\nEVENT: gaussian\n\nRUN: b\nWHY: c d\nEVENT: e\n"
	for columns, want := range map[int]string{0: table, 40: table, 30: folded} {
		if got := Listing(head, rows, columns); got != want {
			t.Errorf("for %d columns\n%s, must be\n%s", columns, got, want)
		}
	}
}

// TestHelpIsFilledAnew: paragraphs join their lines, items of lists too, and go on below their text.
func TestHelpIsFilledAnew(t *testing.T) {
	const text = "One two three four five six\nseven eight.\n\nEach is\n  A     one two three four five\n" +
		"        six\n  LONG  b\nWith --\n"
	const want = "One two three four five\nsix seven eight.\n\nEach is\n  A     one two three four\n        five six\n" +
		"  LONG  b\nWith --\n"
	if got := WrapHelp(text, 26); got != want {
		t.Errorf("%q, must be\n%q", got, want)
	}
}
