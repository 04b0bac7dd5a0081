package words

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"weir/internal/plaintext"
	"weir/pipeline"
	"weir/privacy"
)

// DOT draws the plan's DAG in the language of Graphviz.
func DOT(p *pipeline.Plan) string {
	var b strings.Builder
	fmt.Fprintf(&b, "digraph %q {\n  rankdir=LR;\n  node [shape=box, style=filled, fontname=\"sans-serif\"];\n", p.Name)
	fmt.Fprintf(&b, "  %q [label=%q, shape=cylinder, fillcolor=%q];\n", pipeline.DatasetID, p.Dataset.Source.Name,
		fill(pipeline.Private))
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
	return plaintext.Text(b.String())
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

// Mermaid draws the plan's DAG as a Mermaid flowchart: private stages are
// boxes, paid ones hexagons, released ones rounded.
func Mermaid(p *pipeline.Plan) string {
	var b strings.Builder
	b.WriteString("flowchart LR\n")
	fmt.Fprintf(&b, "  %s[(%s)]:::private\n", pipeline.DatasetID, mermaidText(p.Dataset.Source.Name))
	for _, s := range p.Steps {
		open, shut := shape(s)
		fmt.Fprintf(&b, "  %s%s\"%s\"%s:::%s\n", s.ID, open, mermaidText(label(s)), shut, s.Class)
	}
	edges(p, func(source, target, label string) {
		if label != "" {
			label = "|" + label + "|"
		}
		fmt.Fprintf(&b, "  %s -->%s %s\n", source, label, target)
	})
	b.WriteString("  classDef private fill:#fde8e8,stroke:#b42318\n  classDef released fill:#e7f6ec,stroke:#14713d\n  " +
		"classDef public fill:#eef4ff,stroke:#1f4fa3\n")
	return plaintext.Text(b.String())
}

func shape(s *pipeline.Step) (open, shut string) {
	switch {
	case len(s.Events) > 0:
		return "{{", "}}"
	case s.Class == pipeline.Released:
		return "(", ")"
	}
	return "[", "]"
}

func mermaidText(s string) string { return strings.ReplaceAll(s, `"`, "'") }

// label returns the text of a stage in a drawing.
func label(s *pipeline.Step) string {
	text := s.ID
	if s.Kind != s.ID {
		text += ": " + s.Kind
	}
	if s.Alone != nil {
		text += fmt.Sprintf(" (epsilon %s)", privacy.Bound(*s.Alone))
	}
	return text
}

// edges calls f for every input of every step, in order.
func edges(p *pipeline.Plan, f func(from, to, label string)) {
	for _, s := range p.Steps {
		for _, port := range slices.Sorted(maps.Keys(s.Inputs)) {
			for _, r := range s.Inputs[port] {
				f(r.Stage, s.ID, edgeLabel(port, r))
			}
		}
	}
}

func edgeLabel(port string, r pipeline.Ref) string {
	switch {
	case r.Port != "":
		return r.Port
	case port != "in":
		return port
	}
	return ""
}
