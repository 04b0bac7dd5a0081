package report

import (
	"fmt"
	"math"
)

// scale is what stands beside a figure: what real rows reach, and what a table
// reaches that has nothing to tell.
type scale struct {
	best, worst float64 // NaN where unknown
	from, to    string  // worst and best in words
	baseline    float64 // of independent columns at the same epsilon
	low, high   float64 // interval of the figure
	beside      []string
}

// companion is a figure beside another, under its name and a suffix.
type companion struct{ suffix, what, learnt string }

// companions are the suffixes of metrics that stand beside another; learnt is what
// they are called beside a score.
func companions() []companion {
	return []companion{
		{"_real_train", "other real rows", "learnt from real rows"},
		{"_independent", "independent columns without noise", "learnt from independent columns without noise"},
		{"_baseline", "independent columns at the same epsilon", "learnt from independent columns at the same epsilon"},
		{"_majority", "the commonest class", "the commonest class"},
	}
}

// scale of a figure. What is worst is: for scores the commonest class, or chance; for
// distances of several columns independent columns, at the same epsilon where these
// are known. On single columns alone independent columns spend everything, so they
// are no lower end there.
func (g Group) scale(f Figure, m measure) scale {
	s := scale{best: m.limit, worst: m.chance, from: "chance", to: "the best", baseline: g.value(f.Name + "_baseline"),
		low: g.value(f.Name + "_low"), high: g.value(f.Name + "_high")}
	for _, c := range companions() {
		x := g.value(f.Name + c.suffix)
		if math.IsNaN(x) || c.suffix == "_independent" && !math.IsNaN(s.baseline) {
			continue // with noise they are the fairer comparison
		}
		what := c.what
		if m.better == higher {
			what = c.learnt
		}
		s.beside = append(s.beside, what+" "+number(x))
		switch {
		case c.suffix == "_real_train":
			s.best, s.to = x, map[bool]string{true: "what real rows teach", false: what}[m.better == higher]
		case m.better == higher && c.suffix == "_majority", m.better == lower && m.joint:
			s.worst, s.from = x, what
		}
	}
	switch {
	case !math.IsNaN(m.limit):
		s.beside = append(s.beside, "best "+number(m.limit))
	case !math.IsNaN(m.chance):
		s.beside = append(s.beside, "chance "+number(m.chance))
	}
	if len(s.beside) == 0 {
		s.beside = []string{"nothing"}
	}
	return s
}

// word judges a value by independent columns, between what is worst and best, or by
// the page's own bounds.
func (m measure) word(value float64, s scale) (word, why string) {
	switch {
	case m.better == higher && math.IsNaN(s.best):
		return open, "nothing to reach: connect real_train"
	case m.worse(value, s):
		return lost, "worse than independent columns at the same epsilon"
	case m.between(s):
		share := (value - s.worst) / (s.best - s.worst)
		return grade(1-share, 0.1, 0.4), way(share, s)
	case m.better == higher:
		return grade(s.best-value, 0.02, 0.1), number(s.best-value) + " below " + s.to
	case m.better == half:
		return grade(math.Abs(value-0.5), m.good, m.fair), "0.5 is a coin's guess"
	}
	if s.best > m.good { // false where unknown
		return open, "other real rows are as far as " + number(s.best) + " themselves, and up to " + number(m.good) + " is kept: of so few test rows chance would word it"
	}
	return grade(value, m.good, m.fair), fmt.Sprintf("up to %s is kept, up to %s partly (this page's convention)", number(m.good), number(m.fair))
}

// way says how far a value has come.
func way(share float64, s scale) string {
	switch {
	case share < 0:
		return "worse than " + s.from
	case share > 1:
		return "beyond " + s.to
	}
	return number(math.Floor(float64(100*share)+1e-9)) + " % of the way from " + s.from + " to " + s.to
}

// apart is how much worse than independent columns a distance must be to be called so:
// both are drawn at random.
const apart = 1.01

// worse reports whether a value is worse than independent columns at the same epsilon.
// Single columns must be far from the real ones too: all that an epsilon can give them
// is what independent columns have, and some of it is rightly spent on pairs. A score
// must be worse with its whole interval, since that of independent columns is luck.
func (m measure) worse(value float64, s scale) bool {
	switch {
	case math.IsNaN(s.baseline):
		return false
	case m.better == lower && m.joint:
		return value > apart*s.baseline
	case m.better == lower:
		return value > apart*s.baseline && value > m.good
	case m.better == higher:
		return value < s.baseline && !(s.high >= s.baseline)
	}
	return false
}

// between reports whether worst and best span a scale: worst has to be clearly worse.
func (m measure) between(s scale) bool {
	switch {
	case math.IsNaN(s.best + s.worst):
		return false
	case m.better == higher:
		return s.best > s.worst+0.01
	}
	return m.better == lower && s.worst > 2*s.best
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
