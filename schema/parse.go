package schema

import (
	"bytes"
	"errors"
	"fmt"
	"io"
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
	for at := 0; at < len(data); {
		r, n := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && n == 1 {
			return at
		}
		at += n
	}
	return len(data)
}

// forbidden are the control characters that YAML 1.2 (5.1) does not print.
func forbidden(r rune) bool {
	return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0x7f || r >= 0x80 && r < 0xa0 && r != 0x85
}

// place is the position after the given text.
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
	return len(doc.Content) == 0 || doc.Content[0].Kind == yaml.ScalarNode && doc.Content[0].Tag == "!!null" && doc.Content[0].Value == ""
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
