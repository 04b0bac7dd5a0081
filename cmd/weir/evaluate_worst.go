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

// shown are the figures of whole tables, without the ends of intervals, which stand
// beside them; the worst of those that the group ranks; and how many others there are.
// Figures of few parts, such as learners, count as whole.
func (g evaluated) shown() (whole, worst []pipeline.Metric, rest int) {
	ends, parts := g.ends(), map[string]int{}
	for _, m := range g.metrics {
		parts[m.Name]++
	}
	var others []pipeline.Metric
	for _, m := range g.metrics {
		switch {
		case ends[m.Key()]:
		case m.Column == "" || m.Name == "rows" || hasFew(g.name) && parts[m.Name] <= mostWorst+1:
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

// ends are the keys of figures that are an end of the interval of another.
func (g evaluated) ends() map[string]bool {
	known, ends := map[string]bool{}, map[string]bool{}
	for _, m := range g.metrics {
		known[m.Key()] = true
	}
	for _, m := range g.metrics {
		for _, suffix := range []string{"_low", "_high"} {
			base, is := strings.CutSuffix(m.Name, suffix)
			if is && known[(pipeline.Metric{Name: base, Column: m.Column}).Key()] {
				ends[m.Key()] = true
			}
		}
	}
	return ends
}
