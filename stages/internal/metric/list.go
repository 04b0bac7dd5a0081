package metric

import (
	"math"

	"weir/pipeline"
)

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
