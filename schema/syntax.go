package schema

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
)

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)$`)

// syntaxWords rewords what the parser says; the first matching row holds.
// late is 1 for errors of yaml.v3's parser, which counts lines from 0 where its scanner counts from 1.
var syntaxWords = []struct {
	said, found, accepted string
	late                  int
}{
	{"mapping values are not allowed", "a colon where no key can stand", "one `key: value` a line, or text in quotes", 0},
	{"could not find expected ':'", "a line without a colon", "`key: value`", 0},
	{"did not find expected ',' or ']'", "a list whose [ is not closed here", "[a, b] with a comma between items", 1},
	{"did not find expected ',' or '}'", "a mapping whose { is not closed here", "{key: value} with a comma between pairs", 1},
	{"did not find expected key", "a line that does not fit its neighbours", "indented like the other keys, with quotes and brackets closed", 1},
	{"did not find expected '-' indicator", "a line that does not fit the list above", "indented like the other items and begin with -", 1},
	{"found unexpected end of stream", "an unfinished text or bracket", "closed before the end of the file", 0},
	{"found character that cannot start any token", "a character that no value can begin with", "in quotes", 0},
	{"control characters are not allowed", "a control character", "printable text", 0},
	{"unknown anchor", "an alias", "written out (aliases are not read)", 0},
	{"found undefined tag handle", "a tag", "a value without a tag", 1},
	{"did not find expected node content", "a place where a value is missing", "a value", 1},
	{"exceeded max depth", "nested too deep", "nested at most 64 levels deep", 0},
	{"found unknown escape character", "an unknown escape in double quotes", "an escape such as \\n or \\\", or text in single quotes", 0},
	{"did not find URI escape", "a tag", "a value without a tag", 0},
}

// syntaxProblem places and rewords an error of yaml.v3 ("yaml: line 3: ...").
func syntaxProblem(file string, data []byte, err error) *Problem {
	if line, col := indentTab(data); line > 0 {
		return &Problem{File: file, Line: line, Column: col, Found: "indented with a tab", Accepted: "indented with spaces"}
	}
	m := yamlLine.FindStringSubmatch(strings.SplitN(err.Error(), "\n", 2)[0])
	p := &Problem{File: file, Line: 1, Column: 1, Found: "not YAML", Accepted: "one YAML document"}
	said := err.Error()
	if m != nil {
		said = m[2]
		if n, err := strconv.Atoi(m[1]); err == nil {
			p.Line = n
		}
	}
	for _, w := range syntaxWords {
		if strings.Contains(said, w.said) {
			p.Found, p.Accepted = w.found, w.accepted
			p.Line, p.Column = textStart(data, p.Line+w.late)
			placeAlias(p, data, said)
			return p
		}
	}
	p.Line, p.Column = textStart(data, p.Line)
	p.Hint = "the parser says: " + shorten(said)
	return p
}

var unknownAlias = regexp.MustCompile(`unknown anchor '([^']*)'`)

// placeAlias finds an alias without anchor, whose line the parser does not tell.
func placeAlias(p *Problem, data []byte, said string) {
	m := unknownAlias.FindStringSubmatch(said)
	if m == nil {
		return
	}
	if before, _, ok := bytes.Cut(data, []byte("*"+m[1])); ok {
		p.Line, p.Column = place(before)
	}
}

// indentTab finds the first line whose indentation holds a tab.
func indentTab(data []byte) (line, col int) {
	for i, l := range bytes.Split(data, []byte("\n")) {
		indent := l[:len(l)-len(bytes.TrimLeft(l, " \t"))]
		if t := bytes.IndexByte(indent, '\t'); t >= 0 && len(bytes.TrimSpace(l)) > 0 {
			return i + 1, t + 1
		}
	}
	return 0, 0
}

// textStart gives the line (or the last one, when the file is shorter) and the column of its first text.
func textStart(data []byte, line int) (int, int) {
	lines := bytes.Split(bytes.TrimRight(data, "\r\n"), []byte("\n"))
	line = max(1, min(line, len(lines)))
	l := lines[line-1]
	return line, len(l) - len(bytes.TrimLeft(l, " \t")) + 1
}
