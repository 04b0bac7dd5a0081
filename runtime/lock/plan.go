package lock

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"weir/pipeline/compile"
	"weir/privacy"
)

// Planned returns the entries of a spec that are known without data: its parts, its stages
// and the version of the program. Where the dataset lies is not part of them, and of a
// further file the name without its folder is: both differ between machines.
func Planned(spec string, plan *compile.Plan, weir string) ([]Entry, error) {
	parts, err := partsOf(plan)
	if err != nil {
		return nil, err
	}
	list := []Entry{{Spec: spec, What: Weir, Is: []string{weir}}}
	for i := 0; i+1 < len(parts.Content); i += 2 {
		name, value := parts.Content[i].Value, parts.Content[i+1]
		if name == "stages" {
			continue
		}
		if name == "dataset" {
			for _, place := range plan.Spec.Dataset.Places() {
				value = without(value, place)
			}
		}
		actual, err := digestOf(value)
		if err != nil {
			return nil, err
		}
		list = append(list, Entry{Spec: spec, What: Part, Names: []string{name}, Is: []string{actual}})
	}
	return stages(list, spec, plan, field(parts, "stages"))
}

// stages adds an entry for each stage.
func stages(list []Entry, spec string, plan *compile.Plan, settings *yaml.Node) ([]Entry, error) {
	for i := range plan.Steps {
		step := &plan.Steps[i]
		subject := field(settings, step.ID)
		if subject == nil {
			return nil, fmt.Errorf("stage %s: is not in the canonical spec", step.ID)
		}
		if file := field(subject, "file"); file != nil && file.Kind == yaml.ScalarNode {
			file.Value = path.Base(file.Value)
		}
		actual, err := digestOf(subject)
		if err != nil {
			return nil, err
		}
		list = append(list, Entry{Spec: spec, What: Stage, Names: []string{step.ID},
			Is: []string{step.Kind, strconv.Itoa(step.Version), actual}})
	}
	return list, nil
}

// partsOf returns the canonical spec as a mapping.
func partsOf(plan *compile.Plan) (*yaml.Node, error) {
	text, err := plan.Spec.Canonical()
	if err != nil {
		return nil, err
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	return doc.Content[0], nil
}

// digestOf returns the digest of a part, or what it is where that is a word.
func digestOf(n *yaml.Node) (string, error) {
	if n.Kind == yaml.ScalarNode {
		return n.Value, nil
	}
	text, err := yaml.Marshal(n)
	return privacy.Digest(text), err
}

// field returns the value of a key of a mapping, or nil.
func field(mapping *yaml.Node, key string) *yaml.Node {
	for i := 0; mapping != nil && i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return mapping.Content[i+1]
		}
	}
	return nil
}

// without returns a mapping that lacks what a path of keys leads to.
func without(mapping *yaml.Node, path string) *yaml.Node {
	less := *mapping
	less.Content = nil
	first, rest, nested := strings.Cut(path, ".")
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		key, value := mapping.Content[i], mapping.Content[i+1]
		if key.Value == first && !nested {
			continue
		}
		if key.Value == first {
			value = without(value, rest)
		}
		less.Content = append(less.Content, key, value)
	}
	return &less
}
