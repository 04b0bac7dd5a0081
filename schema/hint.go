package schema

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
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
		return DidYouMean(n.Value, words)
	case n.Tag == "!!str" && wants["boolean"] && strings.Contains(" yes y on ", " "+low+" "):
		return "write true"
	case n.Tag == "!!str" && wants["boolean"] && strings.Contains(" no n off ", " "+low+" "):
		return "write false"
	case (wants["number"] || wants["integer"]) && tooLarge(n, rule):
		return "it is too large"
	case n.Tag == "!!str" && (wants["number"] || wants["integer"]) && looksNumeric(n):
		return "write the number without quotes"
	case n.Tag != "!!str" && n.Tag != "!!null" && wants["string"]:
		return "for the text write it in quotes"
	case wants["array"] && n.Tag != "!!null" && !wants["string"] && !ofMappings(rule):
		return "write [" + shorten(n.Value) + "]"
	}
	return ""
}

// ofMappings tells whether every item of a list must be a mapping, which no single value is.
func ofMappings(rule *object) bool {
	items, _ := rule.get("items").(*object)
	return items != nil && slices.Equal(types(items), []string{"object"})
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

// tooLarge tells numbers beyond float64, which YAML reads as text, and beyond the 64 bits of a whole number.
func tooLarge(n *yaml.Node, rule *object) bool {
	if f := rule.text("format"); isNumber(n) && (f == "int64" || f == "uint64") {
		v, ok := scalar(n).(json.Number)
		return ok && !isInt64(v) && !isUint64(v) || ok && f == "int64" && !isInt64(v)
	}
	_, err := strconv.ParseFloat(n.Value, 64)
	return n.Tag == "!!str" && n.Style == 0 && errors.Is(err, strconv.ErrRange)
}

func looksNumeric(n *yaml.Node) bool {
	bare := yaml.Node{Kind: yaml.ScalarNode, Value: n.Value}
	t := bare.ShortTag()
	return n.Style != 0 && (t == "!!int" || t == "!!float")
}
