package schema

import (
	"encoding/json"

	"gopkg.in/yaml.v3"
)

// Copy puts the value at one path of the document at another, as Set does with a value of its own.
// Problems at the new place are reported where the value was written. A null takes the setting out.
func (d *Document) Copy(to, from string) error {
	source, err := d.node(from)
	if err != nil || source == nil {
		return Problem{File: d.file, Path: from, Found: "missing"}
	}
	wrong := d.at(source, to)
	parts, err := splitPath(to)
	if err != nil || len(parts) == 0 {
		wrong.Found, wrong.Accepted = quoteShort(to), "a path such as privacy.epsilon"
		return wrong
	}
	if source.Tag == "!!null" {
		d.Remove(to)
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

// Text is the value as it is written: a scalar without quotes, anything else as JSON.
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

// MarshalJSON is the value as JSON; null where there is none.
func (r Raw) MarshalJSON() ([]byte, error) {
	if r.node == nil {
		return []byte("null"), nil
	}
	v, err := plainNode(r.node)
	if err != nil {
		return nil, err
	}
	return json.Marshal(v)
}
