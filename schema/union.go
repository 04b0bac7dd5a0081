package schema

import (
	"fmt"
	"maps"
	"slices"
)

// Union is the schema of a mapping whose settings depend on a word: a stage by its `kind`. Every kind also
// takes the settings of common. Each kind is one if/then, so editors complete its settings and a check
// names faults of the kind that was meant and no other. It fails when a setting is declared twice.
func Union(discriminator string, kinds map[string]*Schema, common ...*Schema) (*Schema, error) {
	var words, branches []any
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		mark := newSchema(newObject("type", "object",
			"properties", newObject(discriminator, newObject("const", name)), "required", []any{discriminator}))
		whole, err := Merge(slices.Concat([]*Schema{mark}, common, []*Schema{kinds[name]})...)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", discriminator, name, err)
		}
		words = append(words, name)
		branches = append(branches, newObject("if", newObject(
			"properties", newObject(discriminator, newObject("const", name)),
			"required", []any{discriminator}), "then", whole.doc))
	}
	return newSchema(newObject("type", "object",
		"properties", newObject(discriminator, newObject("enum", words)),
		"required", []any{discriminator}, "allOf", branches)), nil
}

// Merge is the schema of one mapping that takes the settings of all the given ones, in order. It fails
// when one of them is not a mapping of settings or a setting is declared twice.
func Merge(schemas ...*Schema) (*Schema, error) {
	properties, required := newObject(), []any{}
	for _, s := range schemas {
		ps := s.doc.object("properties")
		if ps == nil || s.doc.get("allOf") != nil {
			return nil, fmt.Errorf("is not a mapping of settings, must be the schema of a struct")
		}
		for _, k := range ps.keys {
			if properties.get(k) != nil {
				return nil, fmt.Errorf("the setting %q is declared twice", k)
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
	doc, err := with(s.doc, path, sub.doc)
	if err != nil {
		return nil, err
	}
	return newSchema(doc), nil
}

func with(o *object, path []string, sub *object) (*object, error) {
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
	inner, err := with(holder.object(key), path[1:], sub)
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
