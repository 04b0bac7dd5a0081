package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// verdict is one row of the first screen's table.
type verdict struct {
	Label, Stage, Value, Interval, Beside, Word, Why string
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

// leastRows is the fewest rows of a table that a verdict is given for. The interval of
// 95 % of a share of 200 rows reaches 0.07 to either side, nearly from what is kept (0.02
// below real rows) to what is lost (0.1 below): of fewer rows chance would word it.
const leastRows = 200

// verdicts judges the figures about whole tables that the page knows.
func (r *Report) verdicts() []verdict {
	var list []verdict
	for _, g := range r.Groups {
		few := cmp.Or(g.tooFew(), r.Tables.tooFew())
		for _, f := range g.Figures {
			m, ok := g.measure(f)
			switch {
			case !ok:
				continue
			case m.better == attack:
				list = append(list, g.judgeAttack(f, m, few))
			default:
				list = append(list, g.judge(f, m, few))
			}
		}
	}
	return list
}

// tooFew says which table of the stage has too few rows for a verdict; "" where none has.
func (g Group) tooFew() string {
	for _, f := range g.Figures {
		if f.Name == "rows" && f.Value < leastRows {
			return fmt.Sprintf("%s has %s rows, a verdict needs %d", f.Column, number(f.Value), leastRows)
		}
	}
	return ""
}

func (t *Tables) tooFew() string {
	switch {
	case t == nil:
		return ""
	case t.RealRows < leastRows:
		return fmt.Sprintf("%s has %d rows, a verdict needs %d", t.Real, t.RealRows, leastRows)
	case t.SyntheticRows < leastRows:
		return fmt.Sprintf("%s has %d rows, a verdict needs %d", t.Synthetic, t.SyntheticRows, leastRows)
	}
	return ""
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

func (g Group) judge(f Figure, m measure, few string) verdict {
	s := g.scale(f, m)
	v := verdict{Label: m.label, Stage: g.Stage, Value: number(f.Value), Interval: g.intervals()[[2]string{f.Name, ""}], Beside: strings.Join(s.beside, "; ")}
	switch {
	case math.IsNaN(f.Value):
		v.Word, v.Why = open, cmp.Or(f.Note, "undefined")
	case few != "":
		v.Word, v.Why = open, few
	case g.nothingToLearn(f.Name):
		v.Word, v.Why = open, "learnt from real rows it is no better than always guessing the commonest, so that it tells nothing; the AUROC decides"
	default:
		v.Word, v.Why = m.word(f.Value, s)
		v.Why += doubt(v.Word, m, s)
	}
	return v
}

// nothingToLearn reports whether even real rows teach no more of a score than a guess gets.
func (g Group) nothingToLearn(name string) bool {
	return g.value(name+"_real_train") <= g.value(name+"_majority") // not where either is NaN
}

// doubt names the other words that the ends of the interval would get.
func doubt(word string, m measure, s scale) string {
	var others []string
	for _, end := range []float64{s.low, s.high} {
		if other, _ := m.word(end, s); !math.IsNaN(end) && other != word && !slices.Contains(others, other) {
			others = append(others, other)
		}
	}
	if len(others) == 0 {
		return ""
	}
	return "; its interval reaches to " + strings.Join(others, " and ")
}

// judgeAttack words a figure of disclosure. An advantage whose interval holds chance
// is no sign; few rows cannot clear a table, but they can convict it.
func (g Group) judgeAttack(f Figure, m measure, few string) verdict {
	v := verdict{Label: m.label, Stage: g.Stage, Value: number(f.Value), Interval: g.intervals()[[2]string{f.Name, ""}], Beside: "chance " + number(m.chance),
		Word: signs(f.Value-m.chance, m.good, m.fair), Why: "a weak attack: finding nothing is no evidence of privacy"}
	low := g.value(f.Name + "_low")
	switch {
	case math.IsNaN(f.Value):
		v.Word, v.Why = open, cmp.Or(f.Note, "undefined")
	case few != "" && !(low > m.chance):
		v.Word, v.Why = open, few
	case low <= m.chance:
		v.Word = quiet
	}
	return v
}

// intervals words the interval of each figure that has both ends, by name and column.
func (g Group) intervals() map[[2]string]string {
	low, known := map[[2]string]float64{}, map[[2]string]bool{}
	out := map[[2]string]string{}
	for _, f := range g.Figures {
		known[[2]string{f.Name, f.Column}] = true
	}
	for _, f := range g.Figures {
		base, end := endOf(f.Name)
		at := [2]string{base, f.Column}
		switch {
		case !end || !known[at] || math.IsNaN(f.Value):
		case strings.HasSuffix(f.Name, "_low"):
			low[at] = f.Value
		default:
			if from, ok := low[at]; ok {
				out[at] = number(from) + " to " + number(f.Value)
			}
		}
	}
	return out
}

// endOf is the figure that a name is an end of the interval of.
func endOf(name string) (base string, is bool) {
	if base, is = strings.CutSuffix(name, "_low"); is {
		return base, true
	}
	return strings.CutSuffix(name, "_high")
}
