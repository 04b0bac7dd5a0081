// Package metric computes what a synthetic table is judged by, against real rows, as
// testdata/golden/METRICS.md defines it: distances between the distributions of a column
// (section 7; P is the real one, Q the synthetic one, logarithms are natural), associations
// of columns (section 6), marginals of several columns, two-sample classifiers (section 10),
// the plane of principal components (section 9), distances and attacks on single rows, and
// what a table has lost compared with fresh real rows. What a constant column leaves
// undefined is NaN, never 0 or 1, and Noted holds the reason. No figure about single rows is
// evidence of privacy: an attack that fails shows that this attack failed.
package metric

import (
	"fmt"
	"math"
	"strings"

	"weir/pipeline"
)

// Noted is a value with a note; NaN has the reason in its note.
type Noted struct {
	Value float64
	Note  string
}

// Of returns a value with its notes.
func Of(value float64, notes ...string) Noted { return Noted{value, Notes(notes...)} }

// None returns undefined, and says why.
func None(why ...string) Noted { return Of(math.NaN(), why...) }

// Or returns a value, which has the reason as its note where it is undefined or infinite.
func Or(value float64, reason ...string) Noted {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return Of(value, reason...)
	}
	return Of(value)
}

// Over returns a/scale, undefined where the real column, whose scale it is, is constant.
func Over(a, scale float64) Noted {
	if !(scale > 0) {
		return None("the real column is constant")
	}
	return Of(a / scale)
}

// Notes joins what is not empty.
func Notes(notes ...string) string {
	var list []string
	for _, n := range notes {
		if n != "" {
			list = append(list, n)
		}
	}
	return strings.Join(list, "; ")
}

// With returns the figure with more notes behind its own.
func (f Noted) With(notes ...string) Noted {
	return Of(f.Value, append([]string{f.Note}, notes...)...)
}

// Mean averages the figures that are defined; the note says how many are not.
func Mean(figures []Noted) Noted {
	sum, n, why := 0.0, 0, ""
	for _, f := range figures {
		if math.IsNaN(f.Value) {
			why = f.Note
			continue
		}
		sum, n = sum+f.Value, n+1
	}
	switch {
	case n == 0:
		return None(why)
	case n < len(figures):
		return Of(sum/float64(n), fmt.Sprintf("mean over %d of %d; the others: %s", n, len(figures), why))
	case n == 1:
		return Of(sum, figures[0].Note)
	}
	return Of(sum / float64(n))
}

// List gathers the metrics of a question, so that none is undefined or infinite in
// silence.
type List struct{ Metrics []pipeline.Metric }

// Add records a figure. An infinite value is recorded as undefined, since no file
// format of the record holds it.
func (l *List) Add(name, column string, f Noted) {
	f = bounded(f)
	l.Metrics = append(l.Metrics, pipeline.Metric{Name: name, Column: column, Value: f.Value, Note: f.Note})
}

func bounded(f Noted) Noted {
	if math.IsInf(f.Value, 0) {
		return None("infinite: a value occurs in one table only", f.Note)
	}
	if math.IsNaN(f.Value) && f.Note == "" {
		f.Note = "undefined for these rows"
	}
	return f
}

// AddAll records the mean of the figures under name, and each under its column.
func (l *List) AddAll(name string, columns []string, figures []Noted, note string) {
	for i := range figures {
		figures[i] = bounded(figures[i])
	}
	m := None("the tables have no such column in common")
	if len(figures) > 0 {
		m = Mean(figures)
	}
	l.Add(name, "", m.With(note))
	for i, f := range figures {
		l.Add(name, columns[i], f)
	}
}
