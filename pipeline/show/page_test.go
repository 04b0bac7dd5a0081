package show

import (
	"strings"
	"testing"
)

// Prose is cut at blanks, with nothing lost; tables stay as they are.
func TestPage(t *testing.T) {
	item, row := "- "+strings.Repeat("twelve bytes ", 30)+"end", "| "+strings.Repeat("cell ", 60)+"|"
	page := string(Page([]byte("short\n" + item + "\n" + row + "\n")))
	for _, line := range strings.Split(page, "\n") {
		if len(line) > 116 && line != row {
			t.Errorf("%d bytes in %q, must be at most 116", len(line), line)
		}
	}
	if strings.Join(strings.Fields(page), " ") != strings.Join(strings.Fields("short "+item+" "+row), " ") {
		t.Errorf("words changed: %q", page)
	}
	if !strings.Contains(page, row) || !strings.Contains(page, "\n  twelve") {
		t.Errorf("a table was cut or an item does not hang: %q", page)
	}
}
