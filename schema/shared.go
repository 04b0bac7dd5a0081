package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
)

// Shared is a group of settings that several structs take over from one.
type Shared struct {
	Name   string  // of its entry of $defs
	Title  string  // for people
	Doc    string  // for people
	Schema *Schema // of the settings as they are declared, without defaults
}

// sharedSetting is one setting as the struct declares it from which others take it over.
type sharedSetting struct {
	group *sharedGroup
	key   string
}

// sharedGroup is a struct whose blank field has the tag defs.
type sharedGroup struct {
	tag    reflect.StructTag // of the blank field: defs, title and doc
	fields []field
}

// shareAll marks the settings of a struct that others take over.
func shareAll(t reflect.Type, all []field) []field {
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Name != "_" || f.Tag.Get("defs") == "" {
			continue
		}
		g := &sharedGroup{tag: f.Tag, fields: slices.Clone(all)}
		for j := range all {
			all[j].common = &sharedSetting{g, all[j].key}
		}
	}
	return all
}

func (g *sharedGroup) name() string { return g.tag.Get("defs") }

// schema returns the settings as they are declared, without defaults.
func (g *sharedGroup) schema() (*object, error) {
	properties, required := newObject(), []any(nil)
	for _, f := range g.fields {
		o, err := typeSchema(f.Type, reflect.Value{}, nil)
		if err == nil {
			err = tagged(o, f)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.key, err)
		}
		properties.set(f.key, described(o, f))
		if f.Tag.Get("required") == "true" {
			required = append(required, f.key)
		}
	}
	whole := newObject("title", g.tag.Get("title"), "description", g.tag.Get("doc"), "type", "object",
		"properties", properties)
	if required != nil {
		whole.set("required", required)
	}
	return whole, nil
}

// factored replaces each shared setting of a schema by a reference to its entry of defs, which it fills, with what
// the setting says beyond the entry.
func factored(v any, defs *object) (any, error) {
	switch v := v.(type) {
	case []any:
		all := make([]any, len(v))
		for i := range v {
			var err error
			if all[i], err = factored(v[i], defs); err != nil {
				return nil, err
			}
		}
		return all, nil
	case *object:
		if v.common != nil {
			return v.reference(defs)
		}
		c := newObject()
		for _, k := range v.keys {
			one, err := factored(v.values[k], defs)
			if err != nil {
				return nil, err
			}
			c.set(k, one)
		}
		return c, nil
	}
	return v, nil
}

// reference returns a shared setting as a reference with what it says beyond its entry of defs.
func (o *object) reference(defs *object) (*object, error) {
	name, key := o.common.group.name(), o.common.key
	if defs.get(name) == nil {
		whole, err := o.common.group.schema()
		if err != nil {
			return nil, err
		}
		defs.set(name, whole)
	}
	r := newObject("$ref", "#/$defs/"+name+"/properties/"+key)
	for _, k := range o.additions(defs.object(name).object("properties").object(key)) {
		r.set(k, o.values[k])
	}
	return r, nil
}

// additions lists the words of a schema that common lacks or says otherwise.
func (o *object) additions(common *object) (words []string) {
	for _, k := range o.keys {
		if asJSON(o.values[k]) != asJSON(common.get(k)) {
			words = append(words, k)
		}
	}
	return words
}

// Shared lists the groups whose settings the schema takes over, by name.
func (s *Schema) Shared() ([]Shared, error) {
	defs := newObject()
	if _, err := factored(s.doc, defs); err != nil {
		return nil, err
	}
	all := make([]Shared, len(defs.keys))
	for i, name := range slices.Sorted(slices.Values(defs.keys)) {
		o := defs.object(name)
		all[i] = Shared{Name: name, Title: o.text("title"), Doc: o.text("description"), Schema: newSchema(o)}
	}
	return all, nil
}

// Publish gives the schema as a file for editors: indented, with $schema, its address as $id, title, description and a
// closing newline. Settings that several structs take over from one stand once, in $defs.
func (s *Schema) Publish(id, title, doc string) ([]byte, error) {
	o := newObject("$schema", "https://json-schema.org/draft/2020-12/schema", "$id", id, "title", title,
		"description", doc)
	defs := newObject()
	whole, err := factored(s.doc, defs)
	if err != nil {
		return nil, err
	}
	for _, k := range whole.(*object).keys {
		o.set(k, whole.(*object).values[k])
	}
	if len(defs.keys) > 0 {
		o.set("$defs", defs)
	}
	j, err := o.MarshalJSON()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	// One space: of two, half of the file would be blanks.
	if err := json.Indent(&b, j, "", " "); err != nil {
		return nil, err
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}
