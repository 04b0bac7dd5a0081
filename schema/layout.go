package schema

import (
	"bytes"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// Format lays a YAML file out anew: two blanks an indent, one around what separates, line feeds, at most one empty line
// between settings, and the settings of each mapping in the order of the schema. Mappings with keys of the user's own,
// lists, line breaks within brackets, the spelling of every value and every comment stay: a comment goes with the
// setting below it, or with what it stands behind. Formatting the result again changes nothing.
//
// Text that Parse refuses, and text that cannot be laid out without losing something, is refused and nothing is
// returned: the result is read again, and holds the same values and the same comments. Time is linear in the size of
// data.
func Format(file string, data []byte, s *Schema) ([]byte, []Problem) {
	before, ps := newLayout(file, data)
	if len(ps) > 0 {
		return nil, ps
	}
	text := (&printer{layout: before}).file(s.doc)
	after, ps := newLayout(file, text)
	if len(ps) > 0 || !sameTree(before.root, after.root, s.doc) ||
		!slices.Equal(before.commentTexts(), after.commentTexts()) {
		return nil, []Problem{before.unsafe(before.root.Line, "a layout that cannot be formatted without losing text")}
	}
	return text, nil
}

// layout is a YAML file with the place of everything in it. Lines count from 1 and columns from 1, in characters.
type layout struct {
	file     string
	root     *yaml.Node
	lines    [][]rune // line 1 is lines[1]
	masked   [][]rune // the lines with an x for each character of a scalar, and without comments
	inside   []bool   // lines that begin within a text or within brackets
	comments map[int]lineComment
	tokens   map[*yaml.Node]token // of scalars
	ends     map[*yaml.Node]int   // last line of scalars and of mappings and lists in brackets
	problem  *Problem             // first thing that cannot be laid out
}

// lineComment is the comment of a line; alone tells that nothing else is on the line.
type lineComment struct {
	text   string
	column int
	alone  bool
}

// token is a scalar as it is spelled, by line; the lines after the first are without their indent. Of block text the
// first line is its header, such as |-.
type token struct {
	lines []string
	block bool
}

func newLayout(file string, data []byte) (*layout, []Problem) {
	data = bytes.ReplaceAll(bytes.TrimPrefix(data, []byte("\ufeff")), []byte("\r\n"), []byte("\n"))
	doc, ps := Parse(file, data)
	if len(ps) > 0 {
		return nil, ps
	}
	l := &layout{file: file, root: doc.root, comments: map[int]lineComment{}, tokens: map[*yaml.Node]token{},
		ends: map[*yaml.Node]int{}}
	for _, line := range strings.Split("\n"+strings.TrimSuffix(string(data), "\n"), "\n") {
		l.lines, l.masked = append(l.lines, []rune(line)), append(l.masked, []rune(line))
	}
	l.inside = make([]bool, len(l.lines))
	if bytes.ContainsAny(data, "\r\u0085\u2028\u2029") {
		l.refuse(1, "a line that ends otherwise than by a line feed")
	}
	if l.root.Kind != yaml.MappingNode {
		l.refuse(l.root.Line, found(l.root)+", which is not a mapping of settings")
	}
	if l.problem == nil {
		l.scalars(l.root, 0)
	}
	if l.problem == nil {
		l.findComments()
		l.brackets(l.root)
	}
	if l.problem != nil {
		return nil, []Problem{*l.problem}
	}
	return l, nil
}

// refuse keeps the first thing that cannot be laid out.
func (l *layout) refuse(line int, what string) {
	if l.problem == nil {
		p := l.unsafe(line, what)
		l.problem = &p
	}
}

func (l *layout) unsafe(line int, what string) Problem {
	return Problem{File: l.file, Line: line, Column: 1, Found: what, Accepted: "laid out by hand"}
}

// scalars finds the spelling of every scalar and masks it. outer is the column of the mapping or list
// around n, 0 for the root.
func (l *layout) scalars(n *yaml.Node, outer int) {
	switch {
	case n.Kind != yaml.ScalarNode:
		for _, c := range n.Content {
			l.scalars(c, n.Column)
		}
	case n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0:
		l.quoted(n)
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		l.blockText(n, outer)
	default:
		l.unquoted(n)
	}
}

// quoted reads to the closing quote.
func (l *layout) quoted(n *yaml.Node) {
	quote, start := l.lines[n.Line][n.Column-1], n.Column-1
	for line := n.Line; line < len(l.lines); line++ {
		row := l.lines[line]
		for i := start; i < len(row); i++ {
			first := line == n.Line && i == n.Column-1
			escapes := row[i] == '\\' && quote == '"' || row[i] == quote && quote == '\'' && i+1 < len(row) && row[i+1] == quote
			switch {
			case first:
			case escapes && i+1 < len(row):
				i++
			case row[i] == quote:
				l.spell(n, line, i+1)
				return
			}
		}
		start = 0
	}
	l.refuse(n.Line, "a text whose quote is not closed")
}

// unquoted follows the words of a scalar without quotes, which may go on in further lines.
func (l *layout) unquoted(n *yaml.Node) {
	line, column := n.Line, n.Column-1
	if n.Value == "" { // nothing stands there, and its place is where the next token begins
		l.tokens[n], l.ends[n] = token{lines: []string{""}}, 0
		return
	}
	for _, word := range strings.Fields(n.Value) {
		for line < len(l.lines) && strings.TrimSpace(string(l.lines[line][min(column, len(l.lines[line])):])) == "" {
			line, column = line+1, 0
		}
		if line == len(l.lines) {
			l.refuse(n.Line, "a text that does not stand where it was read")
			return
		}
		row := l.lines[line]
		for column < len(row) && (row[column] == ' ' || row[column] == '\t') {
			column++
		}
		if !strings.HasPrefix(string(row[column:]), word) {
			l.refuse(n.Line, "a text that does not stand where it was read")
			return
		}
		column += len([]rune(word))
	}
	l.spell(n, line, column)
}

// spell keeps the text from the node to a place.
func (l *layout) spell(n *yaml.Node, line, end int) {
	var t token
	for number := n.Line; number <= line; number++ {
		row := l.lines[number]
		if number == line {
			row = row[:end]
		}
		begin := 0
		if number == n.Line {
			begin = min(n.Column-1, len(row))
		}
		row = row[begin:]
		for i := range row {
			l.masked[number][begin+i] = 'x'
		}
		t.lines = append(t.lines, strings.Trim(string(row), " \t"))
	}
	l.tokens[n] = t
	l.end(n, line)
}

func (l *layout) end(n *yaml.Node, line int) {
	l.ends[n] = line
	for at := n.Line + 1; at <= line; at++ {
		l.inside[at] = true
	}
}

// blockText reads the lines of | and >, which are indented more than what is around them.
func (l *layout) blockText(n *yaml.Node, outer int) {
	header, _, _ := strings.Cut(string(l.lines[n.Line][n.Column-1:]), " ")
	if strings.ContainsAny(header, "123456789") {
		l.refuse(n.Line, "a text with an indentation indicator ("+header+")")
		return
	}
	t, indent, last := token{lines: []string{header}, block: true}, 0, n.Line
	for line := n.Line + 1; line < len(l.lines); line++ {
		text := strings.TrimLeft(string(l.lines[line]), " ")
		column := len(l.lines[line]) - len([]rune(text))
		if text != "" && indent == 0 {
			indent = column
		}
		if text != "" && (column < indent || column < outer) {
			break
		}
		t.lines = append(t.lines, string(l.lines[line][min(indent, len(l.lines[line])):]))
		if text != "" || strings.HasSuffix(header, "+") {
			last = line
		}
	}
	t.lines = t.lines[:last-n.Line+1]
	for line := n.Line + 1; line <= last; line++ {
		l.masked[line] = []rune(strings.Repeat("x", len(l.lines[line])))
	}
	l.tokens[n] = t
	l.end(n, last)
}

// findComments finds the comments, which begin with the first # outside of all text, and refuses directives.
func (l *layout) findComments() {
	for line := 1; line < len(l.lines); line++ {
		row := l.masked[line]
		if len(row) > 0 && row[0] == '%' && !l.inside[line] {
			l.refuse(line, "a directive")
		}
		for i, r := range row {
			if r == '#' {
				l.comments[line] = lineComment{strings.TrimRight(string(l.lines[line][i:]), " \t"), i + 1,
					strings.TrimSpace(string(row[:i])) == ""}
				l.masked[line] = row[:i]
				break
			}
		}
	}
}

// brackets finds where mappings and lists in brackets end.
func (l *layout) brackets(n *yaml.Node) {
	for _, c := range n.Content {
		l.brackets(c)
	}
	if n.Kind == yaml.ScalarNode || n.Style&yaml.FlowStyle == 0 {
		return
	}
	if row := l.masked[n.Line]; n.Column > len(row) || row[n.Column-1] != '[' && row[n.Column-1] != '{' {
		l.end(n, l.ends[n.Content[len(n.Content)-1]]) // one pair in a list: [a: 1]
		return
	}
	depth, start := 0, n.Column-1
	for line := n.Line; line < len(l.masked); line++ {
		for _, r := range l.masked[line][min(start, len(l.masked[line])):] {
			switch r {
			case '[', '{':
				depth++
			case ']', '}':
				depth--
			}
			if depth == 0 {
				l.end(n, line)
				return
			}
		}
		start = 0
	}
	l.refuse(n.Line, "a bracket that is not closed")
}

// commentTexts lists the text of all comments, sorted.
func (l *layout) commentTexts() []string {
	var list []string
	for _, c := range l.comments {
		list = append(list, c.text)
	}
	slices.Sort(list)
	return list
}

// commented reports whether there is a comment within the brackets of n.
func (l *layout) commented(n *yaml.Node) bool {
	for line := n.Line; line < l.ends[n]; line++ {
		if _, ok := l.comments[line]; ok {
			return true
		}
	}
	return false
}

// settingsOf returns what a schema says of the mapping or list n, where it says one thing by a word in n, such as by
// the kind of a stage.
func settingsOf(o *object, n *yaml.Node) *object {
	for _, branch := range list(o, "allOf") {
		if meets(branch.object("if"), n) {
			return settingsOf(branch.object("then"), n)
		}
	}
	best, most := o, -1
	for _, option := range slices.Concat(list(o, "anyOf"), list(o, "oneOf")) {
		option = settingsOf(option, n)
		known := 0
		for i := 0; i+1 < len(n.Content) && n.Kind == yaml.MappingNode; i += 2 {
			if option.object("properties").get(n.Content[i].Value) != nil {
				known++
			}
		}
		if fits := option.get("items") != nil && n.Kind == yaml.SequenceNode; known > most && (known > 0 || fits) {
			best, most = option, known
		}
	}
	return best
}

// meets reports whether each constant of a condition is the value in n.
func meets(condition *object, n *yaml.Node) bool {
	ps := condition.object("properties")
	if ps == nil {
		return false
	}
	for _, k := range ps.keys {
		if c := child(n, k); c == nil || ps.object(k).get("const") != c.Value {
			return false
		}
	}
	return true
}

// schemaOf returns the schema of the value of a key; nil where the schema says nothing.
func schemaOf(o *object, key string) *object {
	if p := o.object("properties").object(key); p != nil {
		return p
	}
	return o.object("additionalProperties")
}

// sameTree reports whether two values are equal, where the settings of a mapping may come in any order.
func sameTree(a, b *yaml.Node, o *object) bool {
	if a.Kind != b.Kind || len(a.Content) != len(b.Content) || a.Tag != b.Tag || a.Value != b.Value {
		return false
	}
	o = settingsOf(o, a)
	switch a.Kind {
	case yaml.SequenceNode:
		for i := range a.Content {
			if !sameTree(a.Content[i], b.Content[i], o.object("items")) {
				return false
			}
		}
	case yaml.MappingNode:
		anyOrder := o.object("properties") != nil
		for i := 0; i+1 < len(a.Content); i += 2 {
			key := a.Content[i].Value
			other := child(b, key)
			if other == nil || !anyOrder && b.Content[i].Value != key || !sameTree(a.Content[i+1], other, schemaOf(o, key)) {
				return false
			}
		}
	}
	return true
}

// inOrder returns the positions of the keys of a mapping in the order of its schema; unknown ones stay behind.
func inOrder(n *yaml.Node, o *object) []int {
	var positions []int
	for i := 0; i+1 < len(n.Content); i += 2 {
		positions = append(positions, i)
	}
	ps := o.object("properties")
	if ps == nil {
		return positions
	}
	rank := func(i int) int {
		if at := slices.Index(ps.keys, n.Content[i].Value); at >= 0 {
			return at
		}
		return len(ps.keys)
	}
	slices.SortStableFunc(positions, func(a, b int) int { return rank(a) - rank(b) })
	return positions
}
