package evaluation

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"weir/internal/plaintext"
	"weir/pipeline"
)

// Text shows the figures by group, and the notes that a reader must know: what is undefined or not computed, and why.
// With all, every figure is shown.
func (e *Evaluation) Text(all bool) string {
	var b strings.Builder
	hidden := 0
	b.WriteString(e.rows())
	for _, g := range e.groups {
		whole, worst, rest := g.shown(all)
		roles := g.references(whole)
		fmt.Fprintf(&b, "\n%s\n", strings.TrimRight(fmt.Sprintf("%-46s %-12s%s", g.name, "synthetic", heads(roles)), " "))
		for _, m := range whole {
			g.line(&b, m, roles)
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
		fmt.Fprintf(&b, "%d more figures, of columns, pairs and categories, and what each figure is: --all shows them, "+
			"--json gives everything\n", hidden)
	}
	return b.String()
}

// rows says once how many rows were compared.
func (e *Evaluation) rows() string {
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

// line writes a figure with those beside it and its interval.
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
func (e *Evaluation) vital(note string) bool {
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

// mostWorst columns or pairs of a figure are shown unless all are asked for.
const mostWorst = 5

// shown returns the figures of whole tables, without those that stand beside them (ends of
// intervals, other tables, counts of rows); the worst of those that the group ranks; and
// how many others there are. Figures of few parts, such as learners, count as whole; a
// single part says what the whole says. With all, every figure counts as whole.
func (g evaluated) shown(all bool) (whole, worst []pipeline.Metric, rest int) {
	parts := map[string]int{}
	for _, m := range g.metrics {
		parts[m.Name]++
	}
	var others []pipeline.Metric
	for _, m := range g.metrics {
		f, _, _ := g.declared.Find(m.Name)
		switch of := parts[m.Name]; {
		case g.standsBeside(m) || f.Rows || f.Few && m.Column != "" && of == 2:
		case all || m.Column == "" || f.Few && of <= mostWorst+1:
			whole = append(whole, m)
		default:
			others = append(others, m)
		}
	}
	for _, f := range g.declared {
		if f.Worst {
			worst = append(worst, worstOf(others, f)...)
		}
	}
	return whole, worst, len(others) - len(worst)
}

// worstOf returns a figure, and its value for real rows, for the parts whose value, or distance from the value
// of real rows, is largest.
func worstOf(list []pipeline.Metric, f pipeline.Figure) (worst []pipeline.Metric) {
	names := []string{f.Name}
	if f.Real != "" {
		names = append(names, f.Real)
	}
	values := map[string][]float64{}
	var parts []string
	for _, m := range list {
		if slices.Contains(names, m.Name) && !math.IsNaN(m.Value) {
			values[m.Column] = append(values[m.Column], m.Value)
			if len(values[m.Column]) == len(names) {
				parts = append(parts, m.Column)
			}
		}
	}
	size := func(part string) float64 {
		v := append(values[part], 0)
		return math.Abs(v[0] - v[1])
	}
	slices.SortStableFunc(parts, func(a, b string) int { return cmp.Compare(size(b), size(a)) })
	for _, part := range parts[:min(mostWorst, len(parts))] {
		for _, m := range list {
			if m.Column == part && slices.Contains(names, m.Name) {
				worst = append(worst, m)
			}
		}
	}
	return worst
}

// standsBeside reports whether a figure is the end of an interval, or belongs to another
// table, and so stands beside another figure.
func (g evaluated) standsBeside(m pipeline.Metric) bool {
	f, place, _ := g.declared.Find(m.Name)
	_, whole := g.find(cmp.Or(place.Of, f.Name), m.Column)
	return !place.Itself() && whole
}

// references returns the roles of which any of the figures has a reference.
func (g evaluated) references(list []pipeline.Metric) (found []pipeline.Role) {
	for _, role := range pipeline.Roles() {
		if slices.ContainsFunc(list, func(m pipeline.Metric) bool {
			_, ok := g.find(role.Name(m.Name),
				m.Column)
			return ok
		}) {
			found = append(found, role)
		}
	}
	return found
}

func (g evaluated) find(name, column string) (pipeline.Metric, bool) {
	m, ok := g.index[[2]string{name, column}]
	return m, ok
}

// indexed returns an index of figures by name and column.
func indexed(list []pipeline.Metric) map[[2]string]pipeline.Metric {
	index := map[[2]string]pipeline.Metric{}
	for _, m := range list {
		index[[2]string{m.Name, m.Column}] = m
	}
	return index
}
