package show

import (
	"fmt"
	"strings"

	"weir/internal/plain"
	"weir/pipeline"
)

// DOT draws the plan's DAG in the language of Graphviz.
func DOT(p *pipeline.Plan) string {
	var b strings.Builder
	fmt.Fprintf(&b, "digraph %q {\n  rankdir=LR;\n  node [shape=box, style=filled, fontname=\"sans-serif\"];\n", p.Name)
	fmt.Fprintf(&b, "  %q [label=%q, shape=cylinder, fillcolor=%q];\n", pipeline.DatasetID, p.Dataset.Source.Name, fill(pipeline.Private))
	for _, s := range p.Steps {
		form := "box"
		if len(s.Events) > 0 {
			form = "hexagon"
		}
		fmt.Fprintf(&b, "  %q [label=%q, shape=%s, fillcolor=%q];\n", s.ID, label(s), form, fill(s.Class))
	}
	edges(p, func(from, to, label string) {
		fmt.Fprintf(&b, "  %q -> %q [label=%q];\n", from, to, label)
	})
	b.WriteString("}\n")
	return plain.Text(b.String())
}

func fill(c pipeline.Class) string {
	switch c {
	case pipeline.Private:
		return "#fde8e8"
	case pipeline.Released:
		return "#e7f6ec"
	}
	return "#eef4ff"
}
