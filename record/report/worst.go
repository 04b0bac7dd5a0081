package report

import (
	"cmp"
	"slices"

	"weir/pipeline"
)

// part is a pair or triple of columns, or a rule, with what became of it.
type part struct{ Measure, Name, Value, Real, Note string }

// mostParts of a figure are listed.
const mostParts = 5

// marginals lists of each declared distance of several columns those that are furthest, with other real rows where the
// stage has them.
func (r *Report) marginals() (list []part) {
	for _, g := range r.Groups {
		for _, d := range g.Declared {
			if d.Worst && d.Better == pipeline.BetterLow && (d.Parts == "pair" || d.Parts == "triple") {
				list = append(list, g.parts(d, mostParts)...)
			}
		}
	}
	return list
}

// broken lists the rules that synthetic rows break, the most broken first, and how many rules were tried.
func (r *Report) broken() (list []part, tried int) {
	for _, g := range r.Groups {
		for _, d := range g.Declared {
			if d.Parts != "rule" || d.Real == "" {
				continue
			}
			for _, f := range g.Figures {
				if f.Name == d.Name && f.Column != "" {
					tried++
				}
			}
			list = append(list, g.parts(d, len(g.Figures))...)
		}
	}
	return list, tried
}

// parts returns the n greatest values of a figure above 0, in descending order.
func (g Group) parts(d pipeline.Figure, n int) (list []part) {
	var values []Figure
	for _, f := range g.Figures {
		if f.Name == d.Name && f.Column != "" && f.Value > 0 {
			values = append(values, f)
		}
	}
	slices.SortStableFunc(values, func(a, b Figure) int { return cmp.Compare(b.Value, a.Value) })
	for _, f := range values[:min(n, len(values))] {
		p := part{Measure: d.Doc, Name: f.Column, Value: Number(f.Value), Note: f.Note}
		if d.Verdict != nil {
			p.Measure = d.Verdict.Label
		}
		if i := slices.IndexFunc(g.Figures, func(o Figure) bool {
			return o.Name == d.Real &&
				o.Column == f.Column
		}); d.Real != "" && i >= 0 {
			p.Real = Number(g.Figures[i].Value)
		}
		list = append(list, p)
	}
	return list
}

// ShareOf names the category whose share the table of columns has in the place of a mean: of two the second, as
// of booleans, else the commonest of the real rows; "" for numbers.
func (c Column) ShareOf() string {
	if k := c.shown(); k >= 0 {
		return c.Labels[k]
	}
	return ""
}

func (c Column) shown() int {
	switch {
	case len(c.Labels) == 0:
		return -1
	case len(c.Labels) == 2:
		return 1
	case len(c.Real) == 0:
		return 0
	}
	return ranked(c.Real)[0]
}

// MeanReal writes the mean of the real rows, or the share of the category that ShareOf names.
func (c Column) MeanReal() string { return c.mean(c.RealSummary, c.Real) }

// MeanSynthetic writes the mean of the synthetic rows, or the share of the category that ShareOf names.
func (c Column) MeanSynthetic() string { return c.mean(c.SynSummary, c.Synthetic) }

func (c Column) mean(s Summary, shares []float64) string {
	switch k := c.shown(); {
	case k < 0:
		return c.Show(s.Mean)
	case len(shares) == 0:
		return "–"
	default:
		return percent(valueAt(shares, k))
	}
}
