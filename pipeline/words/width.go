package words

import (
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"
)

// prose is how many columns a line of prose has where no terminal says how wide it is. Tables are not broken then: what
// reads them goes by lines.
const prose = 100

// Wrap breaks the lines of s between words, where they are longer than 100 columns. What goes on in a further line
// stands two columns further in.
func Wrap(s string) string { return WrapTo(s, prose) }

// WrapTo does what Wrap does for a terminal with that many columns; 0 means none.
func WrapTo(s string, columns int) string {
	if columns == 0 {
		columns = prose
	}
	var b strings.Builder
	for line := range strings.Lines(s) {
		b.WriteString(wrapLine(line, columns))
	}
	return b.String()
}

// WrapMarkdown breaks paragraphs and lists of Markdown for a terminal with that many columns, and leaves tables
// as they are.
func WrapMarkdown(s string, columns int) string {
	var b, paragraph strings.Builder
	flush := func() {
		b.WriteString(breakLine(paragraph.String(), "", columns))
		paragraph.Reset()
	}
	for line := range strings.Lines(s) {
		if strings.TrimSpace(line) != "" && !strings.ContainsAny(line[:1], "|-# ") {
			joined := strings.TrimSuffix(paragraph.String(), "\n")
			paragraph.Reset()
			paragraph.WriteString(strings.TrimPrefix(joined+" "+line, " "))
			continue
		}
		flush()
		if !strings.HasPrefix(line, "|") {
			line = wrapLine(line, columns)
		}
		b.WriteString(line)
	}
	flush()
	return b.String()
}

// WrapHelp fills the paragraphs and lists of a help text for a terminal with that many columns. An item of a list is a
// line that is indented, with a word and two blanks in front of its text, and goes on below its text.
func WrapHelp(s string, columns int) string {
	var b strings.Builder
	text, hang := "", ""
	flush := func() {
		if text != "" {
			b.WriteString(breakLine(text+"\n", hang, columns))
		}
		text, hang = "", ""
	}
	for line := range strings.SplitSeq(strings.TrimRight(s, "\n"), "\n") {
		bare := strings.TrimLeft(line, " ")
		if indent := line[:len(line)-len(bare)]; bare != "" && text != "" && indent == hang {
			text += " " + bare
			continue
		}
		if flush(); bare == "" {
			b.WriteString("\n")
			continue
		}
		text, hang = line, hanging(line, bare)
	}
	flush()
	return b.String()
}

// hanging returns the blanks below which a line of a help text goes on.
func hanging(line, bare string) string {
	if line == bare {
		return ""
	}
	indent := len(line) - len(bare)
	if word, rest, found := strings.Cut(bare, "  "); found {
		return strings.Repeat(" ", indent+len(word)+gap+len(rest)-len(strings.TrimLeft(rest, " ")))
	}
	return strings.Repeat(" ", indent+gap)
}

func wrapLine(line string, columns int) string {
	return breakLine(line, line[:len(line)-len(strings.TrimLeft(line, " "))]+"  ", columns)
}

// breakLine breaks a line between words; what goes on in further lines stands behind the indent.
func breakLine(line, indent string, columns int) string {
	var b strings.Builder
	for runes := []rune(line); ; runes = []rune(line) {
		i := breakBefore(runes, len(indent), columns)
		if i < 0 {
			b.WriteString(line)
			return b.String()
		}
		b.WriteString(string(runes[:i]) + "\n")
		line = indent + string(runes[i+1:])
	}
}

// breakBefore returns the last space of a line at which it is within the columns, and past the indent; negative where
// there is none, or no need.
func breakBefore(line []rune, indent, columns int) int {
	if len([]rune(strings.TrimRight(string(line), "\n"))) <= columns {
		return -1
	}
	for i := columns; i > indent; i-- {
		if line[i] == ' ' {
			return i
		}
	}
	return -1
}

// gap is how many blanks stand between two columns of a table.
const gap = 2

// Table lays rows out in columns. For a terminal of the given number of columns (0: none) in which they have no room,
// cells of the widest columns go on in further lines, broken between words: no word is, since names and digests are
// copied whole.
func Table(rows [][]string, columns int) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, gap, ' ', 0)
	for _, row := range rows {
		for _, line := range foldRow(row, limits(rows, columns)) {
			w.Write([]byte(strings.Join(line, "\t") + "\n")) // into memory
		}
	}
	w.Flush()
	if columns == 0 {
		return b.String()
	}
	var trimmed strings.Builder
	for line := range strings.Lines(b.String()) {
		trimmed.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return trimmed.String()
}

// narrowest is the width below which no column is broken, since nobody would read it.
const narrowest = 12

// limits returns the width to which each column is broken, so that the table fits where it can; nil where it fits as
// it is.
func limits(rows [][]string, columns int) []int {
	widths, words := measure(rows)
	if columns == 0 || total(widths) <= columns {
		return nil
	}
	most := slices.Max(widths)
	for most > narrowest && total(within(widths, words, most)) > columns {
		most--
	}
	return within(widths, words, most)
}

// Readable reports whether Table has room for rows on a terminal of the given number of columns without breaking prose
// into columns of less than 24.
func Readable(rows [][]string, columns int) bool {
	widths, words := measure(rows)
	return columns == 0 || total(within(widths, words, 2*narrowest)) <= columns
}

// Listing lays rows out below a head. A terminal of so many columns (0: none) that has no room for the table gets a
// paragraph for each row, with a line for each cell that has something in it: names and digests are whole there.
func Listing(head []string, rows [][]string, columns int) string {
	if all := append([][]string{head}, rows...); Readable(all, columns) {
		return Table(all, columns)
	}
	return Paragraphs("", head, rows, columns)
}

// Paragraphs lays rows out as Listing does where a table has no room, each line behind an indent.
func Paragraphs(indent string, head []string, rows [][]string, columns int) string {
	var b strings.Builder
	for i, row := range rows {
		if i > 0 {
			b.WriteString("\n")
		}
		for k, cell := range row {
			if cell != "" {
				b.WriteString(WrapTo(indent+head[k]+": "+cell+"\n", columns))
			}
		}
	}
	return b.String()
}

// measure returns how wide each column is, and its longest word.
func measure(rows [][]string) (widths, words []int) {
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths, words = append(widths, 0), append(words, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
			for _, word := range wordsOf(cell) {
				words[i] = max(words[i], utf8.RuneCountInString(word))
			}
		}
	}
	return widths, words
}

// wordsOf cuts a cell between words; blanks in front are part of the first.
func wordsOf(cell string) []string {
	bare := strings.TrimLeft(cell, " ")
	list := strings.Fields(bare)
	if len(list) > 0 {
		list[0] = cell[:len(cell)-len(bare)] + list[0]
	}
	return list
}

// within bounds columns by a width, but not below their longest words.
func within(widths, words []int, most int) []int {
	list := make([]int, len(widths))
	for i := range list {
		list[i] = min(widths[i], max(words[i], most))
	}
	return list
}

func total(widths []int) int {
	sum := max(0, len(widths)-1) * gap
	for _, w := range widths {
		sum += w
	}
	return sum
}

// foldRow returns the lines of a row whose cells are not wider than their columns may be; nil bounds none.
func foldRow(row []string, most []int) (lines [][]string) {
	if most == nil {
		return [][]string{row}
	}
	for i, cell := range row {
		for k, part := range foldCell(cell, most[i]) {
			if k == len(lines) {
				lines = append(lines, make([]string, len(row)))
			}
			lines[k][i] = part
		}
	}
	return lines
}

// foldCell breaks a cell between words; further lines stand as far in as the first.
func foldCell(cell string, most int) []string {
	if utf8.RuneCountInString(cell) <= most {
		return []string{cell}
	}
	list := wordsOf(cell)
	indent := list[0][:len(list[0])-len(strings.TrimLeft(list[0], " "))]
	lines := list[:1:1]
	for _, word := range list[1:] {
		last := len(lines) - 1
		if joined := lines[last] + " " + word; utf8.RuneCountInString(joined) <= most {
			lines[last] = joined
			continue
		}
		lines = append(lines, indent+word)
	}
	return lines
}
