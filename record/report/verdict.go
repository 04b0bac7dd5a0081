package report

import (
	"cmp"
	"fmt"
	"math"
	"strings"
)

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
	v.Beside = cmp.Or(strings.Join(beside, "; "), "no floor or ceiling")
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
		v.Word, v.Why = open, cmp.Or(f.Note, "undefined")
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
		return open, cmp.Or(f.Note, "undefined")
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
