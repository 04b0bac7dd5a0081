package sweep

import (
	"slices"
	"strconv"
)

// timesNote says what the seconds are; every table of them says it.
const timesNote = "By the clock, on this machine, with whatever else it did; mean over repeats. A stage that several runs share has the\n" +
	"time of the one that did it, one that was continued that of its last part. A row-by-row stage counts where its rows are read."

// TimesNote says what the seconds are.
func (t *Table) TimesNote() string { return timesNote }

// mostTimes is how many stages people are shown.
const mostTimes = 6

// Longest are the stages that took longest in some row, at most mostTimes of them, in the order of
// the plan.
func (t *Table) Longest() []string {
	most := map[string]float64{}
	for _, r := range t.Rows {
		for stage, s := range r.Seconds {
			if s.Mean != nil {
				most[stage] = max(most[stage], *s.Mean)
			}
		}
	}
	list := slices.DeleteFunc(slices.Clone(t.Stages), func(stage string) bool {
		longer := 0
		for _, x := range most {
			if x > most[stage] {
				longer++
			}
		}
		return most[stage] == 0 || longer >= mostTimes
	})
	return list[:min(len(list), mostTimes)]
}

// SecondsOf is how long a stage took in the runs of a row, in words.
func (r Row) SecondsOf(stage string) string {
	s := r.Seconds[stage]
	if s.Mean == nil {
		return "–"
	}
	return strconv.FormatFloat(*s.Mean, 'f', 2, 64)
}

// seconds are those of the runs that have the stage.
func seconds(runs []Run, stage string) []float64 {
	var list []float64
	for _, r := range runs {
		if x, has := r.Seconds[stage]; has {
			list = append(list, x)
		}
	}
	return list
}

func (t *Table) times() Flat {
	f := t.begin("times", Column{Name: "repeat", Type: Whole}, Column{Name: "run"}, Column{Name: "stage"}, Column{Name: "seconds", Type: Number})
	for _, r := range t.Runs {
		for _, stage := range t.Stages {
			text := ""
			if x, has := r.Seconds[stage]; has {
				text = exact(&x)
			}
			f.add(r.Cell, r.Settings, strconv.Itoa(r.Repeat), r.ID, stage, text)
		}
	}
	return f.Flat
}
