package compare

import (
	"maps"
	"slices"
	"strings"
)

// rename is a stage of one side that the other has under another name.
type rename struct{ from, to string }

// renames pairs stages that only one side has: first those that do and read the same, then
// those of one kind that read the same, where there is one such pair alone. What an
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
			if r, ok := nextRename(now.at("stages"), b.at("stages"), same); ok {
				found, again = append(found, r), true
			}
		}
	}
	return found
}

// nextRename is the first stage of a alone that is the same as exactly one of b alone,
// which is the same as no other of a.
func nextRename(a, b *mapping, same func(x, y *mapping) bool) (rename, bool) {
	onlyA, onlyB := without(a, b), without(b, a)
	for _, from := range onlyA {
		to := matching(onlyB, func(id string) bool { return same(a.at(from), b.at(id)) })
		if len(to) == 1 && len(matching(onlyA, func(id string) bool { return same(a.at(id), b.at(to[0])) })) == 1 {
			return rename{from, to[0]}, true
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

func without(m, other *mapping) (keys []string) {
	for _, k := range m.keys {
		if _, there := other.values[k]; !there {
			keys = append(keys, k)
		}
	}
	return keys
}

// reads is what a stage reads, by port.
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
	by := map[string][]string{}
	for _, p := range plans {
		if p == nil {
			continue
		}
		for _, s := range p.Stages {
			for port := range s.Inputs {
				if key := portKey(port); !slices.Contains(by[s.Kind], key) {
					by[s.Kind] = append(by[s.Kind], key)
				}
			}
		}
	}
	return by
}

// renamed is a spec's tree with the new names wherever a stage is meant: as a key of
// stages, of shares and in the paths of an experiment, and in what a stage reads.
func renamed(spec *mapping, names []rename, ports map[string][]string) *mapping {
	if len(names) == 0 {
		return spec
	}
	out := &mapping{keys: spec.keys, values: maps.Clone(spec.values)}
	stages := newMapping()
	for _, id := range spec.at("stages").keys {
		stages.set(newName(id, names), rereads(spec.at("stages").at(id), names, ports))
	}
	out.values["stages"] = stages
	if privacy := spec.at("privacy"); privacy.values["split"] != nil {
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

// rekeyed is a tree with other keys at every depth.
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
