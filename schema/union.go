package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"

	"gopkg.in/yaml.v3"
)

// Float is a number that may be infinite: inf in YAML (.inf too) and the text "inf" in JSON.
// Minus infinity and NaN are refused.
type Float float64

// UnmarshalYAML reads a number, inf or .inf.
func (f *Float) UnmarshalYAML(n *yaml.Node) error {
	if n.Value == "inf" || n.Value == "+inf" {
		*f = Float(math.Inf(1))
		return nil
	}
	var x float64
	if err := n.Decode(&x); err != nil || math.IsNaN(x) || math.IsInf(x, -1) || !isNumber(n) {
		return NodeProblem(n, "a number or inf")
	}
	*f = Float(x)
	return nil
}

// Infinite tells inf from a number.
func (f Float) Infinite() bool { return math.IsInf(float64(f), 1) }

// MarshalJSON writes a number, or "inf".
func (f Float) MarshalJSON() ([]byte, error) {
	v, err := plainFloat(float64(f))
	if err != nil {
		return nil, err
	}
	return json.Marshal(v)
}

// UnmarshalJSON reads a number or "inf".
func (f *Float) UnmarshalJSON(data []byte) error {
	if string(data) == `"inf"` {
		*f = Float(math.Inf(1))
		return nil
	}
	return json.Unmarshal(data, (*float64)(f))
}

// Text is a text kept as it is written when YAML would read a number or truth value: the category 1.0
// stays "1.0". Null is refused; a text that looks like null is quoted.
type Text string

// UnmarshalYAML keeps the spelling of any scalar but null.
func (t *Text) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		return NodeProblem(n, "text or a number")
	}
	*t = Text(n.Value)
	return nil
}

// JSONSchema accepts every scalar but null.
func (Text) JSONSchema() map[string]any {
	return map[string]any{"type": []string{"string", "number", "boolean"}}
}

// Raw is YAML that is decoded later, by its path (Document.Decode). Its schema accepts everything until
// Schema.With puts the right one there.
type Raw struct{ node *yaml.Node }

// UnmarshalYAML keeps the node.
func (r *Raw) UnmarshalYAML(n *yaml.Node) error {
	r.node = n
	return nil
}

// MarshalYAML gives the node back.
func (r Raw) MarshalYAML() (any, error) { return r.node, nil }

// JSONSchema accepts everything.
func (Raw) JSONSchema() map[string]any { return map[string]any{} }

// Entry is one pair of an Ordered mapping.
type Entry[T any] struct {
	Name  string
	Value T
}

// Ordered is a YAML mapping whose order counts, such as the stages of a spec.
type Ordered[T any] []Entry[T]

// orderedMapping marks Ordered for reflection.
type orderedMapping interface{ orderedMapping() }

func (Ordered[T]) orderedMapping() {}

// Merged renders the fields of several structs as one mapping, in order: for Canonical of a mapping
// that Decode spread over several structs.
type Merged []any

// NodeProblem returns what an UnmarshalYAML returns for a value that it refuses. Decode adds file and path.
func NodeProblem(n *yaml.Node, accepted string) Problem {
	return Problem{Line: n.Line, Column: n.Column, Found: found(n), Accepted: accepted}
}

var (
	floatType       = reflect.TypeFor[Float]()
	orderedType     = reflect.TypeFor[orderedMapping]()
	describedType   = reflect.TypeFor[interface{ JSONSchema() map[string]any }]()
	unmarshalerType = reflect.TypeFor[yaml.Unmarshaler]()
)

// plainFloat gives a finite float without negative zero, or "inf".
func plainFloat(f float64) (any, error) {
	switch {
	case math.IsInf(f, 1):
		return "inf", nil
	case math.IsInf(f, 0), math.IsNaN(f):
		return nil, fmt.Errorf("is %v, must be a number or inf", f)
	case f == 0:
		return 0.0, nil
	}
	return f, nil
}

func formatFloat(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// AnyOf accepts what one of the schemas accepts.
func AnyOf(schemas ...*Schema) *Schema {
	options := make([]any, len(schemas))
	for i, s := range schemas {
		options[i] = s.doc
	}
	return newSchema(newObject("anyOf", options))
}

// PathSchema accepts the path of a file.
func PathSchema() *Schema {
	return newSchema(newObject("type", "string", "minLength", 1, "format", "path"))
}

// Union returns the schema of a mapping whose settings depend on a word: a stage by its `kind`. Every kind also
// takes the settings of common. Each kind is one if/then, so editors complete its settings and a check
// names faults of the kind that was meant and no other. What a kind's schema says of itself (Described) is shown by
// editors at its word. It fails when a setting is declared twice.
func Union(discriminator string, kinds map[string]*Schema, common ...*Schema) (*Schema, error) {
	var words, docs, branches []any
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		doc := kinds[name].doc.text("description")
		mark := newSchema(newObject("type", "object", "properties", newObject(discriminator, newObject("title", name,
			"description", doc, "const", name)), "required", []any{discriminator}))
		whole, err := Merge(slices.Concat([]*Schema{mark}, common, []*Schema{kinds[name]})...)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", discriminator, name, err)
		}
		words, docs = append(words, name), append(docs, doc)
		branches = append(branches, newObject("if", newObject(
			"properties", newObject(discriminator, newObject("const", name)),
			"required", []any{discriminator}), "then", whole.doc))
	}
	return newSchema(newObject("type", "object",
		"properties", newObject(discriminator, newObject("enum", words, "enumDescriptions", docs)),
		"required", []any{discriminator}, "allOf", branches)), nil
}

// Described returns the schema with what it says of itself to people.
func (s *Schema) Described(doc string) *Schema {
	c := s.doc.copy()
	c.set("description", doc)
	return newSchema(c)
}

// Merge returns the schema of one mapping that takes the settings of all the given ones, in order. It fails
// when one of them is not a mapping of settings or a setting is declared twice.
func Merge(schemas ...*Schema) (*Schema, error) {
	properties, required := newObject(), []any{}
	for _, s := range schemas {
		ps := s.doc.object("properties")
		if ps == nil || s.doc.get("allOf") != nil {
			return nil, fmt.Errorf("schema: is of no mapping of settings, must be of a struct")
		}
		for _, k := range ps.keys {
			if properties.get(k) != nil {
				return nil, fmt.Errorf("schema: the setting %q is declared twice, must be declared once", k)
			}
			properties.set(k, ps.get(k))
		}
		r, _ := s.doc.get("required").([]any)
		required = append(required, r...)
	}
	doc := newObject("type", "object", "properties", properties, "additionalProperties", false)
	if len(required) > 0 {
		doc.set("required", required)
	}
	return newSchema(doc), nil
}

// With replaces the schema of the setting at a path and keeps its description: With("stages.*", union)
// for the values of a mapping, With("columns.[]", s) for the items of a list.
func (s *Schema) With(path []string, sub *Schema) (*Schema, error) {
	doc, err := withProperty(s.doc, path, sub.doc)
	if err != nil {
		return nil, err
	}
	return newSchema(doc), nil
}

func withProperty(o *object, path []string, sub *object) (*object, error) {
	if len(path) == 0 {
		c := sub.copy()
		if text := o.text("description"); text != "" {
			c.set("description", text)
		}
		return c, nil
	}
	holder, key := o, path[0]
	switch key {
	case "*":
		key = "additionalProperties"
	case "[]":
		key = "items"
	default:
		holder = o.object("properties")
	}
	if holder.object(key) == nil {
		return nil, fmt.Errorf("the schema has no %q, must be a setting, * for a mapping or [] for a list", path[0])
	}
	inner, err := withProperty(holder.object(key), path[1:], sub)
	if err != nil {
		return nil, err
	}
	changed := holder.copy()
	changed.set(key, inner)
	if holder == o {
		return changed, nil
	}
	c := o.copy()
	c.set("properties", changed)
	return c, nil
}
