package table

import (
	"fmt"
	"strings"
	"testing"

	"weir/pipeline"
)

// TestBlankLinesAtTheTopCostNothing: 64 MB of blank lines, then a table, and 64 MB
// of nothing else, are read; they took a time of their square, which ends no test.
func TestBlankLinesAtTheTopCostNothing(t *testing.T) {
	body := []byte(strings.Repeat("\n", 1<<20))
	_, err := openWith(repeated{nil, body, 64}, "f.csv", nil, small(), options{})
	if err == nil || !strings.Contains(err.Error(), ruleNoHeader) {
		t.Errorf("%v, must say that it %s", err, ruleNoHeader)
	}
	for name, head := range map[string]string{"blank": "\n", "spaced": "  \r\n", "comment": "# it's \"777\n"} {
		text := strings.Repeat(head, 400_000)
		table, err := openWith(repeated{[]byte(text), []byte("n,x,c\n1,2,red\n"), 1}, "f.csv", &pipeline.CSV{Comment: "#", Trim: true}, small(), options{})
		if err != nil {
			t.Fatal(name, err)
		}
		if rows := drain(t, table); rows != 1 {
			t.Errorf("%s: %d rows, must be 1", name, rows)
		}
	}
}

// TestLinesAreCountedBehindBlankOnes: a problem is told where it stands.
func TestLinesAreCountedBehindBlankOnes(t *testing.T) {
	long := "#" + strings.Repeat("x", 1<<20) + "\n" // longer than what is looked at together
	for name, head := range map[string]string{"blank": strings.Repeat("\n", 9), "long comment": strings.Repeat(long, 9), "none": ""} {
		lines := strings.Count(head, "\n")
		_, err := readText(head+"n,x,c\n1,2,red\nsecret,2,red\n", &pipeline.CSV{Comment: "#"}, small())
		if want := fmt.Sprintf("line %d: column \"n\"", lines+3); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, must say %s", name, err, want)
		}
	}
}
