package main

import (
	"cmp"
	"math"
	"slices"

	"weir/pipeline"
)

// mostWorst columns or pairs of a figure are shown unless all are asked for.
const mostWorst = 5

// shown are the figures of whole tables, without those that stand beside them (ends of
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

// worstOf are a figure, and that of real rows, for the parts whose value, or distance from that
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

// standsBeside reports whether a figure is the end of an interval, or that of another
// table, and so stands beside another figure.
func (g evaluated) standsBeside(m pipeline.Metric) bool {
	f, place, _ := g.declared.Find(m.Name)
	_, whole := g.find(cmp.Or(place.Of, f.Name), m.Column)
	return !place.Itself() && whole
}

// beside are the roles of which any of the figures has a reference.
func (g evaluated) beside(list []pipeline.Metric) (found []pipeline.Role) {
	for _, role := range pipeline.Roles() {
		if slices.ContainsFunc(list, func(m pipeline.Metric) bool { _, ok := g.find(role.Name(m.Name), m.Column); return ok }) {
			found = append(found, role)
		}
	}
	return found
}

func (g evaluated) find(name, column string) (pipeline.Metric, bool) {
	m, ok := g.index[[2]string{name, column}]
	return m, ok
}

// indexed finds figures by name and part.
func indexed(list []pipeline.Metric) map[[2]string]pipeline.Metric {
	index := map[[2]string]pipeline.Metric{}
	for _, m := range list {
		index[[2]string{m.Name, m.Column}] = m
	}
	return index
}
