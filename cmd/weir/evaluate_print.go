package main

import (
	"fmt"
	"io"
	"math"
	"strings"

	"weir/internal/plain"
	"weir/pipeline"
)

// printEvaluation shows the figures by group, and the notes of what it shows.
func printEvaluation(w io.Writer, e evaluation, all bool) error {
	var b strings.Builder
	noted, hidden := map[string]bool{}, 0
	for i, g := range e.groups {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(g.name + "\n")
		show := func(m pipeline.Metric) {
			fmt.Fprintf(&b, "  %-46s %s%s\n", plain.Text(m.Key()), value(m), interval(e.Metrics, g.name+"."+m.Key()))
			noted[noteOf(g.name+"."+m.Key(), m)] = true
		}
		if all {
			each(e.groups[i].metrics, show)
			continue
		}
		whole, worst, rest := g.shown()
		each(whole, show)
		if len(worst) > 0 {
			b.WriteString("  worst:\n")
			each(worst, show)
		}
		hidden += rest
	}
	for _, n := range e.Notes {
		if all || noted[n] || !e.ofFigure(n) {
			fmt.Fprintf(&b, "note: %s\n", plain.Text(n))
		}
	}
	if hidden > 0 {
		fmt.Fprintf(&b, "%d more figures of columns, pairs and categories: --all shows them, --json gives everything\n", hidden)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func each(list []pipeline.Metric, do func(pipeline.Metric)) {
	for _, m := range list {
		do(m)
	}
}

func value(m pipeline.Metric) string {
	if math.IsNaN(m.Value) || math.IsInf(m.Value, 0) {
		return "undefined"
	}
	return fmt.Sprintf("%.6g", m.Value)
}

func noteOf(key string, m pipeline.Metric) string { return key + ": " + m.Note }

// ofFigure reports whether a note belongs to a figure, and not to a table or a group.
func (e *evaluation) ofFigure(note string) bool {
	for _, g := range e.groups {
		if strings.HasPrefix(note, g.name+".") {
			return true
		}
	}
	return false
}
