package show

import "strings"

// Page cuts the lines of a Markdown page: prose beyond 120 bytes into lines of at most 116; rows of tables
// stay whole.
func Page(page []byte) []byte {
	lines := strings.Split(string(page), "\n")
	for i, line := range lines {
		if len(line) > 120 && !strings.HasPrefix(line, "|") {
			lines[i] = pageLine(line)
		}
	}
	return []byte(strings.Join(lines, "\n"))
}

// pageLine breaks a line at blanks; items of a list hang by two.
func pageLine(line string) string {
	indent := "\n"
	if strings.HasPrefix(line, "- ") {
		indent = "\n  "
	}
	var b strings.Builder
	room := 116
	for i, word := range strings.Split(line, " ") {
		switch room -= len(word) + 1; {
		case i > 0 && room < 0:
			b.WriteString(indent)
			room = 116 - len(word) - len(indent)
		case i > 0:
			b.WriteString(" ")
		}
		b.WriteString(word)
	}
	return b.String()
}
