package schema

import (
	"encoding/json"
	"fmt"

	"gopkg.in/yaml.v3"
)

// Reference is a text of the document that names something: a column, a stage, a path.
type Reference struct{ Path, Name string }

// References finds the texts at and below a path whose schema has the given format ("column", "stage"),
// in file order. Document.Problem reports one that leads nowhere. Only what the file says is found;
// defaults are not.
func (d *Document) References(path, format string, s *Schema) []Reference {
	n, err := d.node(path)
	if err != nil || n == nil {
		return nil
	}
	var refs []Reference
	references(n, path, s.doc, func(n *yaml.Node, path string, o *object) {
		if o.text("format") == format && n.Tag == "!!str" {
			refs = append(refs, Reference{path, n.Value})
		}
	})
	return refs
}

// references visits every scalar with each schema that holds for it.
func references(n *yaml.Node, path string, o *object, visit func(*yaml.Node, string, *object)) {
	if n.Kind == yaml.ScalarNode {
		visit(n, path, o)
	}
	for i, c := range n.Content {
		switch {
		case n.Kind == yaml.SequenceNode && o.object("items") != nil:
			references(c, fullPath(path, i), o.object("items"), visit)
		case n.Kind == yaml.MappingNode && i%2 == 1:
			key := n.Content[i-1].Value
			if rule := o.object("properties").object(key); rule != nil {
				references(c, fullPath(path, key), rule, visit)
			} else if rest := o.object("additionalProperties"); rest != nil {
				references(c, fullPath(path, key), rest, visit)
			}
		}
	}
	for _, k := range []string{"anyOf", "oneOf", "allOf"} {
		for _, option := range list(o, k) {
			if then := option.object("then"); then != nil && holds(n, option.object("if")) {
				references(n, path, then, visit)
			} else if then == nil {
				references(n, path, option, visit)
			}
		}
	}
}

// fullPath is under without shortening, for paths that are looked up again.
func fullPath(path string, part any) string {
	if i, ok := part.(int); ok || path == "" {
		if ok {
			return path + Path(i)
		}
		return Path(part)
	}
	return path + "." + Path(part)
}

func list(o *object, key string) []*object {
	all, _ := o.get(key).([]any)
	var objects []*object
	for _, x := range all {
		if c, ok := x.(*object); ok {
			objects = append(objects, c)
		}
	}
	return objects
}

// holds tells whether the constants of a condition that Union wrote stand in a mapping.
func holds(n *yaml.Node, condition *object) bool {
	ps := condition.object("properties")
	if ps == nil || n.Kind != yaml.MappingNode {
		return false
	}
	for _, k := range ps.keys {
		c := child(n, k)
		if c == nil || any(c.Value) != ps.object(k).get("const") {
			return false
		}
	}
	return true
}

// Setting describes one setting for documentation.
type Setting struct {
	Path     string `json:"path"`
	Doc      string `json:"doc"`
	Accepted string `json:"accepted"`
	Default  string `json:"default,omitempty"` // as JSON
	Required bool   `json:"required"`
}

// Settings lists the settings of a struct's schema in declared order, those of nested structs by their
// path.
func (s *Schema) Settings() []Setting { return settings(s.doc, "") }

func settings(o *object, path string) []Setting {
	var all []Setting
	required := map[any]bool{}
	names, _ := o.get("required").([]any)
	for _, r := range names {
		required[r] = true
	}
	ps := o.object("properties")
	if ps == nil {
		return nil
	}
	for _, k := range ps.keys {
		p := ps.object(k)
		one := Setting{Path: fullPath(path, k), Doc: p.text("description"), Accepted: accepted(p), Required: required[k]}
		if v, ok := p.values["default"]; ok {
			one.Default = asJSON(v)
		}
		all = append(all, one)
		all = append(all, settings(p, one.Path)...)
	}
	return all
}

func asJSON(v any) string {
	j, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(j)
}
