package schema

import (
	"fmt"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// found describes a value in words: its sort and, shortened, what it is.
func found(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return foundMapping(n)
	case yaml.SequenceNode:
		return foundList(len(n.Content))
	case yaml.AliasNode:
		return "an alias"
	}
	switch {
	case n.Tag == "!!null" && n.Value == "":
		return "left empty"
	case n.Tag == "!!null":
		return "null"
	case n.Tag == "!!str" && n.Value == "":
		return "empty text"
	case n.Tag == "!!str":
		return "the text " + quoteShort(n.Value)
	}
	return shorten(n.Value)
}

func foundList(items int) string {
	switch items {
	case 0:
		return "an empty list"
	case 1:
		return "a list of 1 item"
	}
	return fmt.Sprintf("a list of %d items", items)
}

func foundMapping(n *yaml.Node) string {
	switch len(n.Content) {
	case 0:
		return "an empty mapping"
	case 2:
		return "a mapping with the key " + shorten(n.Content[0].Value)
	}
	var keys []string
	for i := 0; i < min(len(n.Content), 20); i += 2 {
		keys = append(keys, n.Content[i].Value)
	}
	return "a mapping with the keys " + shorten(strings.Join(keys, ", "))
}

// quoteShort quotes a text so that the quotation has at most maxQuoted characters.
func quoteShort(s string) string {
	q := []rune(strconv.Quote(cut(s)))
	if len(q) <= maxQuoted {
		return string(q)
	}
	return strings.TrimRight(string(q[:maxQuoted-2]), `\`) + `…"`
}
