package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// object is a JSON object that keeps the order of its keys, so that a published schema lists settings as
// they are declared.
type object struct {
	keys   []string
	values map[string]any
	common *sharedSetting // the declaration that a setting takes over from others; nil where it has its own
}

func newObject(pairs ...any) *object {
	o := &object{values: map[string]any{}}
	for i := 0; i < len(pairs); i += 2 {
		o.set(pairs[i].(string), pairs[i+1])
	}
	return o
}

func (o *object) set(key string, v any) {
	if _, ok := o.values[key]; !ok {
		o.keys = append(o.keys, key)
	}
	o.values[key] = v
}

func (o *object) get(key string) any {
	if o == nil {
		return nil
	}
	return o.values[key]
}

func (o *object) text(key string) string {
	s, _ := o.get(key).(string)
	return s
}

func (o *object) object(key string) *object {
	c, _ := o.get(key).(*object)
	return c
}

// copy copies an object alone: a change of its keys leaves the original alone.
func (o *object) copy() *object {
	c := &object{keys: slices.Clone(o.keys), values: make(map[string]any, len(o.values)), common: o.common}
	for k, v := range o.values {
		c.values[k] = v
	}
	return c
}

// MarshalJSON writes the keys in their order.
func (o *object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	err := writeJSON(&b, o)
	return b.Bytes(), err
}

// writeJSON goes down objects and lists itself: encoding/json reads what a MarshalJSON gives once more, at every level.
func writeJSON(b *bytes.Buffer, v any) error {
	switch v := v.(type) {
	case *object:
		return writeItems(b, '{', '}', len(v.keys), func(i int) error {
			if err := writeJSON(b, v.keys[i]); err != nil {
				return err
			}
			b.WriteByte(':')
			return writeJSON(b, v.values[v.keys[i]])
		})
	case []any:
		return writeItems(b, '[', ']', len(v), func(i int) error { return writeJSON(b, v[i]) })
	}
	j, err := json.Marshal(v)
	b.Write(j)
	return err
}

func writeItems(b *bytes.Buffer, first, last byte, n int, item func(i int) error) error {
	b.WriteByte(first)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := item(i); err != nil {
			return err
		}
	}
	b.WriteByte(last)
	return nil
}

// first moves keys in front of all others.
func (o *object) first(keys any) {
	rank := func(key string) int {
		list, _ := keys.([]any)
		if i := slices.Index(list, any(key)); i >= 0 {
			return i
		}
		return len(list)
	}
	slices.SortStableFunc(o.keys, func(a, b string) int { return rank(a) - rank(b) })
}

// ordered turns the maps of a hand-written schema into objects with sorted keys; of properties those that are required
// stand first, in the order in which they are listed.
func ordered(v any) any {
	switch v := v.(type) {
	case map[string]any:
		o := newObject()
		for _, k := range slices.Sorted(maps.Keys(v)) {
			o.set(k, ordered(v[k]))
		}
		if ps := o.object("properties"); ps != nil {
			ps.first(o.get("required"))
		}
		return o
	case []any:
		l := make([]any, len(v))
		for i := range v {
			l[i] = ordered(v[i])
		}
		return l
	case []map[string]any:
		l := make([]any, len(v))
		for i := range v {
			l[i] = ordered(v[i])
		}
		return l
	case []string:
		l := make([]any, len(v))
		for i := range v {
			l[i] = v[i]
		}
		return l
	}
	return v
}

// pointer splits a JSON pointer as jsonschema/v5 writes it (escaped for a URL as well).
func pointer(p string) []string {
	parts := strings.Split(strings.TrimPrefix(p, "/"), "/")
	if p == "" {
		return nil
	}
	for i, s := range parts {
		if u, err := url.PathUnescape(s); err == nil {
			s = u
		}
		parts[i] = strings.ReplaceAll(strings.ReplaceAll(s, "~1", "/"), "~0", "~")
	}
	return parts
}

// follow finds the part of a schema at a pointer; nil when there is none.
func follow(v any, parts []string) *object {
	for _, s := range parts {
		switch c := v.(type) {
		case *object:
			v = c.get(s)
		case []any:
			i, err := strconv.Atoi(s)
			if err != nil || i < 0 || i >= len(c) {
				return nil
			}
			v = c[i]
		default:
			return nil
		}
	}
	o, _ := v.(*object)
	return o
}

// checkDefaults holds every default of a schema to the rules of its own setting; path names the setting.
func checkDefaults(o *object, c *jsonschema.Schema, path string) error {
	if v, ok := o.values["default"]; ok && c != nil {
		if err := accepts(c, v); err != nil {
			return fmt.Errorf("%s: the default %s is refused by the setting's own rules (give a default, required or "+
				"omitempty): %w",
				path, asJSON(v), err)
		}
	}
	if ps := o.object("properties"); ps != nil {
		for _, k := range ps.keys {
			if err := checkDefaults(ps.object(k), c.Properties[k], fullPath(path, k)); err != nil {
				return err
			}
		}
	}
	if item := o.object("items"); item != nil {
		items, _ := c.Items.(*jsonschema.Schema)
		return checkDefaults(item, items, path)
	}
	if rest, ok := c.AdditionalProperties.(*jsonschema.Schema); ok && o.object("additionalProperties") != nil {
		return checkDefaults(o.object("additionalProperties"), rest, path)
	}
	for i, option := range list(o, "anyOf") {
		if err := checkDefaults(option, c.AnyOf[i], path+"#"+strconv.Itoa(i)); err != nil {
			return err
		}
	}
	return nil
}

func accepts(c *jsonschema.Schema, value any) error {
	j, err := json.Marshal(value)
	if err != nil {
		return err
	}
	dec := json.NewDecoder(strings.NewReader(string(j)))
	dec.UseNumber()
	var x any
	if err := dec.Decode(&x); err != nil {
		return err
	}
	return c.Validate(x)
}
