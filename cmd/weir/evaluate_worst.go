package main

import (
	"cmp"
	"math"
	"slices"
	"strings"

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
		switch of := parts[m.Name]; {
		case g.standsBeside(m) || m.Name == "rows" || hasFew(g.name) && m.Column != "" && of == 2:
		case all || m.Column == "" || hasFew(g.name) && of <= mostWorst+1:
			whole = append(whole, m)
		default:
			others = append(others, m)
		}
	}
	for _, names := range ranking()[g.name] {
		worst = append(worst, worstOf(others, names)...)
	}
	return whole, worst, len(others) - len(worst)
}

// hasFew reports whether a group's figures are of learners, quantiles or components.
func hasFew(group string) bool {
	return slices.Contains([]string{"downstream", "disclosure", "projection"}, group)
}

// ranking names, by group, the figures of columns and pairs of which a large one is
// bad, or two figures whose difference is.
func ranking() map[string][][]string {
	return map[string][][]string{
		"marginals":                 {{"total_variation"}, {"total_variation_2way"}, {"total_variation_3way"}},
		"associations":              {{"mixed_real", "mixed_synthetic"}},
		"dimension_wise_prediction": {{"real", "synthetic"}},
		"disclosure":                {{"attribute_inference_advantage"}},
		"regression_discovery":      {{"coefficient_real", "coefficient_synthetic"}},
	}
}

// worstOf are the figures of these names for the parts whose value, or difference, is
// largest.
func worstOf(list []pipeline.Metric, names []string) (worst []pipeline.Metric) {
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

// besides are the suffixes of the same figure of other tables, and of the commonest class.
func besides() []string { return []string{"_real_train", "_independent", "_baseline", "_majority"} }

// standsBeside reports whether a figure is the end of an interval, or that of another
// table, and so stands beside another figure.
func (g evaluated) standsBeside(m pipeline.Metric) bool {
	for _, suffix := range append(besides(), "_low", "_high") {
		if base, is := strings.CutSuffix(m.Name, suffix); is {
			if of, ok := g.find(base, m.Column); ok {
				return !g.standsBeside(of) || suffix == "_low" || suffix == "_high"
			}
		}
	}
	return false
}

// beside are the suffixes that any of the figures has.
func (g evaluated) beside(list []pipeline.Metric) (found []string) {
	for _, suffix := range besides() {
		if slices.ContainsFunc(list, func(m pipeline.Metric) bool { _, ok := g.find(m.Name+suffix, m.Column); return ok }) {
			found = append(found, suffix)
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
