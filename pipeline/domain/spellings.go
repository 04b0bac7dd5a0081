package domain

import (
	"gopkg.in/yaml.v3"

	"weir/schema"
)

// Spellings are values as a file writes them. In YAML they may stand without
// quotes where they look like numbers: [1, 2, 3] are the texts 1, 2 and 3.
type Spellings []string

// UnmarshalYAML keeps the spelling of every item.
func (s *Spellings) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.SequenceNode {
		return schema.NodeProblem(n, "a list of values")
	}
	list := make(Spellings, len(n.Content))
	for i, item := range n.Content {
		if item.Kind != yaml.ScalarNode || item.Tag == "!!null" {
			return schema.NodeProblem(item, "text or a number")
		}
		list[i] = item.Value
	}
	*s = list
	return nil
}

// JSONSchema is a list of texts, numbers and truth values.
func (Spellings) JSONSchema() map[string]any {
	return map[string]any{"type": "array", "items": map[string]any{"type": []any{"string", "number", "boolean"}}}
}
