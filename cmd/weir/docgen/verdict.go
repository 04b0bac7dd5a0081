package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"weir/runtime/experiment"
	"weir/specs"
)

// Line pairs a printed item with what the runs of its spec gave.
type Line struct {
	Item
	Runs   int
	Mean   float64 // NaN where there are no runs
	Spread float64 // standard deviation of the runs; NaN where there are none, or one
}

// Verdicts of a line.
const (
	Reproduced = "reproduced"
	BetterThan = "better"
	WorseThan  = "worse"
	Differs    = "differs"
	NoVerdict  = "–"
)

// Lines returns the inventory with what came out. Where the values of a table stand in the experiment of a spec, each
// of them is a line.
func Lines() ([]Line, error) {
	items, err := Items()
	if err != nil {
		return nil, err
	}
	sd, err := printedSpreads()
	if err != nil {
		return nil, err
	}
	var lines []Line
	for _, item := range items {
		all, err := item.spelled()
		if err != nil {
			return nil, err
		}
		for _, one := range all {
			if printed, is := sd[one.place()]; is && one.SD != one.SD { // a line's own may be of another column
				one.SD = printed
			}
			line, err := one.line()
			if err != nil {
				return nil, err
			}
			lines = append(lines, line)
		}
	}
	return lines, nil
}

// spelled returns the item, or the values that its spec says are printed.
func (i Item) spelled() ([]Item, error) {
	if i.Spec == "" {
		return []Item{i}, nil
	}
	text, is := specs.Read(i.Spec)
	if !is {
		return nil, fmt.Errorf("%s: there is no spec %s", i.What, i.Spec)
	}
	if i.Figure != "" && i.At != Best {
		return []Item{i}, nil
	}
	var spec struct {
		Experiment struct {
			Figures []string                        `yaml:"figures"`
			Printed map[string]map[string][]float64 `yaml:"printed"`
		} `yaml:"experiment"`
	}
	if err := yaml.Unmarshal(text, &spec); err != nil {
		return nil, fmt.Errorf("%s: %w", i.Spec, err)
	}
	if i.At == Best {
		if len(spec.Experiment.Figures) == 0 {
			return nil, fmt.Errorf("%s: %s has no experiment with figures, of which the first says what is best", i.What, i.Spec)
		}
		i.Lead = spec.Experiment.Figures[0]
		return []Item{i}, nil
	}
	var all []Item
	for cell, points := range spec.Experiment.Printed {
		for place, values := range points {
			for k, printed := range values {
				one := i
				one.Cell, one.At, one.Printed, one.Figure = cell, place, printed, spec.Experiment.Figures[k]
				all = append(all, one)
			}
		}
	}
	slices.SortFunc(all, Item.compare)
	if len(all) == 0 {
		return []Item{i}, nil
	}
	return all, nil
}

func (i Item) compare(other Item) int {
	for _, pair := range [][2]string{{i.Figure, other.Figure}, {i.At, other.At}, {i.Cell, other.Cell}} {
		if pair[0] != pair[1] {
			return slices.Compare([]byte(pair[0]), []byte(pair[1]))
		}
	}
	return 0
}

func (i Item) line() (Line, error) {
	values, err := Values(i.Spec)
	if i.Spec == "" || i.Figure == "" {
		values, err = nil, nil
	}
	x := i.numbersOf(values)
	line := Line{Item: i, Runs: len(x), Mean: math.NaN(), Spread: math.NaN()}
	s := experiment.Summarize(x)
	if s.Mean != nil {
		line.Mean = *s.Mean
	}
	if s.SD != nil {
		line.Spread = *s.SD
	}
	return line, err
}

// numbersOf returns the item's figure in each run that has it, in the order of the runs. A figure that ends in .* is
// the sum of all that begin as it does: the line "All" of a table, which adds its columns up.
func (i Item) numbersOf(values []Value) []float64 {
	best := BestRuns(values, i.Lead)
	family, sums := strings.CutSuffix(i.Figure, "*")
	var x []float64
	last := ""
	for _, v := range values {
		if v.Cell != i.Cell || v.At != i.At && (i.At != Best || !best[v.Run]) {
			continue
		}
		switch {
		case v.Figure == i.Figure, sums && strings.HasPrefix(v.Figure, family) && v.Run != last:
			x, last = append(x, v.Value), v.Run
		case sums && strings.HasPrefix(v.Figure, family):
			x[len(x)-1] += v.Value
		}
	}
	return x
}

// BestRuns returns those at which the lead figure is highest, one of each cell and seed; of equals the first.
func BestRuns(values []Value, lead string) map[string]bool {
	type repeat struct {
		cell string
		seed uint64
	}
	top := map[repeat]Value{}
	for _, v := range values {
		at := repeat{v.Cell, v.Seed}
		if old, is := top[at]; v.Figure == lead && (!is || v.Value > old.Value) {
			top[at] = v
		}
	}
	runs := map[string]bool{}
	for _, v := range top {
		runs[v.Run] = true
	}
	return runs
}

// Enough is how many runs a verdict needs. The deviation of two runs tells nothing of what others would be: its 95 %
// interval reaches from .45 to 32 times what it is, and for five from .6 to 2.9 (quantiles of chi squared).
const Enough = 5

// Verdict compares the mean of the runs with the printed value: reproduced within two standard errors of the
// difference. Where a paper prints no spread, its runs are taken to spread as ours do; where it does not say how
// many there were, as one. There is no verdict of fewer than Enough runs of ours, or of runs that all have one value
// where no spread is printed, such as what real rows reach: they share the split of the rows, and are one run.
func (l Line) Verdict() string {
	if l.Runs < Enough || l.Printed != l.Printed || l.Better == "" {
		return NoVerdict
	}
	se := l.standardError()
	if se == 0 {
		return NoVerdict
	}
	switch d := l.Mean - l.Printed; {
	case math.Abs(d) <= 2*se:
		return Reproduced
	case l.Better == "near":
		return Differs
	case (d > 0) == (l.Better == "high"):
		return BetterThan
	}
	return WorseThan
}

// standardError returns the standard error of the difference between the mean of our runs and the printed value.
func (l Line) standardError() float64 {
	spread := l.SD
	if spread != spread {
		spread = l.Spread
	}
	return math.Sqrt(float64(l.Spread*l.Spread)/float64(l.Runs) + float64(spread*spread)/float64(max(l.Of, 1)))
}

// Coarse reports whether two standard errors of a reproduced line are more than half of the printed value, so that
// half of it, or half as much again, would be reproduced as well.
func (l Line) Coarse() bool {
	return l.Verdict() == Reproduced && 2*l.standardError() > math.Abs(l.Printed)/2
}
