package schema

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// MaxBytes is the size limit of a YAML file. The largest spec of a paper here is a few kilobytes, and a
// domain of 10,000 columns is below 1 MiB.
const MaxBytes = 1 << 20

// maxDepth is the deepest nesting of a YAML file; a spec needs about eight levels.
const maxDepth = 64

// Document is a parsed YAML file whose nodes keep their positions. It is not safe for concurrent Set.
type Document struct {
	file   string
	root   *yaml.Node
	keys   map[*yaml.Node]*yaml.Node // value -> its key in the mapping
	origin map[*yaml.Node]string     // value from --set -> the path that was set
	bad    map[*yaml.Node]bool       // refused by Parse: further problems there would repeat it

	checked *Checked // of values that were found right before; nil: none is known
}

// Parse reads one strict YAML document. Refused are: more than MaxBytes, text that is not UTF-8, several
// documents, an empty one, duplicate and complex keys, anchors, aliases, merge keys, tags, nesting
// beyond 64 levels, NaN, and numbers with leading zeros (octal to some readers, decimal to others).
// A UTF-8 byte order mark is skipped and CRLF line ends are fine. Keys are text as written, so 1 and
// "1" are the same key; dates are text. The document is nil when no tree can be built; otherwise it can
// be checked further beside the problems. Time and memory are linear in the size of data.
func Parse(file string, data []byte) (*Document, []Problem) {
	if p := unreadable(file, data); p != nil {
		return nil, []Problem{*p}
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	root, p := readOne(file, data)
	if p != nil {
		return nil, []Problem{*p}
	}
	d := newDocument(file, root)
	ps := d.strict(root, "", 1)
	return d, capped(tidy(ps))
}

func newDocument(file string, root *yaml.Node) *Document {
	return &Document{file: file, root: root, keys: map[*yaml.Node]*yaml.Node{},
		origin: map[*yaml.Node]string{}, bad: map[*yaml.Node]bool{}}
}

// unreadable looks at the bytes before any parsing.
func unreadable(file string, data []byte) *Problem {
	p := &Problem{File: file, Line: 1, Column: 1}
	switch {
	case len(data) > MaxBytes:
		p.Found, p.Accepted = tooLong(data), fmt.Sprintf("YAML of at most %d bytes (1 MiB)", MaxBytes)
	case bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")):
		p.Found, p.Accepted = "UTF-16 text", "UTF-8 text"
	case !utf8.Valid(data):
		p.Line, p.Column = place(data[:firstInvalid(data)])
		p.Found, p.Accepted = "a byte that is not UTF-8", "UTF-8 text"
	case bytes.ContainsFunc(data, forbidden):
		at := bytes.IndexFunc(data, forbidden)
		p.Line, p.Column = place(data[:at])
		p.Found, p.Accepted = "a control character", "printable text"
	default:
		return nil
	}
	return p
}

// tooLong never says how long: callers read no more than one byte beyond the bound.
func tooLong(data []byte) string {
	found := fmt.Sprintf("longer than %d bytes", MaxBytes)
	if table(data) {
		found += " and looks like a table"
	}
	return found
}

// table reports that data begin as files of tables do: by a mark, or with two lines of
// equally many values.
func table(data []byte) bool {
	for _, mark := range []string{"PAR1", "ARROW1", "\xff\xff\xff\xff", "\x1f\x8b"} {
		if bytes.HasPrefix(data, []byte(mark)) {
			return true
		}
	}
	first, rest, _ := bytes.Cut(data, []byte("\n"))
	second, _, _ := bytes.Cut(rest, []byte("\n"))
	for _, delimiter := range []string{",", ";", "\t", "|"} {
		n := bytes.Count(first, []byte(delimiter))
		if n > 0 && n == bytes.Count(second, []byte(delimiter)) {
			return true
		}
	}
	return false
}

func firstInvalid(data []byte) int {
	for pos := 0; pos < len(data); {
		r, n := utf8.DecodeRune(data[pos:])
		if r == utf8.RuneError && n == 1 {
			return pos
		}
		pos += n
	}
	return len(data)
}

// forbidden reports whether a character is one of the control characters that YAML 1.2 (5.1) does not print.
func forbidden(r rune) bool {
	return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0x7f || r >= 0x80 && r < 0xa0 && r != 0x85
}

// place returns the position after the given text.
func place(before []byte) (line, col int) {
	line = bytes.Count(before, []byte("\n")) + 1
	return line, utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
}

// readOne parses exactly one document and returns its top node.
func readOne(file string, data []byte) (*yaml.Node, *Problem) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	doc, err := next(dec)
	if errors.Is(err, io.EOF) || err == nil && emptyNode(doc) {
		return nil, &Problem{File: file, Line: 1, Column: 1, Found: "an empty document", Accepted: "a YAML mapping"}
	}
	if err != nil {
		return nil, syntaxProblem(file, data, err)
	}
	second, err := next(dec)
	switch {
	case errors.Is(err, io.EOF):
		return doc.Content[0], nil
	case err != nil:
		return nil, syntaxProblem(file, data, err)
	}
	return nil, &Problem{File: file, Line: second.Line, Column: second.Column,
		Found: "the start of a second document (---)", Accepted: "one document in a file"}
}

func emptyNode(doc *yaml.Node) bool {
	return len(doc.Content) == 0 || doc.Content[0].Kind == yaml.ScalarNode && doc.Content[0].Tag == "!!null" &&
		doc.Content[0].Value == ""
}

// next decodes a document. yaml.v3 has panicked on malformed input before (CVE-2022-28948), and bad input
// must never end the program, so a panic is an error here.
func next(dec *yaml.Decoder) (n *yaml.Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("yaml: %v", r)
		}
	}()
	n = &yaml.Node{}
	return n, dec.Decode(n)
}

// node finds the value at a path; nil when there is none. The error is about the path's form.
func (d *Document) node(path string) (*yaml.Node, error) {
	parts, err := splitPath(path)
	if err != nil {
		return nil, err
	}
	n, rest := d.descend(parts)
	if len(rest) > 0 {
		return nil, nil
	}
	return n, nil
}

// descend follows parts as far as they exist and returns the last value and the parts that are left.
func (d *Document) descend(parts []any) (*yaml.Node, []any) {
	n := d.root
	for i, part := range parts {
		c := child(n, part)
		if c == nil {
			return n, parts[i:]
		}
		n = c
	}
	return n, nil
}

func child(n *yaml.Node, part any) *yaml.Node {
	switch part := part.(type) {
	case int:
		if n.Kind == yaml.SequenceNode && part < len(n.Content) {
			return n.Content[part]
		}
	case string:
		if n.Kind != yaml.MappingNode {
			return nil
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == part {
				return n.Content[i+1]
			}
		}
	}
	return nil
}

// At gives the line and column of the value at a dotted path (of its key, for a block or an empty value).
// For a path that is not in the file it is the place of the nearest value above; 0, 0 for one from --set.
func (d *Document) At(path string) (line, col int) {
	p := d.Problem(path, "", "")
	return p.Line, p.Column
}

// Problem returns a fault of meaning at a path, such as a stage that does not exist. Found describes the value
// there, or is "missing".
func (d *Document) Problem(path, accepted, hint string) Problem {
	parts, err := splitPath(path)
	n, rest := d.descend(parts)
	p := d.problemAt(n, path)
	p.Found, p.Accepted, p.Hint = found(n), accepted, hint
	if len(rest) > 0 || err != nil {
		p.Found = "missing"
	}
	return p
}

// Has tells whether the file (or --set) gives a value at the path.
func (d *Document) Has(path string) bool {
	n, err := d.node(path)
	return err == nil && n != nil
}

// Keys lists the keys of the mapping at a path in file order; none when it is not a mapping.
func (d *Document) Keys(path string) []string {
	n, err := d.node(path)
	if err != nil || n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	keys := make([]string, 0, len(n.Content)/2)
	for i := 0; i < len(n.Content); i += 2 {
		keys = append(keys, n.Content[i].Value)
	}
	return keys
}

// Text gives the scalar at a path as it is written (without quotes); "" when there is none.
func (d *Document) Text(path string) string {
	n, err := d.node(path)
	if err != nil || n == nil || n.Kind != yaml.ScalarNode {
		return ""
	}
	return n.Value
}

// Replace puts a number in place of the scalar at a path, where it was written; nothing
// where there is no scalar.
func (d *Document) Replace(path string, x float64) {
	n, err := d.node(path)
	if err == nil && n != nil && n.Kind == yaml.ScalarNode {
		n.Tag, n.Style, n.Value = "!!float", 0, strconv.FormatFloat(x, 'g', -1, 64)
	}
}

// adopt copies a subtree of from with everything known about it.
func (d *Document) adopt(src *Document, n *yaml.Node) *yaml.Node {
	m := *n
	m.Content = make([]*yaml.Node, len(n.Content))
	for i, c := range n.Content {
		m.Content[i] = d.adopt(src, c)
	}
	if n.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(m.Content); i += 2 {
			d.keys[m.Content[i+1]] = m.Content[i]
		}
	}
	if o, ok := src.origin[n]; ok {
		d.origin[&m] = o
	}
	if src.bad[n] {
		d.bad[&m] = true
	}
	return &m
}

// problemAt starts a problem at a node.
func (d *Document) problemAt(n *yaml.Node, path string) Problem {
	if from, ok := d.origin[n]; ok {
		return Problem{File: setFile(from), Path: path}
	}
	p := Problem{File: d.file, Line: n.Line, Column: n.Column, Path: path}
	block := n.Kind != yaml.ScalarNode && n.Kind != yaml.AliasNode && n.Style&yaml.FlowStyle == 0
	if k := d.keys[n]; k != nil && (block || n.Kind == yaml.ScalarNode && n.Value == "" && n.Style == 0) {
		p.Line, p.Column = k.Line, k.Column
	}
	return p
}

func setFile(path string) string { return "--set " + path }

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
	{"did not find expected ',' or '}'", "a mapping whose { is not closed here", "{key: value} with a comma between pairs",
		1},
	{"did not find expected key", "a line that does not fit its neighbours",
		"indented like the other keys, with quotes and brackets closed", 1},
	{"did not find expected '-' indicator", "a line that does not fit the list above",
		"indented like the other items and begin with -", 1},
	{"found unexpected end of stream", "an unfinished text or bracket", "closed before the end of the file", 0},
	{"found character that cannot start any token", "a character that no value can begin with", "in quotes", 0},
	{"control characters are not allowed", "a control character", "printable text", 0},
	{"unknown anchor", "an alias", "written out (aliases are not read)", 0},
	{"found undefined tag handle", "a tag", "a value without a tag", 1},
	{"did not find expected node content", "a place where a value is missing", "a value", 1},
	{"exceeded max depth", "nested too deep", "nested at most 64 levels deep", 0},
	{"found unknown escape character", "an unknown escape in double quotes",
		"an escape such as \\n or \\\", or text in single quotes", 0},
	{"did not find URI escape", "a tag", "a value without a tag", 0},
}

// syntaxProblem places and rewords an error of yaml.v3 ("yaml: line 3: ...").
func syntaxProblem(file string, data []byte, err error) *Problem {
	if line, col := indentTab(data); line > 0 {
		return &Problem{File: file, Line: line, Column: col, Found: "indented with a tab", Accepted: "indented with spaces"}
	}
	m := yamlLine.FindStringSubmatch(strings.SplitN(err.Error(), "\n", 2)[0])
	p := &Problem{File: file, Line: 1, Column: 1, Found: "not YAML", Accepted: "one YAML document"}
	message := err.Error()
	if m != nil {
		message = m[2]
		if n, err := strconv.Atoi(m[1]); err == nil {
			p.Line = n
		}
	}
	for _, w := range syntaxWords {
		if strings.Contains(message, w.said) {
			p.Found, p.Accepted = w.found, w.accepted
			p.Line, p.Column = textStart(data, p.Line+w.late)
			placeAlias(p, data, message)
			return p
		}
	}
	p.Line, p.Column = textStart(data, p.Line)
	p.Hint = "the parser says: " + shorten(message)
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
