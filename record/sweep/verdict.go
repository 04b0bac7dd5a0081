package sweep

import (
	"fmt"
	"math"
	"strings"

	"weir/internal/bitmath"
)

// Verdict says which differences in the figures that experiments are about lie beyond chance, over all of
// their tables. Intervals on their own would find one in twenty where nothing differs; so each
// is held against the level of Bonferroni, too: (1 - Level) over how many there are, which
// bounds the probability of one false finding or more, whatever depends on what.
type Verdict struct {
	Compared     int      // differences that have an interval
	Alike        int      // differences that are the same in every pair of runs, which have none
	Above, Below int      // of these, whose own interval leaves 0 out
	Beyond       []string // which lie beyond chance, all considered, in words
}

// Judge compares tables, each with its baseline.
func Judge(tables []*Table) Verdict {
	var v Verdict
	each(tables, func(_ *Table, d Difference) {
		if d.alike() {
			v.Alike++
			return
		}
		v.Compared++
		switch {
		case d.Clear() && *d.Mean > 0:
			v.Above++
		case d.Clear():
			v.Below++
		}
	})
	each(tables, func(t *Table, d Difference) {
		if !d.alike() && d.beyond(v.Compared) {
			v.Beyond = append(v.Beyond, fmt.Sprintf("%s: %s, %s, %s", t.Name, t.Label(Row{Cell: d.Cell, Settings: d.Settings}), d.Metric, strings.TrimSuffix(d.words(), " *")))
		}
	})
	return v
}

// each visits the differences that have an interval.
func each(tables []*Table, visit func(*Table, Difference)) {
	for _, t := range tables {
		for _, d := range t.Differences {
			for _, m := range t.Figures {
				if d.Metric == m && d.SD != nil {
					visit(t, d)
				}
			}
		}
	}
}

// beyond tells whether the interval at the level of one in so many leaves 0 out.
func (d Difference) beyond(many int) bool {
	half := bitmath.StudentQuantile(float64(d.N-1), 1-(1-Level)/2/float64(many)) * *d.SD / math.Sqrt(float64(d.N))
	return math.Abs(*d.Mean) > half
}

// Text is the verdict in sentences of Markdown.
func (v Verdict) Text() string {
	alike := ""
	if v.Alike > 0 {
		alike = fmt.Sprintf("Not judged: differences that are the same in every pair of runs, and so have no spread, %d in number.\n", v.Alike)
	}
	if v.Compared == 0 && v.Alike > 0 {
		return alike
	}
	if v.Compared == 0 {
		return "No verdict: no difference has two pairs of runs, so that none has an interval (experiment.repeats of 2 or more).\n"
	}
	side := float64(v.Compared) * (1 - Level) / 2
	text := fmt.Sprintf("Of %d differences to a baseline, by intervals of their own at %g %%, above it: %d; below: %d; where nothing differs, chance alone gives some %.1f of each.\n",
		v.Compared, 100*Level, v.Above, v.Below, side) + alike
	if len(v.Beyond) == 0 {
		return text + fmt.Sprintf("Corrected for all %d (Bonferroni), none is beyond chance.\n", v.Compared)
	}
	text += fmt.Sprintf("Corrected for all %d (Bonferroni), %d beyond chance:\n\n", v.Compared, len(v.Beyond))
	for _, line := range v.Beyond {
		text += "- " + line + "\n"
	}
	return text
}
