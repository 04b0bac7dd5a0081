package schema

import (
	"fmt"
	"regexp"

	"gopkg.in/yaml.v3"
)

// leadingZero matches numbers such as 014, which YAML 1.1 reads as octal 12 and YAML 1.2 as 14.
var leadingZero = regexp.MustCompile(`^[-+]?0[0-9_]`)

// strict walks the tree, records where each value's key is, makes keys and dates text, and reports
// every construct that Parse refuses.
func (d *Document) strict(n *yaml.Node, path string, depth int) []Problem {
	ps := d.refused(n, path)
	if depth > maxDepth {
		p := d.at(n, path)
		p.Path, p.Found, p.Accepted = "", "nested too deep", fmt.Sprintf("nested at most %d levels deep", maxDepth)
		ps, n.Content = []Problem{p}, nil
	}
	if ps != nil {
		d.bad[n] = true
		return ps
	}
	switch n.Kind {
	case yaml.MappingNode:
		return d.strictMapping(n, path, depth)
	case yaml.SequenceNode:
		for i, c := range n.Content {
			ps = append(ps, d.strict(c, under(path, i), depth+1)...)
		}
		return ps
	case yaml.ScalarNode:
		if n.Tag == "!!timestamp" {
			n.Tag = "!!str"
		}
	}
	return ps
}

// refused reports what is wrong with the node itself.
func (d *Document) refused(n *yaml.Node, path string) []Problem {
	p := d.at(n, path)
	switch {
	case n.Kind == yaml.AliasNode:
		p.Found, p.Accepted = "the alias *"+shorten(n.Value), "written out (aliases are not read)"
	case n.Anchor != "":
		p.Found, p.Accepted = "the anchor &"+shorten(n.Anchor), "a value without an anchor"
	case n.Style&yaml.TaggedStyle != 0:
		p.Found, p.Accepted = "the tag "+shorten(n.Tag), "a value without a tag"
	case n.Kind == yaml.ScalarNode && n.Tag == "!!float" && isNaN(n):
		p.Found, p.Accepted, p.Hint = "not a number ("+n.Value+")", "a number", "for the text write it in quotes"
	case n.Kind == yaml.ScalarNode && n.Style == 0 && isNumber(n) && leadingZero.MatchString(n.Value):
		p.Found, p.Accepted = shorten(n.Value)+", which some read as octal", "a number without leading zeros"
		p.Hint = "for the text write it in quotes"
	default:
		return nil
	}
	return []Problem{p}
}

// strictMapping drops a pair whose key is refused or repeated, so that the rest can still be checked.
func (d *Document) strictMapping(n *yaml.Node, path string, depth int) []Problem {
	var ps []Problem
	kept := n.Content[:0]
	first := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if p := d.refusedKey(k, path, first); p != nil {
			ps = append(ps, *p)
			continue
		}
		k.Tag, first[k.Value] = "!!str", k
		d.keys[v] = k
		kept = append(kept, k, v)
		ps = append(ps, d.strict(v, under(path, k.Value), depth+1)...)
	}
	n.Content = kept
	return ps
}

func (d *Document) refusedKey(k *yaml.Node, path string, first map[string]*yaml.Node) *Problem {
	p := d.at(k, path)
	const plain = "a key of plain text"
	switch {
	case k.Kind == yaml.ScalarNode && k.Tag == "!!merge":
		p.Found, p.Accepted = "the merge key <<", "keys written out"
	case k.Kind == yaml.AliasNode:
		p.Found, p.Accepted = "an alias as a key", plain
	case k.Kind != yaml.ScalarNode:
		p.Found, p.Accepted = found(k)+" as a key", plain
	case k.Anchor != "" || k.Style&yaml.TaggedStyle != 0:
		p.Found, p.Accepted = "an anchor or a tag on a key", plain
	case k.Tag == "!!null":
		p.Found, p.Accepted = "an empty key (null)", plain
	case first[k.Value] != nil:
		p.Path = under(path, k.Value)
		p.Found = fmt.Sprintf("a key that line %d already has", first[k.Value].Line)
		p.Accepted = "given once"
	default:
		return nil
	}
	return &p
}

func isNumber(n *yaml.Node) bool { return n.Tag == "!!int" || n.Tag == "!!float" }

func isNaN(n *yaml.Node) bool {
	var f float64
	return n.Decode(&f) == nil && f != f
}
