package main

import (
	"fmt"
	"io"
	"math"
	"strings"

	"weir/internal/plaintext"
	"weir/pipeline"
)

// printEvaluation shows the figures by group, and the notes that a reader must know:
// what is undefined or not computed, and why.
func printEvaluation(w io.Writer, e evaluation, all bool) error {
	var b strings.Builder
	hidden := 0
	b.WriteString(e.rows())
	for _, g := range e.groups {
		whole, worst, rest := g.shown(all)
		beside := g.beside(whole)
		fmt.Fprintf(&b, "\n%s\n", strings.TrimRight(fmt.Sprintf("%-46s %-12s%s", g.name, "synthetic", heads(beside)), " "))
		for _, m := range whole {
			g.line(&b, m, beside)
		}
		if len(worst) > 0 {
			b.WriteString("  where it is worst\n")
		}
		for _, m := range worst {
			g.line(&b, m, nil)
		}
		hidden += rest
	}
	b.WriteString("\n")
	for _, n := range e.Notes {
		if all || e.vital(n) {
			fmt.Fprintf(&b, "note: %s\n", plaintext.Text(strings.ReplaceAll(n, "\n", "; ")))
		}
	}
	if hidden > 0 {
		fmt.Fprintf(&b, "%d more figures, of columns, pairs and categories, and what each figure is: --all shows them, --json gives everything\n", hidden)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// rows says once how many rows were compared.
func (e *evaluation) rows() string {
	var list []string
	for _, g := range e.groups {
		for _, m := range g.metrics {
			if f, _, _ := g.declared.Find(m.Name); f.Rows {
				list = append(list, fmt.Sprintf("%s %.0f", m.Column, m.Value))
			}
		}
		if len(list) > 0 {
			return "rows: " + strings.Join(list, ", ") + "\n"
		}
	}
	return ""
}

func heads(beside []pipeline.Role) string {
	var b strings.Builder
	for _, role := range beside {
		fmt.Fprintf(&b, " %-12s", role)
	}
	return b.String()
}

// line is a figure with those beside it and its interval.
func (g evaluated) line(b *strings.Builder, m pipeline.Metric, beside []pipeline.Role) {
	text := fmt.Sprintf("  %-44s %-12s", plaintext.Text(m.Key()), value(m))
	for _, role := range beside {
		other, ok := g.find(role.Name(m.Name), m.Column)
		if !ok {
			text += fmt.Sprintf(" %-12s", "")
			continue
		}
		text += fmt.Sprintf(" %-12s", value(other))
	}
	lower, upper, _ := g.declared.Ends(m.Name)
	low, one := g.find(lower, m.Column)
	high, other := g.find(upper, m.Column)
	if one && other && !math.IsNaN(low.Value+high.Value) {
		text += fmt.Sprintf(" 95 %%: %s to %s", value(low), value(high))
	}
	b.WriteString(strings.TrimRight(text, " ") + "\n")
}

func value(m pipeline.Metric) string {
	if math.IsNaN(m.Value) || math.IsInf(m.Value, 0) {
		return "undefined"
	}
	if math.Abs(m.Value) >= 1e5 && math.Abs(m.Value) < 1e12 {
		return fmt.Sprintf("%.0f", m.Value)
	}
	return fmt.Sprintf("%.5g", m.Value)
}

func noteOf(key string, m pipeline.Metric) string { return key + ": " + m.Note }

// vital reports whether a note is of a table, a group, or a figure of whole tables that
// is undefined.
func (e *evaluation) vital(note string) bool {
	for _, g := range e.groups {
		if !strings.HasPrefix(note, g.name+".") {
			continue
		}
		for _, m := range g.metrics {
			if m.Column == "" && math.IsNaN(m.Value) && note == noteOf(g.name+"."+m.Key(), m) {
				return true
			}
		}
		return false
	}
	return true
}
