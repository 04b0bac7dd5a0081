package show

import "strings"

// width is how many columns a line of prose has in a terminal. Tables and events are not
// broken: what reads them goes by lines.
const width = 100

// Wrap breaks the lines of s between words, where they are longer than the width.
// What goes on in a further line stands two columns further in.
func Wrap(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		b.WriteString(wrapLine(line))
	}
	return b.String()
}

func wrapLine(line string) string {
	indent := line[:len(line)-len(strings.TrimLeft(line, " "))] + "  "
	var b strings.Builder
	for runes := []rune(line); ; runes = []rune(line) {
		at := breakBefore(runes, len(indent))
		if at < 0 {
			b.WriteString(line)
			return b.String()
		}
		b.WriteString(string(runes[:at]) + "\n")
		line = indent + string(runes[at+1:])
	}
}

// breakBefore is the last space of a line at which it is within the width, and past the
// indent; negative where there is none, or no need.
func breakBefore(line []rune, indent int) int {
	if len([]rune(strings.TrimRight(string(line), "\n"))) <= width {
		return -1
	}
	for at := width; at > indent; at-- {
		if line[at] == ' ' {
			return at
		}
	}
	return -1
}
