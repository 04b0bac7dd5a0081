package prediction

import (
	"math"

	"weir/pipeline"
	"weir/stages/internal/metric"
)

// Score is a figure of test rows, and what it is in resamples of them.
type Score struct {
	metric.Noted
	of     *Resamples // nil: a score of this kind has no interval
	values []float64  // see Resamples.Values; nil where there are too few rows to resample
}

// bare is a score without an interval.
func bare(f metric.Noted) Score { return Score{Noted: f} }

// Mean is that of the scores which are defined; all are of the same test rows.
func Mean(list []Score) Score {
	figures := make([]metric.Noted, len(list))
	var defined []Score
	for i, s := range list {
		if figures[i] = s.Noted; !math.IsNaN(s.Value) {
			defined = append(defined, s)
		}
	}
	return combined(metric.Mean(figures), defined, func(v []float64) float64 {
		sum := 0.0
		for _, x := range v {
			sum += x
		}
		return sum / float64(len(v))
	})
}

// Minus is a - b of the same test rows, resample by resample.
func Minus(a, b Score) Score {
	return combined(metric.Of(a.Value-b.Value, a.Note, b.Note), []Score{a, b}, func(v []float64) float64 { return v[0] - v[1] })
}

// combined is a function of scores, with its values in their resamples.
func combined(f metric.Noted, list []Score, of func([]float64) float64) Score {
	s := bare(f)
	for _, part := range list {
		if part.values == nil {
			s.of = part.of
			return s
		}
	}
	if len(list) == 0 {
		return s
	}
	s.of, s.values = list[0].of, make([]float64, len(list[0].values))
	row := make([]float64, len(list))
	for i := range s.values {
		for k, part := range list {
			row[k] = part.values[i]
		}
		s.values[i] = of(row)
	}
	return s
}

// Metrics are the score under its name and, where it has one, the ends of its
// interval.
func (s Score) Metrics(name, column string, notes ...string) []pipeline.Metric {
	low, high, ok := s.Interval()
	if !ok && !math.IsNaN(s.Value) && s.of != nil {
		notes = append(notes, s.of.noInterval())
	}
	f := s.With(notes...)
	out := []pipeline.Metric{{Name: name, Column: column, Value: f.Value, Note: f.Note}}
	if ok {
		lower, upper := pipeline.IntervalEnds(name)
		out = append(out, pipeline.Metric{Name: lower, Column: column, Value: low}, pipeline.Metric{Name: upper,
			Column: column, Value: high})
	}
	return out
}

// Interval is that of 95 % over the test rows; ok is false where the score has none.
func (s Score) Interval() (low, high float64, ok bool) {
	if s.values == nil {
		return 0, 0, false
	}
	low, high = s.of.Interval(s.Value, s.values)
	return low, high, !math.IsNaN(low+high) && !math.IsInf(low+high, 0)
}
