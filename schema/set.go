package schema

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

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

// setValue parses the value of --set alone.
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

// emptyText is what `--set path=` gives: an empty value, which is null to YAML.
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
	if at, ok := part.(int); ok {
		if at == len(n.Content) {
			n.Content = append(n.Content, nil)
		}
		n.Content[at] = value
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
