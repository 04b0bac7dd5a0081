package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// mutant is one change of a model, named by its place.
type mutant struct {
	name  string
	value any // the whole description, changed
}

// mutants changes each value of a tree of JSON in turn, in each way that a value
// can be wrong: kind, size, sign, number of items, twice the same, not there.
func mutants(tree any) []mutant {
	var list []mutant
	walkJSON("", tree, func(path string, v any, set func(any)) {
		for _, w := range wrongs(v) {
			set(w.value)
			list = append(list, mutant{path + ": " + w.name, cloneJSON(tree)})
		}
		set(v)
	})
	return list
}

// walkJSON visits every value below a node. set replaces it where it stands.
func walkJSON(path string, node any, visit func(path string, v any, set func(any))) {
	switch n := node.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(n)) {
			v := n[k]
			visit(path+"."+k, v, func(w any) { n[k] = w })
			walkJSON(path+"."+k, v, visit)
		}
	case []any:
		for i, v := range n {
			if i > 1 && i < len(n)-1 {
				continue // the ends stand for the others
			}
			visit(fmt.Sprintf("%s[%d]", path, i), v, func(w any) { n[i] = w })
			walkJSON(fmt.Sprintf("%s[%d]", path, i), v, visit)
		}
	}
}

func cloneJSON(v any) any {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	var c any
	if err := json.Unmarshal(data, &c); err != nil {
		panic(err)
	}
	return c
}

// wrongs returns values that may stand in the place of v.
func wrongs(v any) []mutant {
	all := []mutant{{"null", nil}, {"list", []any{}}, {"object", map[string]any{}}, {"text", "\x1b[2J"}, {"minus one", -1},
		{"zero", 0}, {"1e18", 1e18}, {"2^62", 1 << 62}}
	switch v := v.(type) {
	case float64:
		return append(all, mutant{"one more", v + 1}, mutant{"one less", v - 1}, mutant{"half", v/2 + 0.25},
			mutant{"huge", 1e308}, mutant{"2^32", 1 << 32})
	case string:
		return append(all, mutant{"longer", v + "x"}, mutant{"empty", ""}, mutant{"long", strings.Repeat(v+"x", 1000)})
	case []any:
		if len(v) > 0 {
			twice := append(slices.Clone(v), v...)
			all = append(all, mutant{"twice", twice}, mutant{"one less", v[:len(v)-1]},
				mutant{"one more", append(slices.Clone(v), v[0])}, mutant{"a thousandfold", slices.Repeat(v, 1000)})
		}
	}
	return all
}

// opened replaces the parameters of each step, which are JSON in base64, by what they
// are; closed puts them back.
func opened(tree any) any {
	eachParams(tree, func(step map[string]any) {
		text, _ := step["params"].(string)
		data, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			panic(err)
		}
		var params any
		if err := json.Unmarshal(data, &params); err != nil {
			panic(err)
		}
		step["params"] = params
	})
	return tree
}

func closed(tree any) any {
	tree = cloneJSON(tree)
	eachParams(tree, func(step map[string]any) {
		data, err := json.Marshal(step["params"])
		if err != nil {
			panic(err)
		}
		step["params"] = base64.StdEncoding.EncodeToString(data)
	})
	return tree
}

func eachParams(tree any, do func(step map[string]any)) {
	root, _ := tree.(map[string]any)
	domain, _ := root["domain"].(map[string]any)
	history, _ := domain["history"].([]any)
	for _, one := range history {
		if step, ok := one.(map[string]any); ok {
			do(step)
		}
	}
}
