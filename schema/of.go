package schema

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"time"
)

// Schema is a JSON Schema (draft 2020-12) that documents are checked against. Safe for concurrent use.
type Schema struct {
	doc *object
}

func newSchema(doc *object) *Schema { return &Schema{doc: doc} }

// Of derives the schema of a settings struct (or a pointer to one) whose values are the defaults. The
// error names the field whose tags, type or default are wrong; that is a fault of the program.
func Of(v any) (*Schema, error) {
	s, err := derive(v)
	if err != nil {
		return nil, err
	}
	c, err := compiled(s.doc)
	if err == nil {
		err = checkDefaults(s.doc, c, "")
	}
	if err != nil {
		return nil, fmt.Errorf("schema of %T: %w", v, err)
	}
	return s, nil
}

// derive is Of without the compilation and the check of the defaults.
func derive(v any) (*Schema, error) {
	rv := reflect.ValueOf(v)
	for rv.Kind() == reflect.Pointer && !rv.IsNil() {
		rv = rv.Elem()
	}
	if !rv.IsValid() || rv.Kind() == reflect.Pointer {
		return nil, fmt.Errorf("schema of %T: is nil, must be a struct or a pointer to one", v)
	}
	doc, err := typeSchema(rv.Type(), rv, nil)
	if err != nil {
		return nil, fmt.Errorf("schema of %T: %w", v, err)
	}
	return newSchema(doc), nil
}

// MarshalJSON gives the schema with settings in declared order.
func (s *Schema) MarshalJSON() ([]byte, error) { return s.doc.MarshalJSON() }

// Publish gives the schema as a file for editors: indented, with $schema, title and a closing newline.
func (s *Schema) Publish(title string) ([]byte, error) {
	o := newObject("$schema", "https://json-schema.org/draft/2020-12/schema", "title", title)
	for _, k := range s.doc.keys {
		o.set(k, s.doc.values[k])
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

// typeSchema derives the schema of a type; v holds its default or is invalid. outer lists the struct types
// around it, since a type that holds itself has no inline schema.
func typeSchema(t reflect.Type, v reflect.Value, outer []reflect.Type) (*object, error) {
	if t == floatType {
		return newObject("anyOf", []any{newObject("type", "number"), newObject("const", "inf")}), nil
	}
	if o, ok := selfDescribed(t, v); ok {
		return o, nil
	}
	if reflect.PointerTo(t).Implements(unmarshalerType) {
		return nil, fmt.Errorf("%s has UnmarshalYAML, must have JSONSchema() map[string]any too", t)
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return newObject("type", "string"), nil
	}
	switch t.Kind() {
	case reflect.Struct:
		return structSchema(t, v, outer)
	case reflect.Pointer:
		return pointerSchema(t, v, outer)
	case reflect.Slice, reflect.Array, reflect.Map:
		return manySchema(t, outer)
	}
	return scalarSchema(t)
}

// selfDescribed asks a value for its schema: what it holds by default may say what it accepts.
func selfDescribed(t reflect.Type, v reflect.Value) (*object, bool) {
	if t.Kind() == reflect.Interface || t.Kind() == reflect.Pointer || !reflect.PointerTo(t).Implements(describedType) {
		return nil, false
	}
	p := reflect.New(t)
	if v.IsValid() {
		p.Elem().Set(v)
	}
	m := p.Interface().(interface{ JSONSchema() map[string]any }).JSONSchema()
	return ordered(m).(*object), true
}

// scalarSchema has the formats int64 and double (as OpenAPI names them), which the check holds to the
// range of the Go type.
func scalarSchema(t reflect.Type) (*object, error) {
	if t == reflect.TypeFor[time.Duration]() {
		return nil, fmt.Errorf("is a time.Duration, must be a number with a unit tag")
	}
	switch k := t.Kind(); k {
	case reflect.Bool:
		return newObject("type", "boolean"), nil
	case reflect.String:
		return newObject("type", "string"), nil
	case reflect.Int, reflect.Int64:
		return newObject("type", "integer", "format", "int64"), nil
	case reflect.Int8, reflect.Int16, reflect.Int32:
		return newObject("type", "integer", "minimum", -1<<(t.Bits()-1), "maximum", 1<<(t.Bits()-1)-1), nil
	case reflect.Uint8, reflect.Uint16, reflect.Uint32:
		return newObject("type", "integer", "minimum", 0, "maximum", uint64(1)<<t.Bits()-1), nil
	case reflect.Uint, reflect.Uint64:
		return newObject("type", "integer", "minimum", 0, "format", "uint64"), nil
	case reflect.Float32, reflect.Float64:
		return newObject("type", "number", "format", "double"), nil
	case reflect.Interface:
		if t.NumMethod() == 0 {
			return newObject(), nil
		}
	}
	return nil, fmt.Errorf("a %s cannot be a setting", t)
}

func pointerSchema(t reflect.Type, v reflect.Value, outer []reflect.Type) (*object, error) {
	if v.IsValid() {
		v = v.Elem()
	}
	if !v.IsValid() {
		v = fresh(t.Elem())
	}
	o, err := typeSchema(t.Elem(), v, outer)
	if err != nil {
		return nil, err
	}
	if typ, ok := o.get("type").(string); ok {
		o.set("type", []any{typ, "null"})
		return o, nil
	}
	return newObject("anyOf", []any{o, newObject("type", "null")}), nil
}

func manySchema(t reflect.Type, outer []reflect.Type) (*object, error) {
	elem, isMapping := t.Elem(), t.Kind() == reflect.Map
	if t.Implements(orderedType) {
		elem, isMapping = elem.Field(1).Type, true
	}
	if t.Kind() == reflect.Map && t.Key().Kind() != reflect.String {
		return nil, fmt.Errorf("a %s cannot be a setting, keys must be text", t)
	}
	item, err := typeSchema(elem, fresh(elem), outer)
	if err != nil {
		return nil, err
	}
	if isMapping {
		return newObject("type", "object", "additionalProperties", item), nil
	}
	o := newObject("type", "array", "items", item)
	if t.Kind() == reflect.Array {
		o.set("minItems", t.Len())
		o.set("maxItems", t.Len())
	}
	return o, nil
}

func structSchema(t reflect.Type, v reflect.Value, outer []reflect.Type) (*object, error) {
	for _, o := range outer {
		if o == t {
			return nil, fmt.Errorf("%s holds itself, must have an end", t)
		}
	}
	fs, err := fields(t)
	if err != nil {
		return nil, err
	}
	properties := newObject()
	var required []any
	for _, f := range fs {
		o, must, err := fieldSchema(f, v.FieldByIndex(f.index), append(outer[:len(outer):len(outer)], t))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.key, err)
		}
		properties.set(f.key, o)
		if must {
			required = append(required, f.key)
		}
	}
	doc := newObject("type", "object", "properties", properties, "additionalProperties", false)
	if required != nil {
		doc.set("required", required)
	}
	return doc, nil
}
