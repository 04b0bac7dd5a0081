package schema

import (
	"strings"

	"gopkg.in/yaml.v3"
)

// valueHint says what was probably meant by a wrong value.
func valueHint(n *yaml.Node, rule *object) string {
	if n.Kind != yaml.ScalarNode {
		return ""
	}
	wants := map[string]bool{}
	var words []string
	gather(rule, wants, &words)
	low := strings.ToLower(n.Value)
	switch {
	case n.Tag == "!!str" && len(words) > 0:
		return didYouMean(n.Value, words)
	case n.Tag == "!!str" && wants["boolean"] && strings.Contains(" yes y on ", " "+low+" "):
		return "write true"
	case n.Tag == "!!str" && wants["boolean"] && strings.Contains(" no n off ", " "+low+" "):
		return "write false"
	case n.Tag == "!!str" && (wants["number"] || wants["integer"]) && looksNumeric(n):
		return "write the number without quotes"
	case n.Tag != "!!str" && n.Tag != "!!null" && wants["string"]:
		return "for the text write it in quotes"
	case wants["array"] && n.Tag != "!!null" && !wants["string"]:
		return "write [" + shorten(n.Value) + "]"
	}
	return ""
}

// gather collects the types and words that a schema accepts.
func gather(o *object, wants map[string]bool, words *[]string) {
	for _, t := range types(o) {
		wants[t] = true
	}
	enum, _ := o.get("enum").([]any)
	for _, v := range append(enum[:len(enum):len(enum)], o.get("const")) {
		if s, ok := v.(string); ok {
			*words = append(*words, s)
		}
	}
	for _, k := range []string{"anyOf", "oneOf"} {
		opts, _ := o.get(k).([]any)
		for _, opt := range opts {
			if c, ok := opt.(*object); ok {
				gather(c, wants, words)
			}
		}
	}
}

func looksNumeric(n *yaml.Node) bool {
	bare := yaml.Node{Kind: yaml.ScalarNode, Value: n.Value}
	t := bare.ShortTag()
	return n.Style != 0 && (t == "!!int" || t == "!!float")
}
