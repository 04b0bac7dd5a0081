package schema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// Path joins keys and list positions to a dotted path: stages.encode.min_max[1]. A key that a dot, bracket,
// quote or space would make ambiguous stands in double quotes: columns."capital.gain".bounds.
func Path(parts ...any) string {
	var b strings.Builder
	for _, p := range parts {
		switch p := p.(type) {
		case int:
			fmt.Fprintf(&b, "[%d]", p)
		case string:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(quoteKey(p))
		default:
			panic(fmt.Sprintf("schema: a path is made of string and int, not %T", p))
		}
	}
	return b.String()
}

func quoteKey(k string) string {
	odd := func(r rune) bool {
		return strings.ContainsRune(".[]\"\\'", r) || unicode.IsSpace(r) || !unicode.IsPrint(r)
	}
	if k == "" || strings.ContainsFunc(k, odd) {
		return strconv.Quote(k)
	}
	return k
}

// joinPath adds one part to a path that is shown; a key of any length is shortened.
func joinPath(path string, part any) string {
	if key, ok := part.(string); ok {
		part = cut(key)
	}
	tail := Path(part)
	if path == "" || strings.HasPrefix(tail, "[") {
		return path + tail
	}
	return path + "." + tail
}

// Within tells whether a path is an outer one or lies below it.
func Within(path, outer string) bool {
	rest, ok := strings.CutPrefix(path, outer)
	return ok && (outer == "" || rest == "" || rest[0] == '.' || rest[0] == '[')
}

// Respelled returns a dotted path as Path spells it, since keys may be quoted without need.
func Respelled(path string) (string, error) {
	parts, err := splitPath(path)
	return Path(parts...), err
}

// splitPath undoes Path.
func splitPath(path string) ([]any, error) {
	var parts []any
	for rest := path; rest != ""; {
		if len(parts) > 0 && rest[0] == '.' {
			rest = rest[1:]
		}
		part, n, err := firstPart(rest)
		if err != nil {
			return nil, fmt.Errorf("path %q: %w", shorten(path), err)
		}
		parts = append(parts, part)
		rest = rest[n:]
		if rest != "" && rest[0] != '.' && rest[0] != '[' {
			return nil, fmt.Errorf("path %q: is %q after a part, must be a dot or [", shorten(path), shorten(rest))
		}
	}
	return parts, nil
}

// firstPart reads a key, a quoted key or [index] and says how many bytes it took.
func firstPart(s string) (part any, n int, err error) {
	switch {
	case strings.HasPrefix(s, `"`):
		q, err := strconv.QuotedPrefix(s)
		if err != nil {
			return nil, 0, fmt.Errorf("has a quote that is not closed, must end with \"")
		}
		key, err := strconv.Unquote(q)
		return key, len(q), err
	case strings.HasPrefix(s, "["):
		end := strings.IndexByte(s, ']')
		if end < 0 {
			return nil, 0, fmt.Errorf("has a bracket that is not closed, must end with ]")
		}
		i, err := strconv.Atoi(s[1:end])
		if err != nil || i < 0 {
			return nil, 0, fmt.Errorf("is %q in brackets, must be a whole number from 0", shorten(s[1:end]))
		}
		return i, end + 1, nil
	}
	n = strings.IndexAny(s, ".[")
	if n < 0 {
		n = len(s)
	}
	if n == 0 {
		return nil, 0, fmt.Errorf("has an empty part, must have a name between two dots")
	}
	return s[:n], n, nil
}

// maxQuoted is the most characters of a file that a problem quotes.
const maxQuoted = 60

// shorten cuts a text to maxQuoted characters and blanks what a terminal would not print.
func shorten(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, cut(s))
}

func cut(s string) string {
	if len(s) <= maxQuoted || utf8.RuneCountInString(s) <= maxQuoted {
		return s
	}
	return string([]rune(s[:min(len(s), utf8.UTFMax*maxQuoted)])[:maxQuoted-1]) + "…"
}

// Set puts a value at a dotted path, as `--set path=value` does. The value is a YAML scalar or a flow
// list or mapping ([1, 2], {a: b}), as strict as a file; mappings on the way are made, a list takes an
// existing position or the next one. Problems at the value are reported as `--set path`.
func (d *Document) Set(path, value string) error {
	parts, err := splitPath(path)
	if err == nil && len(parts) == 0 {
		err = fmt.Errorf("is empty, must be a path such as privacy.epsilon")
	}
	if err != nil {
		return Problem{File: setFile(path), Hint: err.Error()}
	}
	v, err := setValue(path, value)
	if err != nil {
		return err
	}
	if p := d.put(parts, d.adopt(v, v.root), func(n *yaml.Node) { d.origin[n] = path }); p != nil {
		p.File, p.Path = setFile(path), path
		return *p
	}
	return nil
}

// setValue parses the value of one --set as a document of its own.
func setValue(path, value string) (*Document, error) {
	bad := Problem{File: setFile(path), Path: path, Found: quoteShort(value), Accepted: "a value, [a, b] or {a: b}"}
	if strings.TrimSpace(value) == "" {
		return emptyText(path), nil
	}
	v, ps := Parse(setFile(path), []byte(value))
	if len(ps) > 0 {
		ps[0].Line, ps[0].Column, ps[0].Path = 0, 0, path
		return nil, ps[0]
	}
	n := v.root
	if n.HeadComment+n.LineComment+n.FootComment != "" {
		bad.Hint = "quote a text that holds #"
		return nil, bad
	}
	if n.Kind != yaml.ScalarNode && n.Style&yaml.FlowStyle == 0 {
		bad.Hint = "quote a text that holds a colon or begins with a dash"
		return nil, bad
	}
	v.mark(n, path)
	return v, nil
}

// emptyText returns what `--set path=` gives: an empty value, which is null to YAML.
func emptyText(path string) *Document {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null"}
	v := newDocument(setFile(path), n)
	v.mark(n, path)
	return v
}

func (d *Document) mark(n *yaml.Node, path string) {
	d.origin[n] = path
	for _, c := range n.Content {
		d.mark(c, path)
	}
}

// put places a value, making mappings on the way; mark says of each node that it makes where it
// comes from. The problem says what was found and what is accepted.
func (d *Document) put(parts []any, value *yaml.Node, mark func(*yaml.Node)) *Problem {
	n, rest := d.descend(parts[:len(parts)-1])
	if p := fits(n, append(slices.Clone(rest), parts[len(parts)-1])); p != nil {
		return p
	}
	for _, part := range rest {
		m := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		mark(m)
		d.attach(n, part, m, mark)
		n = m
	}
	d.attach(n, parts[len(parts)-1], value, mark)
	return nil
}

// fits refuses to turn a scalar into a mapping or to skip positions of a list; nothing is changed yet.
func fits(n *yaml.Node, rest []any) *Problem {
	p := &Problem{}
	if at, ok := rest[0].(int); ok && (n.Kind != yaml.SequenceNode || at > len(n.Content)) {
		p.Found, p.Accepted = fmt.Sprintf("position %d of %s", at, found(n)), "a position in a list, or the next one"
		return p
	}
	if _, ok := rest[0].(string); ok && n.Kind != yaml.MappingNode {
		p.Found, p.Accepted = "inside "+found(n), "a key inside a mapping"
		return p
	}
	for _, part := range rest[1:] {
		if _, ok := part.(int); ok {
			p.Found, p.Accepted = "a position in a list that does not exist", "a list given whole, such as [a, b]"
			return p
		}
	}
	return nil
}

// attach replaces or adds one child of a mapping or list.
func (d *Document) attach(n *yaml.Node, part any, value *yaml.Node, mark func(*yaml.Node)) {
	if pos, ok := part.(int); ok {
		if pos == len(n.Content) {
			n.Content = append(n.Content, nil)
		}
		n.Content[pos] = value
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == part {
			n.Content[i+1], d.keys[value] = value, n.Content[i]
			return
		}
	}
	k := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: part.(string)}
	mark(k)
	d.keys[value] = k
	n.Content = append(n.Content, k, value)
}

// Remove takes the key at a dotted path out of its mapping, so that the setting
// has its default again. A path without a value, or into a list, changes nothing.
func (d *Document) Remove(path string) {
	parts, err := splitPath(path)
	if err != nil || len(parts) == 0 {
		return
	}
	parent := d.root
	for _, part := range parts[:len(parts)-1] {
		if parent = child(parent, part); parent == nil {
			return
		}
	}
	key, ok := parts[len(parts)-1].(string)
	if !ok || parent.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i+1 < len(parent.Content); i += 2 {
		if parent.Content[i].Value == key {
			parent.Content = append(parent.Content[:i:i], parent.Content[i+2:]...)
			return
		}
	}
}

// Copy puts the value at one path of the document at another, as Set does with a value of its own.
// Problems at the new place are reported where the value was written. A null takes the setting out.
func (d *Document) Copy(newName, oldName string) error {
	source, err := d.node(oldName)
	if err != nil || source == nil {
		return Problem{File: d.file, Path: oldName, Found: "missing"}
	}
	wrong := d.problemAt(source, newName)
	parts, err := splitPath(newName)
	if err != nil || len(parts) == 0 {
		wrong.Found, wrong.Accepted = quoteShort(newName), "a path such as privacy.epsilon"
		return wrong
	}
	if source.Tag == "!!null" {
		d.Remove(newName)
		return nil
	}
	value := d.adopt(d, source)
	if p := d.put(parts, value, func(n *yaml.Node) { n.Line, n.Column = wrong.Line, wrong.Column }); p != nil {
		wrong.Found, wrong.Accepted = p.Found, p.Accepted
		return wrong
	}
	d.keys[value] = &yaml.Node{Kind: yaml.ScalarNode, Line: wrong.Line, Column: wrong.Column}
	return nil
}

// Text returns the value as it is written: a scalar without quotes, anything else as JSON.
func (r Raw) Text() string {
	if r.node != nil && r.node.Kind == yaml.ScalarNode {
		return r.node.Value
	}
	text, err := r.MarshalJSON()
	if err != nil {
		return ""
	}
	return string(text)
}

// Null tells null, which takes a setting out (see Document.Copy).
func (r Raw) Null() bool { return r.node == nil || r.node.ShortTag() == "!!null" }

// MarshalJSON returns the value as JSON; null where there is none.
func (r Raw) MarshalJSON() ([]byte, error) {
	if r.node == nil {
		return []byte("null"), nil
	}
	v, err := newPlain().node(r.node)
	if err != nil {
		return nil, err
	}
	return json.Marshal(v)
}
