package compare

import (
	"slices"

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
		at := below(path, k)
		if after, there := b.values[k]; there {
			all = append(all, differences(at, a.values[k], after)...)
		} else {
			all = append(all, Change{Path: schema.Path(at...), What: Removed, Before: a.values[k]})
		}
	}
	for _, k := range b.keys {
		if _, there := a.values[k]; !there {
			all = append(all, Change{Path: schema.Path(below(path, k)...), What: Added, After: b.values[k]})
		}
	}
	return all
}

// ofLists compares lists of named mappings, such as columns, by name, and all others as
// one value.
func ofLists(path []any, a, b []any) []Change {
	namedA, ok := named(a)
	namedB, also := named(b)
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

// named is a list of mappings as a mapping by their names, which stand first in it.
func named(list []any) (*mapping, bool) {
	by := newMapping()
	for _, item := range list {
		m, ok := item.(*mapping)
		if !ok {
			return nil, false
		}
		name, ok := m.values["name"].(string)
		if _, twice := by.values[name]; !ok || twice {
			return nil, false
		}
		by.set(name, m)
	}
	return by, len(list) > 0
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

// below is a path of its own, which no neighbour writes over.
func below(path []any, key string) []any { return append(slices.Clone(path), key) }

func stagePath(id string) string { return schema.Path("stages", id) }
