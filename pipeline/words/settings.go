package words

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"weir/schema"
)

// What became of a setting.
const (
	Changed   = "changed"
	Added     = "added"
	Removed   = "removed"
	Renamed   = "renamed"
	Reordered = "reordered"
)

// Change is one difference. Before and After are values as the spec has them; a stage, a
// column or a list is one value where only one side has it.
type Change struct {
	Path   string `json:"path"`
	What   string `json:"change"`
	Before any    `json:"before,omitempty"`
	After  any    `json:"after,omitempty"`
}

// differences lists what differs between two trees, in the order of the first.
func differences(path []any, a, b any) []Change {
	switch a := a.(type) {
	case *mapping:
		if b, ok := b.(*mapping); ok {
			return ofMappings(path, a, b)
		}
	case []any:
		if b, ok := b.([]any); ok {
			return ofLists(path, a, b)
		}
	default:
		if a == b {
			return nil
		}
	}
	return []Change{{schema.Path(path...), Changed, a, b}}
}

func ofMappings(path []any, a, b *mapping) (all []Change) {
	for _, k := range a.keys {
		places := childPath(path, k)
		if after, there := b.values[k]; there {
			all = append(all, differences(places, a.values[k], after)...)
		} else {
			all = append(all, Change{Path: schema.Path(places...), What: Removed, Before: a.values[k]})
		}
	}
	for _, k := range b.keys {
		if _, there := a.values[k]; !there {
			all = append(all, Change{Path: schema.Path(childPath(path, k)...), What: Added, After: b.values[k]})
		}
	}
	return all
}

// ofLists compares lists of named mappings, such as columns, by name, and all others as
// one value.
func ofLists(path []any, a, b []any) []Change {
	namedA, ok := mappingByName(a)
	namedB, also := mappingByName(b)
	if ok && also {
		all := ofMappings(path, namedA, namedB)
		if !sameOrder(namedA, namedB) {
			all = append(all, Change{schema.Path(path...), Reordered, names(namedA), names(namedB)})
		}
		return all
	}
	same := len(a) == len(b)
	for i := 0; same && i < len(a); i++ {
		same = len(differences(path, a[i], b[i])) == 0
	}
	if same {
		return nil
	}
	return []Change{{schema.Path(path...), Changed, a, b}}
}

// mappingByName returns a list of mappings as a mapping by their names, which stand first in it.
func mappingByName(list []any) (*mapping, bool) {
	entries := newMapping()
	for _, item := range list {
		m, ok := item.(*mapping)
		if !ok {
			return nil, false
		}
		name, ok := m.values["name"].(string)
		if _, twice := entries.values[name]; !ok || twice {
			return nil, false
		}
		entries.set(name, m)
	}
	return entries, len(list) > 0
}

func sameOrder(a, b *mapping) bool {
	common := func(m, other *mapping) (list []string) {
		for _, k := range m.keys {
			if _, there := other.values[k]; there {
				list = append(list, k)
			}
		}
		return list
	}
	return slices.Equal(common(a, b), common(b, a))
}

func names(m *mapping) []any {
	list := make([]any, len(m.keys))
	for i, k := range m.keys {
		list[i] = k
	}
	return list
}

// childPath returns a path of its own, which no neighbour writes over.
func childPath(path []any, key string) []any { return append(slices.Clone(path), key) }

func stagePath(id string) string { return schema.Path("stages", id) }

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

// child returns the mapping under a key; an empty one where there is none.
func (m *mapping) child(key string) *mapping {
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

// spelled returns the one spelling of a number: 1e3, 1000 and 1000.0 are equal.
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

// ofJSON returns a decoded JSON value (with numbers as json.Number) as a tree; objects have
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

// readJSON returns the tree of a JSON text, nil where there is none.
func readJSON(data []byte) any {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return nil
	}
	return ofJSON(v)
}

// rename is a stage of one side that the other has under another name.
type rename struct{ from, to string }

// renames pairs stages that only one side has: first those that do and read the same, then
// stages of one kind that read the same, where there is one such pair alone. What an
// earlier pair explains is taken as equal, so that a chain of new names is followed.
func renames(a, b *mapping, ports map[string][]string) (found []rename) {
	equal := func(x, y *mapping) bool { return len(differences(nil, x, y)) == 0 }
	alike := func(x, y *mapping) bool {
		return x.values["kind"] == y.values["kind"] && equal(reads(x, ports), reads(y, ports))
	}
	for _, same := range []func(x, y *mapping) bool{equal, alike} {
		for again := true; again; {
			again = false
			now := renamed(a, found, ports)
			if r, ok := nextRename(now.child("stages"), b.child("stages"), same); ok {
				found, again = append(found, r), true
			}
		}
	}
	return found
}

// nextRename returns the first stage of a alone that is the same as exactly one of b alone,
// which is the same as no other of a.
func nextRename(a, b *mapping, same func(x, y *mapping) bool) (rename, bool) {
	onlyA, onlyB := missingKeys(a, b), missingKeys(b, a)
	for _, source := range onlyA {
		to := matching(onlyB, func(id string) bool { return same(a.child(source), b.child(id)) })
		if len(to) == 1 && len(matching(onlyA, func(id string) bool { return same(a.child(id), b.child(to[0])) })) == 1 {
			return rename{source, to[0]}, true
		}
	}
	return rename{}, false
}

func matching(ids []string, is func(id string) bool) (found []string) {
	for _, id := range ids {
		if is(id) {
			found = append(found, id)
		}
	}
	return found
}

func missingKeys(m, other *mapping) (keys []string) {
	for _, k := range m.keys {
		if _, there := other.values[k]; !there {
			keys = append(keys, k)
		}
	}
	return keys
}

// reads returns what a stage reads, by port.
func reads(stage *mapping, ports map[string][]string) *mapping {
	m := newMapping()
	kind, _ := stage.values["kind"].(string)
	for _, port := range ports[kind] {
		m.set(port, stage.values[port])
	}
	return m
}

// ports lists the keys under which stages of a kind name what they read.
func ports(plans ...*plan) map[string][]string {
	groups := map[string][]string{}
	for _, p := range plans {
		if p == nil {
			continue
		}
		for _, s := range p.Stages {
			for port := range s.Inputs {
				if key := portKey(port); !slices.Contains(groups[s.Kind], key) {
					groups[s.Kind] = append(groups[s.Kind], key)
				}
			}
		}
	}
	return groups
}

// renamed returns a spec's tree with the new names wherever a stage is meant: as a key of
// stages, of shares and in the paths of an experiment, and in what a stage reads.
func renamed(spec *mapping, names []rename, ports map[string][]string) *mapping {
	if len(names) == 0 {
		return spec
	}
	out := &mapping{keys: spec.keys, values: maps.Clone(spec.values)}
	stages := newMapping()
	for _, id := range spec.child("stages").keys {
		stages.set(newName(id, names), rereads(spec.child("stages").child(id), names, ports))
	}
	out.values["stages"] = stages
	if privacy := spec.child("privacy"); privacy.values["split"] != nil {
		shares := &mapping{keys: privacy.keys, values: maps.Clone(privacy.values)}
		shares.values["split"] = rekeyed(privacy.values["split"], func(k string) string { return newName(k, names) })
		out.values["privacy"] = shares
	}
	if e := spec.values["experiment"]; e != nil {
		out.values["experiment"] = rekeyed(e, func(path string) string { return newPath(path, names) })
	}
	return out
}

func rereads(stage *mapping, names []rename, ports map[string][]string) *mapping {
	out := &mapping{keys: stage.keys, values: maps.Clone(stage.values)}
	kind, _ := stage.values["kind"].(string)
	for _, port := range ports[kind] {
		switch refs := stage.values[port].(type) {
		case string:
			out.values[port] = newRef(refs, names)
		case []any:
			list := make([]any, len(refs))
			for i, ref := range refs {
				list[i] = ref
				if text, ok := ref.(string); ok {
					list[i] = newRef(text, names)
				}
			}
			out.values[port] = list
		}
	}
	return out
}

// rekeyed returns a tree with other keys at every depth.
func rekeyed(tree any, key func(string) string) any {
	m, ok := tree.(*mapping)
	if !ok {
		return tree
	}
	out := newMapping()
	for _, k := range m.keys {
		out.set(key(k), rekeyed(m.values[k], key))
	}
	return out
}

func newName(id string, names []rename) string {
	for _, n := range names {
		if n.from == id {
			return n.to
		}
	}
	return id
}

// newRef renames in a reference, STAGE or STAGE.OUTPUT.
func newRef(ref string, names []rename) string {
	stage, output, dotted := strings.Cut(ref, ".")
	if stage = newName(stage, names); dotted {
		return stage + "." + output
	}
	return stage
}

// newPath renames in a dotted path, stages.NAME.SETTING.
func newPath(path string, names []rename) string {
	if rest, is := strings.CutPrefix(path, "stages."); is {
		return "stages." + newRef(rest, names)
	}
	return path
}
