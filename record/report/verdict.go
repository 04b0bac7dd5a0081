package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"weir/pipeline"
)

// verdict is one row of the first screen's table.
type verdict struct {
	Label, Stage, Name, Value, Interval, Beside, Word, Why, Note string
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
// below real rows) to what is lost (0.1 below): with fewer rows the verdict would be chance.
const leastRows = 200

// verdicts judges the figures about whole tables that are declared to have a verdict.
func (r *Report) verdicts() []verdict {
	var list []verdict
	for _, g := range r.Groups {
		few := g.tooFew()
		if !g.counted() {
			few = r.Tables.tooFew()
		}
		for _, f := range g.Figures {
			m, ok := g.measure(f)
			switch {
			case !ok:
				continue
			case m.Better == pipeline.BetterChance:
				list = append(list, g.judgeAttack(f, m, few))
			default:
				list = append(list, g.judge(f, m, few).in(r.Privacy))
			}
		}
	}
	return notedOnce(list)
}

// notedOnce leaves the note of several figures of a stage, such as columns that are left out, to the first of them.
func notedOnce(list []verdict) []verdict {
	type note struct{ stage, text string }
	known := map[note]bool{}
	for i := range list {
		n := note{list[i].Stage, list[i].Note}
		if known[n] {
			list[i].Note = ""
		}
		known[n] = true
	}
	return list
}

// stopped ends a sentence with a full stop, where it has none.
func stopped(s string) string {
	if s == "" || strings.HasSuffix(s, ".") {
		return s
	}
	return s + "."
}

// Word is the verdict of one figure, and why it is that.
type Word struct{ Word, Why string }

// Open reports whether there is no verdict.
func (w Word) Open() bool { return w.Word == open }

// Words returns the verdict of each figure about whole tables that is declared to have one, by stage and name of the
// figure, as the page of a run with this privacy has it.
func Words(groups []Group, p Privacy) map[[2]string]Word {
	words := map[[2]string]Word{}
	for _, v := range (&Report{Groups: groups, Privacy: p}).verdicts() {
		words[[2]string{v.Stage, v.Name}] = Word{v.Word, v.Why}
	}
	return words
}

// in returns the verdict in words that hold for a table of the privacy.
func (v verdict) in(p Privacy) verdict {
	v.Beside, v.Why = p.withoutBaseline(v.Beside), p.withoutBaseline(v.Why)
	return v
}

// counted reports whether the stage says how many rows its tables have.
func (g Group) counted() bool {
	return slices.ContainsFunc(g.Figures, func(f Figure) bool {
		d, p, _ := g.Declared.Find(f.Name)
		return d.Rows && p.Itself()
	})
}

// tooFew says which table of the stage has too few rows for a verdict; "" where none has.
func (g Group) tooFew() string {
	for _, f := range g.Figures {
		if d, p, _ := g.Declared.Find(f.Name); d.Rows && p.Itself() && f.Value < leastRows {
			return fmt.Sprintf("%s has %s rows, a verdict needs %d", f.Column, Number(f.Value), leastRows)
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

// measure returns the declaration of a figure about whole tables that has a verdict.
func (g Group) measure(f Figure) (measure, bool) {
	d, p, _ := g.Declared.Find(f.Name)
	if f.Column != "" || !p.Itself() || d.Verdict == nil {
		return measure{}, false
	}
	return measure{d, *d.Verdict}, true
}

// value returns the value of the named figure about whole tables; NaN where there is none.
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
	v := verdict{Label: m.Label, Stage: g.Stage, Name: f.Name, Value: Number(f.Value), Note: f.Note,
		Interval: g.intervals()[[2]string{f.Name, ""}], Beside: strings.Join(s.beside, "; ")}
	switch {
	case math.IsNaN(f.Value):
		v.Word, v.Why, v.Note = open, cmp.Or(f.Note, "undefined"), ""
	case few != "":
		v.Word, v.Why = open, few
	case g.nothingToLearn(m):
		v.Word, v.Why = open, "learnt from real rows it is no better than always guessing the commonest, so that it tells "+
			"nothing; the AUROC decides"
	case g.chanceTaught(m):
		v.Word, v.Why = open, "learnt from real rows it is hardly better than chance, so that there is nothing to keep"
	default:
		v.Word, v.Why = m.word(f.Value, s)
		v.Why += doubt(v.Word, m, s)
	}
	return v
}

// nothingToLearn reports whether even real rows teach no more of a score than a guess gets.
func (g Group) nothingToLearn(m measure) bool {
	return g.reference(m, pipeline.RealTrain) <= g.reference(m, pipeline.Majority) // not where either is NaN
}

// chanceTaught reports whether real rows teach no score that is clearly above chance: a table cannot lose what they
// do not have, and luck on the test rows must not be called kept.
func (g Group) chanceTaught(m measure) bool {
	// not where it is NaN
	return m.Learnt && m.Chance != nil && g.reference(m, pipeline.RealTrain) <= *m.Chance+leastDistance
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
	chance := known(m.Chance)
	v := verdict{Label: m.Label, Stage: g.Stage, Name: f.Name, Value: Number(f.Value),
		Interval: g.intervals()[[2]string{f.Name, ""}], Beside: "chance " + Number(chance),
		Word: signs(f.Value-chance, m.Good, m.Fair), Why: "a weak attack: finding nothing is not evidence of privacy"}
	low, _ := g.ends(f.Name)
	switch {
	case math.IsNaN(f.Value):
		v.Word, v.Why = open, cmp.Or(f.Note, "undefined")
	case few != "" && !(low > chance):
		v.Word, v.Why = open, few
	case low <= chance:
		v.Word = quiet
	}
	return v
}

// ends returns the ends of the interval of a figure about whole tables; NaN where it has none.
func (g Group) ends(name string) (low, high float64) {
	lower, upper, may := g.Declared.Ends(name)
	if !may {
		return math.NaN(), math.NaN()
	}
	return g.value(lower), g.value(upper)
}

// intervals words the interval of each figure that has both ends, by name and column.
func (g Group) intervals() map[[2]string]string {
	values, out := map[[2]string]float64{}, map[[2]string]string{}
	for _, f := range g.Figures {
		values[[2]string{f.Name, f.Column}] = f.Value
	}
	for key := range values {
		lower, upper, may := g.Declared.Ends(key[0])
		low, one := values[[2]string{lower, key[1]}]
		high, other := values[[2]string{upper, key[1]}]
		if may && one && other && !math.IsNaN(low+high) {
			out[key] = Number(low) + " to " + Number(high)
		}
	}
	return out
}

// endOf returns the figure or reference that a name is an end of the interval of; "" for none.
func (g Group) endOf(name string) string {
	_, p, _ := g.Declared.Find(name)
	return p.Of
}
