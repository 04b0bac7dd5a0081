package report

import (
	"fmt"
	"math"
	"slices"

	"weir/pipeline"
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

// measure is a figure that the page judges.
type measure struct {
	pipeline.Figure
	pipeline.Verdict
}

// known returns a declared value; NaN where none is known.
func known(x *float64) float64 {
	if x == nil {
		return math.NaN()
	}
	return *x
}

// reference returns the reference of a role; NaN where the stage has none.
func (g Group) reference(m measure, r pipeline.Role) float64 {
	if !slices.Contains(m.Beside, r) {
		return math.NaN()
	}
	return g.value(r.Name(m.Name))
}

// scale returns the scale of a figure. What is worst is: for scores the commonest class, or chance; for
// distances of several columns independent columns, at the same epsilon where these
// are known. On single columns alone independent columns spend everything, so they
// are no lower end there.
func (g Group) scale(f Figure, m measure) scale {
	s := scale{best: known(m.Best), worst: known(m.Chance), from: "chance", to: "the best", baseline: g.reference(m,
		pipeline.Baseline)}
	s.low, s.high = g.ends(f.Name)
	for _, r := range m.Shown(func(r pipeline.Role) bool { return !math.IsNaN(g.reference(m, r)) }) {
		x := g.reference(m, r)
		what := r.Words(m.Learnt)
		s.beside = append(s.beside, what+" "+Number(x))
		switch {
		case r == pipeline.RealTrain:
			s.best, s.to = x, map[bool]string{true: "what real rows teach", false: what}[m.Learnt]
		case r == pipeline.Majority, m.Better == pipeline.BetterLow && m.Joint:
			s.worst, s.from = x, what
		}
	}
	switch {
	case m.Best != nil:
		s.beside = append(s.beside, "best "+Number(*m.Best))
	case m.Chance != nil:
		s.beside = append(s.beside, "chance "+Number(*m.Chance))
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
	case m.Better == pipeline.BetterHigh && math.IsNaN(s.best):
		return open, "nothing to reach: connect real_train"
	case m.worse(value, s):
		return lost, "worse than independent columns at the same epsilon"
	case m.between(s):
		share := (value - s.worst) / (s.best - s.worst)
		return grade(1-share, 0.1, 0.4), way(share, s)
	case m.Better == pipeline.BetterHigh:
		return grade(s.best-value, 0.02, 0.1), falls(s.best-value) + s.to
	case m.Better == pipeline.BetterHalf:
		return grade(math.Abs(value-0.5), m.Good, m.Fair), "0.5 is a coin's guess"
	}
	switch far := s.best > m.Good; { // false where unknown
	case far && value > m.Fair+s.best: // by the triangle inequality further than Fair from those other real rows too
		return lost, fmt.Sprintf("further than %s, up to which is partly kept, and the %s that other real rows differ "+
			"together",
			Number(m.Fair), Number(s.best))
	case far:
		return open, "other real rows are as far as " + Number(s.best) + " themselves, and up to " + Number(m.Good) +
			" is kept: with so few test rows the verdict would be chance"
	}
	return grade(value, m.Good, m.Fair), fmt.Sprintf("up to %s is kept, up to %s partly (this page's convention)",
		Number(m.Good), Number(m.Fair))
}

// way says how far a value has come.
func way(share float64, s scale) string {
	switch {
	case share < 0:
		return "worse than " + s.from
	case share > 1:
		return "beyond " + s.to
	}
	return Number(math.Floor(float64(100*share)+1e-9)) + " % of the way from " + s.from + " to " + s.to
}

// falls says by how much a score falls short of another one.
func falls(factor float64) string {
	if factor < 0 {
		return Number(-factor) + " above "
	}
	return Number(factor) + " below "
}

// leastDistance is by how much a score must be above what is worth nothing to span a scale with it.
const leastDistance = 0.01

// worseBy is how much worse than independent columns a distance must be to be called so:
// both are drawn at random.
const worseBy = 1.01

// worse reports whether a value is worse than independent columns at the same epsilon.
// Single columns must be far from the real ones too: all that an epsilon can give them
// is what independent columns have, and some of it is rightly spent on pairs. A score
// must be worse with its whole interval, since a better one of independent columns is luck.
func (m measure) worse(value float64, s scale) bool {
	switch {
	case math.IsNaN(s.baseline):
		return false
	case m.Better == pipeline.BetterLow && m.Joint:
		return value > worseBy*s.baseline
	case m.Better == pipeline.BetterLow:
		return value > worseBy*s.baseline && value > m.Good
	case m.Better == pipeline.BetterHigh:
		return value < s.baseline && !(s.high >= s.baseline)
	}
	return false
}

// between reports whether worst and best span a scale: worst has to be clearly worse.
func (m measure) between(s scale) bool {
	switch {
	case math.IsNaN(s.best + s.worst):
		return false
	case m.Better == pipeline.BetterHigh:
		return s.best > s.worst+leastDistance
	}
	return m.Better == pipeline.BetterLow && s.worst > 2*s.best
}

// grade returns the word for a loss: kept up to good, partly up to fair, else lost.
func grade(loss, good, fair float64) string {
	switch {
	case loss <= good:
		return kept
	case loss <= fair:
		return partly
	}
	return lost
}

// signs returns the word for the disclosure that an advantage over chance shows.
func signs(advantage, some, clear float64) string {
	switch grade(advantage, some, clear) {
	case kept:
		return quiet
	case partly:
		return hint
	}
	return leak
}
