package schema

import (
	"strconv"

	"gopkg.in/yaml.v3"
)

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

// Problem is a fault of meaning at a path, such as a stage that does not exist. Found describes the value
// there, or is "missing".
func (d *Document) Problem(path, accepted, hint string) Problem {
	parts, err := splitPath(path)
	n, rest := d.descend(parts)
	p := d.at(n, path)
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
func (d *Document) adopt(from *Document, n *yaml.Node) *yaml.Node {
	m := *n
	m.Content = make([]*yaml.Node, len(n.Content))
	for i, c := range n.Content {
		m.Content[i] = d.adopt(from, c)
	}
	if n.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(m.Content); i += 2 {
			d.keys[m.Content[i+1]] = m.Content[i]
		}
	}
	if o, ok := from.origin[n]; ok {
		d.origin[&m] = o
	}
	if from.bad[n] {
		d.bad[&m] = true
	}
	return &m
}

// at starts a problem at a node.
func (d *Document) at(n *yaml.Node, path string) Problem {
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
