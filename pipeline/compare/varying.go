package compare

import (
	"slices"
	"strings"

	"weir/schema"
)

// Setting is what one of several specs says at a path at which they differ; the value is in words, "-" where the spec
// does not have it.
type Setting struct {
	Path  string `json:"path"`
	Value string `json:"value"`
}

// Varying returns what each of several specs in their canonical form says where they differ, path by path in the order
// of the specs. A stage that only some have is one setting, with its kind as the value. Which experiment made a run is
// no setting of the run. A spec that cannot be read has none.
func Varying(canonical [][]byte) [][]Setting {
	var trees []any
	out, of := make([][]Setting, len(canonical)), []int{}
	for i, text := range canonical {
		if tree, err := readYAML("", text); err == nil {
			trees, of = append(trees, tree), append(of, i)
		}
	}
	vary(nil, trees, func(path string, words []string) {
		if path == "experiment" || strings.HasPrefix(path, "experiment.") {
			return
		}
		for k, i := range of {
			out[i] = append(out[i], Setting{path, words[k]})
		}
	})
	return out
}

// vary tells each path at which trees differ, with what each has there; nil is what one does not have.
func vary(path []any, trees []any, tell func(path string, words []string)) {
	if mappings, all := allMappings(trees); all {
		for _, key := range unionOfKeys(mappings) {
			inner := make([]any, len(trees))
			for i, m := range mappings {
				inner[i] = m.values[key]
			}
			vary(below(path, key), inner, tell)
		}
		return
	}
	same := func(t any) bool { return len(differences(nil, trees[0], t)) == 0 }
	if len(trees) == 0 || !slices.ContainsFunc(trees, func(t any) bool { return !same(t) }) {
		return
	}
	words := make([]string, len(trees))
	for i, t := range trees {
		words[i] = brief(t)
	}
	tell(strings.TrimPrefix(schema.Path(path...), "stages."), words)
}

// brief is a value in a list of runs: a stage is its kind.
func brief(tree any) string {
	m, is := tree.(*mapping)
	switch kind, ofStage := "", false; {
	case tree == nil:
		return "-"
	case is:
		if kind, ofStage = m.values["kind"].(string); ofStage {
			return kind
		}
	}
	return word(tree)
}

// allMappings returns trees as mappings, lists of named mappings by their names; all is whether each is one.
func allMappings(trees []any) (list []*mapping, all bool) {
	for _, t := range trees {
		m, is := t.(*mapping)
		if items, listed := t.([]any); listed {
			m, is = named(items)
		}
		if !is {
			return nil, false
		}
		list = append(list, m)
	}
	return list, len(list) > 0
}

func unionOfKeys(list []*mapping) (keys []string) {
	seen := map[string]bool{}
	for _, m := range list {
		for _, k := range m.keys {
			if !seen[k] {
				seen[k] = true
				keys = append(keys, k)
			}
		}
	}
	return keys
}
