package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestInventoryOfAPage: what stands between the two lines of a page is written anew, the rest stays;
// a page without them is refused.
func TestInventoryOfAPage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.md")
	page := "before\n" + inventoryFrom + "xyzzy\n" + inventoryTo + "after\n"
	for _, text := range []string{page, "before\n", inventoryTo + inventoryFrom} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		err := writeInventory(path)
		got, _ := os.ReadFile(path)
		switch {
		case text != page && (err == nil || string(got) != text):
			t.Errorf("%q: %v, must be refused as it is", text, err)
		case text == page && (err != nil || !strings.HasPrefix(string(got), "before\n"+inventoryFrom) ||
			!strings.HasSuffix(string(got), inventoryTo+"after\n") ||
			strings.Contains(string(got), "xyzzy") || !strings.Contains(string(got), "table 7.1")):
			t.Errorf("%v: %.300s", err, got)
		}
	}
}

// TestPrintedSaysOnceWhatAllShare: the end that the names of a line share stands before them, each value behind its
// name.
func TestPrintedSaysOnceWhatAllShare(t *testing.T) {
	line := func(what string, printed float64) Line {
		return Line{Item: Item{What: what, Printed: printed}}
	}
	for want, lines := range map[string][]Line{
		"of race at .36: JSD 0.021; mu-KL 0.125": {line("JSD of race at .36", 0.021), line("mu-KL of race at .36", 0.125)},
		"a curve":                                {line("a curve", math.NaN())},
		"mean 2; spread 3":                       {line("mean", 2), line("spread", 3)},
	} {
		if got := printed(lines); got != want {
			t.Errorf("%q, must be %q", got, want)
		}
	}
}
