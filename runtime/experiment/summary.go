package experiment

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"weir/internal/bitmath"
)

// Level is the confidence level of all intervals.
const Level = 0.95

// Summary is a sample of values. What it has too few of to tell is nil: the mean of none,
// spread and interval of one.
type Summary struct {
	N    int      `json:"n"`
	Mean *float64 `json:"mean"`
	SD   *float64 `json:"sd"`   // of the sample, over n-1
	Low  *float64 `json:"low"`  // of the interval of the mean
	High *float64 `json:"high"` // by Student's t with n-1 degrees of freedom (Student, Biometrika 6, 1908)
}

// Summarize takes finite values.
func Summarize(values []float64) Summary {
	s := Summary{N: len(values)}
	if s.N == 0 {
		return s
	}
	mean, sd := moments(values)
	s.Mean = &mean
	if s.N > 1 {
		half := float64(quantile(s.N-1) * sd / math.Sqrt(float64(s.N)))
		low, high := mean-half, mean+half
		s.SD, s.Low, s.High = &sd, &low, &high
	}
	return s
}

// moments returns the mean and the deviation over n-1 of two values or more; products are rounded
// before they are added, so that every processor gives the same bits. Values that only rounding tells apart
// deviate by 0.
func moments(values []float64) (mean, sd float64) {
	if slices.Max(values)-slices.Min(values) <= float64(1e-9*math.Abs(values[0])) {
		return values[0], 0
	}
	for _, x := range values {
		mean += x
	}
	mean /= float64(len(values))
	for _, x := range values {
		sd += float64((x - mean) * (x - mean))
	}
	return mean, math.Sqrt(sd / float64(len(values)-1))
}

// quantile returns the quantile of Student's t that leaves half of 1-Level above it.
func quantile(degrees int) float64 {
	return bitmath.StudentQuantile(float64(degrees), (1+Level)/2)
}

// Half returns half the width of the interval; NaN where there is none.
func (s Summary) Half() float64 {
	if s.High == nil {
		return math.NaN()
	}
	return (*s.High - *s.Low) / 2
}

// Clear tells whether the interval leaves 0 out.
func (s Summary) Clear() bool {
	return s.Low != nil && !s.alike() && (*s.Low > 0 || *s.High < 0)
}

// alike tells whether all values are the same, but for rounding. Student's law says nothing of these: two
// shares of the same few test rows are often equal by chance, and their interval has no width.
func (s Summary) alike() bool { return s.SD != nil && *s.SD == 0 }

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
			v.Beyond = append(v.Beyond, fmt.Sprintf("%s: %s, %s, %s", t.Name, t.Label(Row{Cell: d.Cell, Settings: d.Settings}),
				d.Metric, strings.TrimSuffix(d.words(), " *")))
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

// Text returns the verdict in sentences of Markdown.
func (v Verdict) Text() string {
	alike := ""
	if v.Alike > 0 {
		alike = fmt.Sprintf("Not judged: differences that are the same in every pair of runs, and so have no spread, %d in "+
			"number.\n", v.Alike)
	}
	if v.Compared == 0 && v.Alike > 0 {
		return alike
	}
	if v.Compared == 0 {
		return "No verdict: no difference has two pairs of runs, so that none has an interval; two repeats give " +
			"one.\n"
	}
	side := float64(v.Compared) * (1 - Level) / 2
	text := fmt.Sprintf("Of %d differences to a baseline, by intervals of their own at %g %%, above it: %d; below: %d; "+
		"where nothing differs, chance alone gives some %.1f of each.\n",
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
