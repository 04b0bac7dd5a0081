package compare

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"gopkg.in/yaml.v3"
)

// A tree is nil, bool, string, number, []any or *mapping.

// number is a number in one spelling for each value.
type number string

// MarshalJSON writes what JSON has no number for as text.
func (n number) MarshalJSON() ([]byte, error) {
	if json.Valid([]byte(n)) {
		return []byte(n), nil
	}
	return json.Marshal(string(n))
}

// mapping keeps the order of its keys, in which differences are told.
type mapping struct {
	keys   []string
	values map[string]any
}

func newMapping(pairs ...any) *mapping {
	m := &mapping{values: map[string]any{}}
	for i := 0; i+1 < len(pairs); i += 2 {
		m.set(pairs[i].(string), pairs[i+1])
	}
	return m
}

func (m *mapping) set(key string, value any) {
	if _, there := m.values[key]; !there {
		m.keys = append(m.keys, key)
	}
	m.values[key] = value
}

// at is the mapping under a key; an empty one where there is none.
func (m *mapping) at(key string) *mapping {
	if inner, ok := m.values[key].(*mapping); ok {
		return inner
	}
	return newMapping()
}

// MarshalJSON writes an object with its keys in order.
func (m *mapping) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, k := range m.keys {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := json.Marshal(k)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(m.values[k])
		if err != nil {
			return nil, err
		}
		b.Write(append(append(key, ':'), value...))
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// readYAML reads a canonical spec.
func readYAML(name string, data []byte) (*mapping, error) {
	var n yaml.Node
	err := yaml.Unmarshal(data, &n)
	if err == nil && len(n.Content) == 1 {
		if m, ok := ofNode(n.Content[0]).(*mapping); ok {
			return m, nil
		}
	}
	return nil, fmt.Errorf("%s: holds no spec in its canonical form, must hold the YAML that weir render prints", name)
}

func ofNode(n *yaml.Node) any {
	switch n.Kind {
	case yaml.MappingNode:
		m := newMapping()
		for i := 0; i+1 < len(n.Content); i += 2 {
			m.set(n.Content[i].Value, ofNode(n.Content[i+1]))
		}
		return m
	case yaml.SequenceNode:
		list := make([]any, len(n.Content))
		for i, c := range n.Content {
			list[i] = ofNode(c)
		}
		return list
	}
	switch n.ShortTag() {
	case "!!null":
		return nil
	case "!!bool":
		return n.Value == "true"
	case "!!int", "!!float":
		return spelled(n.Value)
	}
	return n.Value
}

// spelled is the one spelling of a number: 1e3, 1000 and 1000.0 are equal.
func spelled(text string) number {
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return number(strconv.FormatInt(i, 10))
	}
	if u, err := strconv.ParseUint(text, 10, 64); err == nil {
		return number(strconv.FormatUint(u, 10))
	}
	f, err := strconv.ParseFloat(text, 64)
	switch {
	case text == ".inf":
		return "inf"
	case err != nil:
		return number(text)
	case f == math.Trunc(f) && math.Abs(f) < 1<<53:
		return number(strconv.FormatInt(int64(f), 10))
	}
	return number(strconv.FormatFloat(f, 'g', -1, 64))
}

// ofJSON is a decoded JSON value (with numbers as json.Number) as a tree; objects have
// their keys sorted.
func ofJSON(v any) any {
	switch v := v.(type) {
	case json.Number:
		return spelled(string(v))
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = ofJSON(v[i])
		}
		return list
	case map[string]any:
		m := newMapping()
		for k := range v {
			m.keys = append(m.keys, k)
			m.values[k] = ofJSON(v[k])
		}
		slices.Sort(m.keys)
		return m
	}
	return v
}

// readJSON is the tree of a JSON text, nil where there is none.
func readJSON(data []byte) any {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return nil
	}
	return ofJSON(v)
}
