package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"weir/internal/bitmath"
	"weir/record/sweep"
)

// axis is what the curves of an experiment are drawn over.
type axis struct {
	path  string // a setting of the grid whose values are numbers; "" for epsilon
	claim string // of epsilon: proven, or published where nothing is proven; the two never mix
	steps bool   // the setting is at which step of one training rows were drawn
}

// axisOf is over the number of queries where a grid has two, for an experiment over them asks from how many on
// a table is the better buy; else over epsilon where the same settings were run at two of them, else over a setting of
// the grid that has two numbers, else over the epsilons that there are.
func axisOf(t *sweep.Table) axis {
	for _, p := range t.Grid {
		if queries := (axis{path: p}); strings.HasSuffix(p, ".queries") && queries.drawsLines(t) {
			return queries
		}
	}
	epsilon := axis{claim: "published"}
	for _, r := range t.Rows {
		if r.Proven != nil {
			epsilon.claim = "proven"
		}
	}
	if path := t.NumberPath(); path != "" && !epsilon.drawsLines(t) {
		return axis{path: path, steps: path == t.StepPath()}
	}
	return epsilon
}

// drawsLines tells whether some line has two places on the axis.
func (a axis) drawsLines(t *sweep.Table) bool {
	first := map[string]float64{}
	for _, r := range t.Rows {
		x, known := a.of(r)
		if !known {
			continue
		}
		line := t.Line(r, a.path)
		if before, has := first[line]; has && before != x {
			return true
		}
		first[line] = x
	}
	return false
}

// of is what a row has of it, if that can be shown.
func (a axis) of(r sweep.Row) (float64, bool) {
	if a.path != "" {
		return sweep.NumberOf(r, a.path)
	}
	e := r.Proven
	if a.claim == "published" {
		e = r.Published
	}
	if e == nil || !(*e > 0) || math.IsInf(*e, 0) {
		return 0, false
	}
	return *e, true
}

// apart tells whether two values are worth an axis. Equal budgets leave epsilons that differ by what
// the search for their noise leaves, less than a percent.
func (a axis) apart(low, high float64) bool { return a.path != "" || high > 1.01*low }

// over words it for a reader of the text.
func (a axis) over() string {
	switch {
	case a.steps:
		return "step"
	case a.path != "":
		return sweep.Short(a.path)
	}
	return a.claim + " epsilon"
}

// label stands below the axis.
func (a axis) label() string {
	switch {
	case a.steps:
		return "step, under the epsilon of all steps"
	case a.path != "":
		return sweep.Short(a.path)
	}
	return "epsilon (" + a.claim + ")"
}

func (a axis) tick(at float64) string {
	switch {
	case a.steps:
		return strconv.FormatFloat(at, 'f', -1, 64)
	case a.path != "":
		return fmt.Sprint(at)
	}
	return upward(at)
}

// upward is an epsilon with three digits, rounded up.
func upward(e float64) string {
	unit := bitmath.Pow(10, math.Floor(bitmath.Log10(e))-2)
	return fmt.Sprintf("%.3g", math.Ceil(e/unit*(1-1e-9))*unit)
}
