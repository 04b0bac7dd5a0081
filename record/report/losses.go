package report

import (
	"fmt"
	"math"
)

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
