package schema

import (
	"bytes"
	"cmp"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"sort"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// Canonical renders a value as YAML that depends on nothing but the value: settings in declared order,
// maps sorted by key, Ordered in its order, numbers in their shortest form, every setting written unless
// it is omitempty and zero. Decoding the result and rendering again gives the same bytes. NaN, minus
// infinity and text that is not UTF-8 are errors.
func Canonical(v any) ([]byte, error) {
	x, err := newPlain().value(reflect.ValueOf(v))
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(yamlNode(x)); err != nil {
		return nil, err
	}
	return b.Bytes(), enc.Close()
}

// plain reduces values to what YAML has.
type plain struct{ structs structs }

func newPlain() plain { return plain{structs{}} }

// value reduces a value to nil, bool, int64, uint64, float64, string, []any and *object.
func (p plain) value(v reflect.Value) (any, error) {
	if !v.IsValid() || (v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface) && v.IsNil() {
		return nil, nil
	}
	if v.CanInterface() {
		switch x := v.Interface().(type) {
		case *yaml.Node:
			return p.node(x)
		case Merged:
			return p.merged(x)
		case yaml.Marshaler:
			m, err := x.MarshalYAML()
			if err != nil {
				return nil, err
			}
			return p.value(reflect.ValueOf(m))
		case encoding.TextMarshaler:
			t, err := x.MarshalText()
			return string(t), err
		}
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		return p.value(v.Elem())
	case reflect.Struct:
		return p.structure(v)
	case reflect.Map:
		return p.mapping(v)
	case reflect.Slice, reflect.Array:
		return p.list(v)
	}
	return plainScalar(v)
}

func plainScalar(v reflect.Value) (any, error) {
	switch {
	case v.Kind() == reflect.Bool:
		return v.Bool(), nil
	case v.CanInt():
		return v.Int(), nil
	case v.CanUint():
		return v.Uint(), nil
	case v.Kind() == reflect.Float32:
		f, _ := strconv.ParseFloat(strconv.FormatFloat(v.Float(), 'g', -1, 32), 64)
		return plainFloat(f)
	case v.Kind() == reflect.Float64:
		return plainFloat(v.Float())
	case v.Kind() == reflect.String && utf8.ValidString(v.String()):
		return v.String(), nil
	case v.Kind() == reflect.String:
		return nil, fmt.Errorf("is text that is not UTF-8, must be UTF-8")
	}
	return nil, fmt.Errorf("is a %s, must be plain data", v.Type())
}

func (p plain) structure(v reflect.Value) (any, error) {
	fs, err := p.structs.fields(v.Type())
	if err != nil {
		return nil, err
	}
	o := newObject()
	for _, f := range fs {
		fv := v.FieldByIndex(f.index)
		if f.omitempty && emptyValue(fv) {
			continue
		}
		x, err := p.value(fv)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.key, err)
		}
		o.set(f.key, x)
	}
	return o, nil
}

// JSON writes settings as encoding/json does by their json tags, but of an inline struct with keys those alone that the
// struct around it takes over. Such structs stand in blocks, not in lists or mappings.
func JSON(v any) ([]byte, error) {
	x, err := jsonValue(reflect.ValueOf(v))
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = writeJSON(&b, x)
	return b.Bytes(), err
}

// jsonValue turns structs that have no JSON of their own into objects and leaves the rest to encoding/json.
func jsonValue(v reflect.Value) (any, error) {
	if v.Kind() == reflect.Pointer && !v.IsNil() {
		return jsonValue(v.Elem())
	}
	if v.Kind() != reflect.Struct || writesJSON(v.Type()) {
		if v.CanAddr() {
			return v.Addr().Interface(), nil
		}
		return v.Interface(), nil
	}
	fs, err := fields(v.Type())
	if err != nil {
		return nil, err
	}
	o := newObject()
	for _, f := range fs {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		fv := v.FieldByIndex(f.index)
		if name == "-" || strings.Contains(options, "omitempty") && emptyJSON(fv) {
			continue
		}
		x, err := jsonValue(fv)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.key, err)
		}
		o.set(cmp.Or(name, f.Name), x)
	}
	return o, nil
}

func writesJSON(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[json.Marshaler]()) || p.Implements(reflect.TypeFor[encoding.TextMarshaler]())
}

// emptyJSON reports what encoding/json leaves out under omitempty: a struct never is.
func emptyJSON(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map, reflect.String, reflect.Array:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}

func emptyValue(v reflect.Value) bool {
	if x, says := v.Interface().(yaml.IsZeroer); says {
		return x.IsZero()
	}
	if v.Kind() == reflect.Slice || v.Kind() == reflect.Map {
		return v.Len() == 0
	}
	return v.IsZero()
}

func (p plain) merged(all Merged) (any, error) {
	o := newObject()
	for _, v := range all {
		x, err := p.value(reflect.ValueOf(v))
		if err != nil {
			return nil, err
		}
		part, ok := x.(*object)
		if !ok {
			return nil, fmt.Errorf("a %T cannot be merged, must be a struct or mapping", v)
		}
		for _, k := range part.keys {
			if _, twice := o.values[k]; twice {
				return nil, fmt.Errorf("%s: is set twice, must be set once", k)
			}
			o.set(k, part.values[k])
		}
	}
	return o, nil
}

func (p plain) mapping(v reflect.Value) (any, error) {
	if v.Type().Key().Kind() != reflect.String {
		return nil, fmt.Errorf("is a %s, must be plain data", v.Type())
	}
	keys := v.MapKeys()
	sort.Slice(keys, func(i, j int) bool { return keys[i].String() < keys[j].String() })
	o := newObject()
	for _, k := range keys {
		x, err := p.value(v.MapIndex(k))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", quoteKey(k.String()), err)
		}
		o.set(k.String(), x)
	}
	return o, nil
}

func (p plain) list(v reflect.Value) (any, error) {
	list := make([]any, v.Len())
	o := newObject()
	for i := range v.Len() {
		item := v.Index(i)
		isEntry := v.Type().Implements(orderedType)
		if isEntry {
			item = item.Field(1)
		}
		x, err := p.value(item)
		if err != nil {
			return nil, fmt.Errorf("[%d]: %w", i, err)
		}
		list[i] = x
		if isEntry {
			o.set(v.Index(i).Field(0).String(), x)
		}
	}
	if v.Type().Implements(orderedType) {
		return o, nil
	}
	return list, nil
}

// node reduces YAML that was not decoded; the keys keep their order.
func (p plain) node(n *yaml.Node) (any, error) {
	switch n.Kind {
	case yaml.MappingNode:
		o := newObject()
		for i := 0; i+1 < len(n.Content); i += 2 {
			x, err := p.node(n.Content[i+1])
			if err != nil {
				return nil, err
			}
			o.set(n.Content[i].Value, x)
		}
		return o, nil
	case yaml.SequenceNode:
		list := make([]any, len(n.Content))
		for i, c := range n.Content {
			x, err := p.node(c)
			if err != nil {
				return nil, err
			}
			list[i] = x
		}
		return list, nil
	}
	switch x := scalar(n).(type) {
	case json.Number:
		var v any
		if err := n.Decode(&v); err != nil {
			return nil, err
		}
		return p.value(reflect.ValueOf(v))
	default:
		return x, nil
	}
}

// yamlNode writes block mappings, and flow lists where the items are scalars.
func yamlNode(v any) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode}
	switch v := v.(type) {
	case *object:
		n.Kind, n.Tag = yaml.MappingNode, "!!map"
		for _, k := range v.keys {
			n.Content = append(n.Content, textNode(k), yamlNode(v.values[k]))
		}
	case []any:
		n.Kind, n.Tag, n.Style = yaml.SequenceNode, "!!seq", yaml.FlowStyle
		for _, x := range v {
			c := yamlNode(x)
			if c.Kind != yaml.ScalarNode {
				n.Style = 0
			}
			n.Content = append(n.Content, c)
		}
	case string:
		return textNode(v)
	case nil:
		n.Tag, n.Value = "!!null", "null"
	case float64:
		n.Value = formatFloat(v)
	default:
		n.Value = fmt.Sprint(v)
	}
	return n
}

// textNode quotes text that plain YAML or another reader of YAML 1.1 would take for something else.
func textNode(s string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
	bare := yaml.Node{Kind: yaml.ScalarNode, Value: s}
	odd := func(r rune) bool { return !unicode.IsPrint(r) }
	old := strings.Contains(" y n yes no on off << = ", " "+strings.ToLower(s)+" ")
	if s == "" || bare.ShortTag() != "!!str" || old || strings.ContainsFunc(s, odd) {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}
