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
	attack                  // at chance nothing was found, which proves nothing
)

// measure is a metric that the page can judge. good and fair bound its value
// where no floor or ceiling stands beside it. They are conventions of this page:
// no standard fixes them.
type measure struct {
	label         string
	better        direction
	chance, limit float64 // the value of a table that has nothing to tell, and the best one; NaN where none is known
	good, fair    float64
}

// measures lists what is judged, by name or by kind.name.
func measures() map[string]measure {
	unknown := math.NaN()
	distance := func(label string, good, fair float64) measure {
		return measure{label: label, better: lower, chance: unknown, limit: unknown, good: good, fair: fair}
	}
	skill := func(label string, chance float64) measure {
		return measure{label: label, better: higher, chance: chance, limit: unknown, good: unknown, fair: unknown}
	}
	found := func(label string, chance float64) measure {
		return measure{label: label, better: attack, chance: chance, limit: unknown, good: 0.02, fair: 0.1}
	}
	return map[string]measure{
		"total_variation":                                    distance("Columns: total variation", 0.05, 0.15),
		"total_variation_2way":                               distance("Pairs of columns: total variation", 0.1, 0.3),
		"total_variation_3way":                               distance("Triples of columns: total variation", 0.15, 0.4),
		"probability_mean_absolute_error":                    distance("Shares of categories: mean error", 0.02, 0.08),
		"mixed_mean_absolute_difference":                     distance("Associations of pairs: mean difference", 0.03, 0.1),
		"dimension_wise_prediction.mean_absolute_difference": distance("Predicting each column: mean difference", 0.03, 0.1),
		"auroc":                                 skill("Learning: AUROC on real rows", 0.5),
		"accuracy":                              skill("Learning: accuracy on real rows", unknown),
		"r2":                                    skill("Learning: R² on real rows", 0),
		"detectability.auroc":                   {label: "Telling real from synthetic: AUROC", better: half, chance: unknown, limit: unknown, good: 0.05, fair: 0.2},
		"regression_discovery.reproduced_share": {label: "Regression: discoveries reproduced", better: higher, limit: 1},
		"disclosure.membership_auroc":           found("Membership attack: AUROC", 0.5),
		"disclosure.closer_to_train":            found("Rows nearer to training than to held-out rows", 0.5),
		"disclosure.attribute_inference_advantage": found("Guessing a column of members: advantage", 0),
	}
}

// companions are the suffixes of metrics that stand beside another: what real
// rows reach, and what a table reaches whose columns are independent.
func companions() []struct {
	suffix, what string
	worthless    bool
} {
	return []struct {
		suffix, what string
		worthless    bool
	}{
		{"_ceiling", "ceiling (real against real rows)", false},
		{"_real_train", "ceiling (learnt from real rows)", false},
		{"_floor", "floor (independent columns)", true},
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
	quiet  = "no sign"
	hint   = "some sign"
	leak   = "clear sign"
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
	if m.better == attack {
		return g.judgeAttack(f, m)
	}
	v := verdict{Label: m.label, Stage: g.Stage, Value: number(f.Value)}
	var beside []string
	ceiling, floor := m.limit, m.chance
	for _, c := range companions() {
		x := g.value(f.Name + c.suffix)
		switch {
		case math.IsNaN(x):
			continue
		case c.worthless:
			floor = x
		default:
			ceiling = x
		}
		beside = append(beside, c.what+" "+number(x))
	}
	if !math.IsNaN(m.limit) {
		beside = append(beside, "best "+number(m.limit))
	} else if !math.IsNaN(m.chance) {
		beside = append(beside, "chance "+number(m.chance))
	}
	v.Beside = orText(strings.Join(beside, "; "), "no floor or ceiling")
	v.Word, v.Why = m.word(f, ceiling, floor)
	if m.better == lower && floor > 1.2*ceiling && f.Value > floor {
		v.Why = "worse than independent columns; " + v.Why
	}
	return v
}

// judgeAttack words a figure of disclosure. An advantage whose interval holds
// chance is no sign.
func (g Group) judgeAttack(f Figure, m measure) verdict {
	v := verdict{Label: m.label, Stage: g.Stage, Value: number(f.Value), Beside: "chance " + number(m.chance),
		Word: signs(f.Value-m.chance, m.good, m.fair), Why: "a weak attack: finding nothing is no evidence of privacy"}
	low, high := g.value(f.Name+"_low"), g.value(f.Name+"_high")
	if !math.IsNaN(low + high) {
		v.Beside += "; interval " + number(low) + " to " + number(high)
	}
	switch {
	case math.IsNaN(f.Value):
		v.Word, v.Why = open, orText(f.Note, "undefined")
	case low <= m.chance:
		v.Word = quiet
	}
	return v
}

// word judges a value between what real rows reach (ceiling) and what is
// worthless (floor), or by the page's own bounds.
func (m measure) word(f Figure, ceiling, floor float64) (word, why string) {
	switch {
	case math.IsNaN(f.Value):
		return open, orText(f.Note, "undefined")
	case m.better == higher && math.IsNaN(ceiling):
		return open, "needs a ceiling: connect real_train"
	case m.between(ceiling, floor):
		share := (f.Value - floor) / (ceiling - floor)
		return grade(1-share, 0.1, 0.4), percent(share) + " of the way from floor to ceiling"
	case m.better == higher:
		return grade(ceiling-f.Value, 0.02, 0.1), number(ceiling-f.Value) + " below the ceiling"
	case m.better == half:
		return grade(math.Abs(f.Value-0.5), m.good, m.fair), "0.5 is a coin's guess"
	}
	return grade(f.Value, m.good, m.fair), fmt.Sprintf("up to %s is kept, up to %s partly (this page's convention)", number(m.good), number(m.fair))
}

// between reports whether floor and ceiling span a scale: the floor has to be
// clearly worse, which independent columns are not where single columns are
// compared.
func (m measure) between(ceiling, floor float64) bool {
	switch {
	case math.IsNaN(ceiling + floor):
		return false
	case m.better == higher:
		return ceiling > floor+0.01
	}
	return m.better == lower && floor > 2*ceiling && floor > m.good
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

// signs of disclosure by an advantage over chance.
func signs(advantage, some, clear float64) string {
	switch grade(advantage, some, clear) {
	case kept:
		return quiet
	case partly:
		return hint
	}
	return leak
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
	changes := map[string]string{}
	for _, c := range r.Columns {
		changes[c.Name] = c.change()
	}
	for _, g := range r.Groups {
		for _, f := range g.Figures {
			if f.Name == "total_variation" && f.Column != "" && !math.IsNaN(f.Value) {
				list = append(list, loss{Name: f.Column, Value: f.Value, What: changes[f.Column]})
			}
		}
		if len(list) > 0 {
			return worst(list, n), "total variation by stage " + g.Stage
		}
	}
	for _, c := range r.Columns {
		if d := c.Distance(); !math.IsNaN(d) {
			list = append(list, loss{Name: c.Name, Value: d, What: changes[c.Name]})
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
