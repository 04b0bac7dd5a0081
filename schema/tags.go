package schema

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// fieldSchema is the schema of one setting with its tags and its default, and whether it is required.
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
	return described(o, f), must, err
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
		d.set("examples", []any{example})
	}
	return d
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
		return fmt.Errorf("the tag %s does not fit the type %s", tag, f.Type)
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
			return fmt.Errorf("the tag pattern %q is not a regular expression for text", pattern)
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
			return fmt.Errorf("the tag unique does not fit the type %s", f.Type)
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

// setDefault shows the default.
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
	plain, err := plainValue(v)
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
