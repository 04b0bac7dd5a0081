package schema

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
	"gopkg.in/yaml.v3"
)

// check holds the value n, which stands at path, to a schema and returns every problem, causes only,
// sorted by position (at most 200 and one that counts the rest).
func (d *Document) check(n *yaml.Node, path string, s *Schema) []Problem {
	c, err := compiled(needed(s.doc, n))
	if err != nil {
		return []Problem{{File: d.file, Path: path, Hint: "the schema is wrong: " + err.Error()}}
	}
	err = c.Validate(instance(n))
	var failed *jsonschema.ValidationError
	if err == nil {
		return nil
	}
	if !errors.As(err, &failed) {
		return []Problem{{File: d.file, Path: path, Hint: "the check ended early: " + err.Error()}}
	}
	e := &explainer{d: d, top: n, path: path, doc: s.doc, keys: map[*yaml.Node]map[string]*yaml.Node{}}
	for _, f := range causes(failed) {
		e.tell(f)
	}
	return e.finish()
}

// needed returns what of a schema can say anything of a value: of the settings of a mapping those that it
// has. A kind has some thirty, of which a spec names five, and to compile the others took most of a check.
func needed(o *object, n *yaml.Node) *object {
	all := o.object("properties")
	if all == nil || n.Kind != yaml.MappingNode {
		return o
	}
	has := newObject()
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i].Value
		if p := all.object(k); p != nil {
			has.set(k, needed(p, n.Content[i+1]))
		} else if all.get(k) != nil {
			has.set(k, all.get(k))
		}
	}
	c := o.copy()
	c.set("properties", has)
	return c
}

// instance turns YAML into the values that the library checks: numbers by value, so that 0x10 is 16.
func instance(n *yaml.Node) any {
	switch n.Kind {
	case yaml.MappingNode:
		m := make(map[string]any, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			m[n.Content[i].Value] = instance(n.Content[i+1])
		}
		return m
	case yaml.SequenceNode:
		l := make([]any, len(n.Content))
		for i, c := range n.Content {
			l[i] = instance(c)
		}
		return l
	case yaml.ScalarNode:
		return scalar(n)
	}
	return nil
}

func scalar(n *yaml.Node) any {
	var v any
	if n.Tag == "!!str" {
		return n.Value
	}
	if err := n.Decode(&v); err != nil {
		return n.Value
	}
	switch v := v.(type) {
	case int:
		return json.Number(strconv.Itoa(v))
	case int64:
		return json.Number(strconv.FormatInt(v, 10))
	case uint64:
		return json.Number(strconv.FormatUint(v, 10))
	case float64:
		return number(v)
	case bool, nil:
		return v
	}
	return n.Value
}

func number(f float64) json.Number {
	switch {
	case f != f:
		return "0" // Parse has refused NaN; its place is marked bad
	case f-f != 0 && f > 0:
		return infinite
	case f-f != 0:
		return "-" + infinite
	}
	return json.Number(formatFloat(f))
}

// causes flattens the tree of the library to what is at fault. An anyOf whose options all failed is one
// cause, unless one option plainly is the one that was meant.
func causes(e *jsonschema.ValidationError) []*jsonschema.ValidationError {
	if len(e.Causes) == 0 {
		return []*jsonschema.ValidationError{e}
	}
	if k := keyword(e); k == "anyOf" || k == "oneOf" {
		return meant(e)
	}
	var all []*jsonschema.ValidationError
	for _, c := range e.Causes {
		all = append(all, causes(c)...)
	}
	return all
}

// meant picks the option of an anyOf that fits the value's shape and fails deeper, with the fewest causes,
// where a wrong constant (another option's mark) counts most. Without one the anyOf itself is the cause.
func meant(e *jsonschema.ValidationError) []*jsonschema.ValidationError {
	var best []*jsonschema.ValidationError
	least := 1 << 30
	for _, option := range e.Causes {
		leaves := causes(option)
		score, deeper := 0, false
		for _, l := range leaves {
			k, here := keyword(l), l.InstanceLocation == e.InstanceLocation
			score++
			if !here || k == "additionalProperties" || k == "required" {
				deeper = true
			}
			if k == "const" {
				score += 1 << 10
			}
		}
		if deeper && score < least {
			best, least = leaves, score
		}
	}
	if best == nil {
		return []*jsonschema.ValidationError{e}
	}
	return best
}

func keyword(e *jsonschema.ValidationError) string {
	parts := schemaParts(e)
	if len(parts) == 0 {
		return ""
	}
	return parts[len(parts)-1]
}

func schemaParts(e *jsonschema.ValidationError) []string {
	_, fragment, _ := strings.Cut(e.AbsoluteKeywordLocation, "#")
	return pointer(fragment)
}
