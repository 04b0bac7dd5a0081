// Package schema is the one place where a setting is declared.
//
// A settings struct with tags is the YAML key, the JSON Schema, the documentation and the check:
//
//	type Settings struct {
//		Steps   int      `yaml:"steps" doc:"Steps of training." required:"true" min:"1"`
//		Clip    float64  `yaml:"max_grad_norm" doc:"Bound of one gradient." exclusiveMin:"0"`
//		Scope   string   `yaml:"scope" doc:"Rows that are searched." enum:"table|shard"`
//		Columns []string `yaml:"columns,omitempty" doc:"Columns to encode." format:"column"`
//		Stop    *float64 `yaml:"stop" doc:"Threshold." min:"0" unit:"seconds"`
//	}
//
// Tags of a field (on a list, array or map the value tags hold for each element):
//
//	yaml:"key[,omitempty][,inline]"  key is needed on every exported field; "-" leaves the field out.
//	                                 omitempty: the zero value means that nothing is set.
//	doc, unit                        text for people
//	example                          a value for people: text, or JSON where the setting is not text
//	required:"true"                  the key must stand in the file
//	min, max, exclusiveMin, exclusiveMax   numbers
//	enum:"a|b"                       allowed values
//	pattern, minLength               of text
//	minItems, maxItems, unique       of a list; minItems of a map is its least number of keys
//	format                           what a text names: column, stage, expression, path. "columns" and
//	                                 "stages" are read as column and stage for each element of a list
//	default                          shown instead of the value that the struct given to Of holds
//	keys:"a b"                       of an inline struct: the settings that are taken over from it, in the order that
//	                                 the outer struct has them; its own settings may be named among them
//	doc.a, min.a, enum.a, ...        beside keys: the tag of the setting a, which may allow less than the inline
//	                                 struct's own tag, never more
//	defs, title, doc                 of a blank field: settings of this struct that others take over are published
//	                                 once, as this entry of $defs
//
// Without a default tag the value in the struct given to Of is the default. Of refuses a default that
// the field's own rules refuse, unless the field is required or omitempty.
//
// A block behind a nil pointer and the elements of lists and mappings have no value in that struct; they
// have the zero value, or what SetDefaults() on a pointer to their type sets.
//
// A type that decodes itself (yaml.Unmarshaler) says its schema by JSONSchema() map[string]any, asked of the default
// value; one with UnmarshalText is text. Float, Text, Raw and Ordered are ready types for infinite numbers, spellings,
// undecoded YAML and mappings whose order counts.
package schema

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
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
	s, err := Derive(v)
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

// Derive does what Of does and does not hold the defaults to the schema: of settings that a test has given to Of.
func Derive(v any) (*Schema, error) {
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

// fieldSchema returns the schema of one setting with its tags and its default, and whether it is required.
func fieldSchema(f field, v reflect.Value, outer []reflect.Type) (*object, bool, error) {
	o, err := typeSchema(f.Type, v, outer)
	if err != nil {
		return nil, false, err
	}
	if err := tagged(o, f); err != nil {
		return nil, false, err
	}
	must := f.Tag.Get("required") == "true"
	if !must {
		err = setDefault(o, f, v)
	}
	o = described(o, f)
	o.common = f.common
	return o, must, err
}

// described puts what people read in front.
func described(o *object, f field) *object {
	d := newObject()
	if doc := f.Tag.Get("doc"); doc != "" {
		d.set("description", doc)
	}
	for _, k := range o.keys {
		d.set(k, o.values[k])
	}
	if unit := f.Tag.Get("unit"); unit != "" {
		d.set("x-unit", unit)
	}
	if example, ok := f.Tag.Lookup("example"); ok {
		d.set("examples", []any{exampleOf(o, example)})
	}
	return d
}

// exampleOf reads the tag of an example: the text itself where the setting is text, else a value as JSON.
func exampleOf(o *object, text string) any {
	var v any
	if o.get("type") == "string" || json.Unmarshal([]byte(text), &v) != nil {
		return text
	}
	return ordered(v)
}

// tagged puts the value tags on the innermost element, the list tags on the outermost list.
func tagged(o *object, f field) error {
	inner := o
	for {
		if opts, ok := inner.get("anyOf").([]any); ok && len(opts) > 0 {
			inner = opts[0].(*object)
		} else if next := inner.object("items"); next != nil {
			inner = next
		} else if next := inner.object("additionalProperties"); next != nil {
			inner = next
		} else {
			break
		}
	}
	if f.Tag.Get("words") == "true" { // whoever decodes them puts numbers in their place first
		inner.set("type", []any{"number", "string"})
	}
	for _, tag := range []struct{ tag, keyword string }{{"min", "minimum"}, {"max", "maximum"},
		{"exclusiveMin", "exclusiveMinimum"}, {"exclusiveMax", "exclusiveMaximum"}} {
		if err := numberTag(inner, f, tag.tag, tag.keyword, "number", "integer"); err != nil {
			return err
		}
	}
	if err := numberTag(inner, f, "minLength", "minLength", "string"); err != nil {
		return err
	}
	if err := textTags(inner, f); err != nil {
		return err
	}
	return listTags(o, f)
}

func numberTag(o *object, f field, tag, keyword string, types ...string) error {
	text, ok := f.Tag.Lookup(tag)
	if !ok {
		return nil
	}
	if !slices.ContainsFunc(types, func(t string) bool { return hasType(o, t) }) {
		return fmt.Errorf("the tag %s: is on a %s, must be on a setting of type %s", tag, f.Type, strings.Join(types, " or "))
	}
	if _, err := strconv.ParseFloat(text, 64); err != nil {
		return fmt.Errorf("the tag %s is %q, must be a number", tag, text)
	}
	if !json.Valid([]byte(text)) {
		return fmt.Errorf("the tag %s is %q, must be a number as JSON writes it", tag, text)
	}
	o.set(keyword, json.Number(text))
	return nil
}

func textTags(o *object, f field) error {
	if enum, ok := f.Tag.Lookup("enum"); ok {
		values := []any{}
		for _, s := range strings.Split(enum, "|") {
			if hasType(o, "string") {
				values = append(values, s)
			} else if json.Valid([]byte(s)) {
				values = append(values, json.Number(s))
			} else {
				return fmt.Errorf("the tag enum has %q, must be of type %s", s, f.Type)
			}
		}
		if hasType(o, "null") {
			values = append(values, nil)
		}
		o.set("enum", values)
	}
	if pattern, ok := f.Tag.Lookup("pattern"); ok {
		if _, err := regexp.Compile(pattern); err != nil || !hasType(o, "string") {
			return fmt.Errorf("the tag pattern: is %q, must be a regular expression on a text setting", pattern)
		}
		o.set("pattern", pattern)
	}
	if format := f.Tag.Get("format"); format != "" {
		if f.Type.Kind() == reflect.Slice || f.Type.Kind() == reflect.Map {
			format = strings.TrimSuffix(format, "s")
		}
		o.set("format", format)
	}
	return nil
}

func listTags(o *object, f field) error {
	list := o
	if opts, ok := o.get("anyOf").([]any); ok && len(opts) > 0 {
		list = opts[0].(*object)
	}
	for _, tag := range []string{"minItems", "maxItems"} {
		keyword := tag
		if hasType(list, "object") {
			keyword = strings.Replace(tag, "Items", "Properties", 1)
		}
		if err := numberTag(list, f, tag, keyword, "array", "object"); err != nil {
			return err
		}
	}
	if f.Tag.Get("unique") == "true" {
		if !hasType(list, "array") {
			return fmt.Errorf("the tag unique: is on a %s, must be on a list", f.Type)
		}
		list.set("uniqueItems", true)
	}
	return nil
}

func hasType(o *object, t string) bool {
	switch typ := o.get("type").(type) {
	case string:
		return typ == t
	case []any:
		return slices.Contains(typ, any(t))
	}
	return false
}

// setDefault puts the default of a setting into its schema: the value of its tag, else v.
func setDefault(o *object, f field, v reflect.Value) error {
	if text, ok := f.Tag.Lookup("default"); ok {
		if json.Valid([]byte(text)) && !hasType(o, "string") {
			o.set("default", json.RawMessage(text))
		} else {
			o.set("default", text)
		}
		return nil
	}
	if v.IsZero() && (f.omitempty || !isScalar(v)) {
		return nil
	}
	if v.Kind() == reflect.Struct && !reflect.PointerTo(v.Type()).Implements(describedType) {
		return nil // its own fields show theirs
	}
	plain, err := newPlain().value(v)
	if err != nil {
		return err
	}
	j, err := json.Marshal(plain)
	if err != nil {
		return err
	}
	o.set("default", json.RawMessage(j))
	return nil
}

func isScalar(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Interface, reflect.Struct, reflect.Array:
		return false
	}
	return true
}
