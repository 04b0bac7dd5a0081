package evaluate

import (
	"math"

	"weir/pipeline"
)

// tally gathers metrics, so that none is undefined or infinite in silence.
type tally struct{ list []pipeline.Metric }

const infiniteNote = "infinite: a value occurs in one table only"

// add records a figure; note says why where it is NaN. An infinite value is
// recorded as undefined, since no file format of the record holds it.
func (t *tally) add(name, column string, f figure) {
	f = bounded(f)
	t.list = append(t.list, pipeline.Metric{Name: name, Column: column, Value: f.value, Note: f.note})
}

func bounded(f figure) figure {
	if math.IsInf(f.value, 0) {
		return undefined(joinNotes(infiniteNote, f.note))
	}
	if math.IsNaN(f.value) && f.note == "" {
		f.note = "undefined for these rows"
	}
	return f
}

// addAll records the mean of the figures under name, and each under its column.
func (t *tally) addAll(name string, columns []string, figures []figure, note string) {
	for i := range figures {
		figures[i] = bounded(figures[i])
	}
	m := undefined("the tables have no such column in common")
	if len(figures) > 0 {
		m = mean(figures)
	}
	m.note = joinNotes(m.note, note)
	t.add(name, "", m)
	for i, f := range figures {
		t.add(name, columns[i], f)
	}
}

// why is a figure that is NaN for a known reason.
func why(value float64, reason string) figure {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return figure{value, reason}
	}
	return figure{value: value}
}
