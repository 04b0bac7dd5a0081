package report

import (
	"fmt"
	"math"
	"strings"
)

// direction says which values of a measure are good.
type direction int

const (
	lower  direction = iota // 0 is best
	higher                  // best is best
	half                    // 0.5 is best: nobody can tell
)

// measure is a metric that the page can judge. good and fair bound its value
// where no floor or ceiling stands beside it. They are conventions of this page:
// no standard fixes them.
type measure struct {
	label        string
	better       direction
	best, chance float64 // chance: the value of a table that has nothing to tell; NaN where none is known
	good, fair   float64
}

// measures lists what is judged, by name or by kind.name.
func measures() map[string]measure {
	unknown := math.NaN()
	distance := func(label string, good, fair float64) measure {
		return measure{label: label, better: lower, chance: unknown, good: good, fair: fair}
	}
	skill := func(label string, chance float64) measure {
		return measure{label: label, better: higher, best: 1, chance: chance, good: unknown, fair: unknown}
	}
	unseen := func(label string) measure {
		return measure{label: label, better: half, best: 0.5, chance: unknown, good: 0.05, fair: 0.2}
	}
	return map[string]measure{
		"total_variation":                distance("Columns: total variation", 0.05, 0.15),
		"l1":                             distance("Columns: L1 distance", 0.1, 0.3),
		"ks_statistic":                   distance("Columns: Kolmogorov-Smirnov distance", 0.05, 0.15),
		"jensenshannon_distance_nats":    distance("Columns: Jensen-Shannon distance", 0.1, 0.25),
		"hellinger":                      distance("Columns: Hellinger distance", 0.05, 0.15),
		"mean_absolute_difference":       distance("Associations: mean difference", 0.03, 0.1),
		"association_mean_difference":    distance("Associations: mean difference", 0.03, 0.1),
		"auroc":                          skill("Learning: AUROC on real rows", 0.5),
		"average_precision":              skill("Learning: average precision on real rows", unknown),
		"accuracy":                       skill("Learning: accuracy on real rows", unknown),
		"r2":                             skill("Learning: R² on real rows", 0),
		"detectability.auroc":            unseen("Detectability: AUROC of real against synthetic"),
		"detectability.classifier_auroc": unseen("Detectability: AUROC of real against synthetic"),
		"disclosure.membership_auroc":    unseen("Membership attack: AUROC"),
		"disclosure.auroc":               unseen("Membership attack: AUROC"),
		"dimension_wise_prediction.mean_absolute_difference": distance("Prediction of each column: mean difference", 0.03, 0.1),
	}
}

// companions are the suffixes of metrics that stand beside another as its floor
// or ceiling, and what they are.
func companions() []struct{ suffix, what string } {
	return []struct{ suffix, what string }{
		{"_real_train", "ceiling: learnt from real rows"}, {"_ceiling", "ceiling"},
		{"_floor", "floor: real against real rows"}, {"_holdout", "floor: real against real rows"}, {"_real", "floor: real against real rows"},
		{"_independent", "independent columns"}, {"_baseline", "independent columns"},
	}
}

// verdict is one row of the first screen's table.
type verdict struct {
	Label, Stage, Value, Beside, Word, Why string
}

const (
	kept   = "kept"
	partly = "partly kept"
	lost   = "lost"
	open   = "no verdict"
)

// verdicts judges the figures about whole tables that the page knows.
func (r *Report) verdicts() []verdict {
	var list []verdict
	for _, g := range r.Groups {
		for _, f := range g.Figures {
			if m, ok := g.measure(f); ok {
				list = append(list, g.judge(f, m))
			}
		}
	}
	return list
}

func (g Group) measure(f Figure) (measure, bool) {
	all := measures()
	if f.Column != "" {
		return measure{}, false
	}
	if m, ok := all[g.Kind+"."+f.Name]; ok {
		return m, true
	}
	m, ok := all[f.Name]
	return m, ok
}

// value of the named figure about whole tables; NaN where there is none.
func (g Group) value(name string) float64 {
	for _, f := range g.Figures {
		if f.Name == name && f.Column == "" {
			return f.Value
		}
	}
	return math.NaN()
}

func (g Group) judge(f Figure, m measure) verdict {
	v := verdict{Label: m.label, Stage: g.Stage, Value: number(f.Value)}
	var beside []string
	reference, baseline := math.NaN(), m.chance
	for _, c := range companions() {
		x := g.value(f.Name + c.suffix)
		if math.IsNaN(x) {
			continue
		}
		beside = append(beside, c.what+" "+number(x))
		if strings.HasPrefix(c.what, "independent") {
			baseline = x
		} else if math.IsNaN(reference) {
			reference = x
		}
	}
	if !math.IsNaN(m.chance) {
		beside = append(beside, "chance "+number(m.chance))
	}
	v.Beside = strings.Join(beside, "; ")
	if v.Beside == "" {
		v.Beside = "no floor was computed"
	}
	v.Word, v.Why = m.word(f, reference, baseline)
	return v
}

// word judges a value between what is reachable (reference) and what is
// worthless (baseline), or by the page's own bounds.
func (m measure) word(f Figure, reference, baseline float64) (word, why string) {
	switch {
	case math.IsNaN(f.Value):
		return open, orText(f.Note, "undefined")
	case m.better == higher && math.IsNaN(reference):
		return open, "needs a ceiling: connect real_train"
	case m.better != half && !math.IsNaN(reference) && !math.IsNaN(baseline) && math.Abs(reference-baseline) > 1e-9:
		share := (f.Value - baseline) / (reference - baseline)
		return grade(1-share, 0.1, 0.4), fmt.Sprintf("%s of the way from worthless to real rows", percent(share))
	case m.better == higher:
		return grade(reference-f.Value, 0.02, 0.1), number(reference-f.Value) + " below real rows"
	case m.better == half:
		return grade(math.Abs(f.Value-0.5), m.good, m.fair), "0.5 is a coin's guess"
	}
	return grade(f.Value, m.good, m.fair), fmt.Sprintf("kept up to %s, partly up to %s: this page's convention", number(m.good), number(m.fair))
}

// grade of a loss.
func grade(loss, good, fair float64) string {
	switch {
	case loss <= good:
		return kept
	case loss <= fair:
		return partly
	}
	return lost
}

func orText(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// loss is one of the columns that changed most.
type loss struct {
	Name    string
	Value   float64
	Percent int // width of its bar
	What    string
}

// losses lists the n columns with the largest distance: by the figures of the
// metric stages where they have total variations by column, else by the bars of
// this page.
func (r *Report) losses(n int) (list []loss, by string) {
	for _, g := range r.Groups {
		for _, f := range g.Figures {
			if f.Name == "total_variation" && f.Column != "" && !math.IsNaN(f.Value) {
				list = append(list, loss{Name: f.Column, Value: f.Value})
			}
		}
		if len(list) > 0 {
			return worst(list, n), "total variation by stage " + g.Stage
		}
	}
	for _, c := range r.Columns {
		if d := c.Distance(); !math.IsNaN(d) {
			list = append(list, loss{Name: c.Name, Value: d, What: c.change()})
		}
	}
	return worst(list, n), "total variation between the bars below"
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
	return fmt.Sprintf("mean %s → %s, sd %s → %s", number(c.RealSummary.Mean), number(c.SynSummary.Mean), number(c.RealSummary.SD), number(c.SynSummary.SD))
}

// moved names the category whose share changed most.
func (c Column) moved() string {
	best := 0
	for i := range c.Labels {
		if math.Abs(at(c.Real, i)-at(c.Synthetic, i)) > math.Abs(at(c.Real, best)-at(c.Synthetic, best)) {
			best = i
		}
	}
	return fmt.Sprintf("%s: %s → %s", c.Labels[best], percent(at(c.Real, best)), percent(at(c.Synthetic, best)))
}
