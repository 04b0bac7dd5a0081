package report

import (
	"cmp"
	"fmt"
	"math"
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

// loss is one of the columns that changed most.
type loss struct {
	Name    string
	Value   float64
	Percent int // width of its bar
	What    string
}

// losses lists the n columns with the largest total variation, by the table of
// columns, or, where the page has none, by the first stage that measured it.
func (r *Report) losses(n int) (list []loss, by string) {
	for _, c := range r.Columns {
		if !math.IsNaN(c.TotalVariation) {
			list = append(list, loss{Name: c.Name, Value: c.TotalVariation, What: c.change()})
		}
	}
	if len(list) > 0 {
		return worst(list, n), r.Variation
	}
	for _, g := range r.Groups {
		for _, f := range g.Figures {
			if d, p, _ := g.Declared.Find(f.Name); d.Loss && p.Itself() && f.Column != "" && !math.IsNaN(f.Value) {
				list = append(list, loss{Name: f.Column, Value: f.Value})
			}
		}
		if len(list) > 0 {
			return worst(list, n), "as stage " + g.Stage + " measures it"
		}
	}
	return nil, ""
}

func worst(list []loss, n int) []loss {
	values := make([]float64, len(list))
	for i, l := range list {
		values[i] = l.Value
	}
	var out []loss
	for _, i := range ranked(values)[:min(n, len(list))] {
		l := list[i]
		l.Percent = int(math.Round(100 * math.Min(1, l.Value)))
		out = append(out, l)
	}
	return out
}

// change says in words how a column moved.
func (c Column) change() string {
	switch {
	case len(c.Real) == 0 || len(c.Synthetic) == 0:
		return "no values in one of the tables"
	case math.Abs(c.RealMissing-c.SyntheticMissing) > 0.05:
		return "missing " + percent(c.RealMissing) + " → " + percent(c.SyntheticMissing)
	case len(c.Labels) > 0:
		return c.moved()
	}
	return fmt.Sprintf("mean %s → %s, sd %s → %s", c.Show(c.RealSummary.Mean), c.Show(c.SynSummary.Mean),
		c.Spread(c.RealSummary.SD), c.Spread(c.SynSummary.SD))
}

// moved names the category whose share changed most.
func (c Column) moved() string {
	best := 0
	for i := range c.Labels {
		if math.Abs(valueAt(c.Real, i)-valueAt(c.Synthetic, i)) > math.Abs(valueAt(c.Real, best)-valueAt(c.Synthetic, best)) {
			best = i
		}
	}
	return fmt.Sprintf("%s: %s → %s", c.Labels[best], percent(valueAt(c.Real, best)), percent(valueAt(c.Synthetic, best)))
}
