package pipeline

import (
	"fmt"
	"strings"
)

// DOT draws the plan's DAG in the language of Graphviz.
func (p *Plan) DOT() string {
	var b strings.Builder
	fmt.Fprintf(&b, "digraph %q {\n  rankdir=LR;\n  node [shape=box, style=filled, fontname=\"sans-serif\"];\n", p.Name)
	fmt.Fprintf(&b, "  %q [label=%q, shape=cylinder, fillcolor=%q];\n", DatasetID, p.sourceName(), fill(Private))
	for _, s := range p.Steps {
		form := "box"
		if len(s.Events) > 0 {
			form = "hexagon"
		}
		fmt.Fprintf(&b, "  %q [label=%q, shape=%s, fillcolor=%q];\n", s.ID, s.label(), form, fill(s.Class))
	}
	p.edges(func(from, to, label string) {
		fmt.Fprintf(&b, "  %q -> %q [label=%q];\n", from, to, label)
	})
	b.WriteString("}\n")
	return b.String()
}

func fill(c Class) string {
	switch c {
	case Private:
		return "#fde8e8"
	case Released:
		return "#e7f6ec"
	}
	return "#eef4ff"
}
