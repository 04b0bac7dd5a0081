package regression

import (
	"math"

	"weir/pipeline"
	"weir/stages/internal/learn"
	"weir/stages/internal/metric"
)

// coefficient is one parameter of one fit; NaN where it has none.
type coefficient struct {
	value, se, p float64
	interval     [2]float64
	why          string
}

func (a *analysis) coefficient(name string, level float64) coefficient {
	j, ok := a.place[name]
	if a.fit == nil || !ok {
		nan := math.NaN()
		return coefficient{nan, nan, nan, [2]float64{nan, nan}, metric.Notes(a.note, a.why[name])}
	}
	return coefficient{a.fit.Params[j], a.fit.SE[j], a.fit.P[j], a.fit.Interval(j, level), ""}
}

func (c coefficient) significant(level float64) bool { return c.p < 1-level }

// tallies of conclusions; the intercept is none.
type tallies struct {
	real, synthetic, reproduced, lost, spurious float64
	overlaps, distances, signs                  []metric.Noted
}

// compareFits lists the figures of each feature and the counts of discoveries.
func compareFits(a, b *analysis, level float64, note string) []pipeline.Metric {
	var features []pipeline.Metric
	var t tallies
	for _, name := range a.names {
		x, y := a.coefficient(name, level), b.coefficient(name, level)
		features = append(features, comparison(name, x, y)...)
		if name != "intercept" {
			t.add(x, y, level)
		}
	}
	why := metric.Notes(prefixed("real: ", a.note), prefixed("synthetic: ", b.note))
	return append(t.metrics(why, note), features...)
}

func prefixed(by, text string) string {
	if text == "" {
		return ""
	}
	return by + text
}

// comparison lists one feature's figures from both fits.
func comparison(name string, x, y coefficient) []pipeline.Metric {
	both := metric.Notes(prefixed("real: ", x.why), prefixed("synthetic: ", y.why))
	return []pipeline.Metric{
		{Name: "coefficient_real", Column: name, Value: x.value, Note: x.why},
		{Name: "coefficient_synthetic", Column: name, Value: y.value, Note: y.why},
		{Name: "standard_error_real", Column: name, Value: x.se, Note: x.why},
		{Name: "standard_error_synthetic", Column: name, Value: y.se, Note: y.why},
		{Name: "p_real", Column: name, Value: x.p, Note: x.why},
		{Name: "p_synthetic", Column: name, Value: y.p, Note: y.why},
		{Name: "interval_overlap", Column: name, Value: learn.Overlap(x.interval, y.interval), Note: both},
		{Name: "standardised_difference", Column: name, Value: math.Abs(x.value-y.value) / x.se, Note: both},
	}
}

func (t *tallies) add(x, y coefficient, level float64) {
	one, other, alike := x.significant(level), y.significant(level), x.value*y.value > 0
	count := func(to *float64, when bool) {
		if when {
			*to++
		}
	}
	count(&t.real, one)
	count(&t.synthetic, other)
	count(&t.reproduced, one && other && alike)
	count(&t.lost, one && !(other && alike))
	count(&t.spurious, other && !(one && alike))
	note := metric.Notes(x.why, y.why)
	sign := math.NaN()
	if note == "" {
		sign = 0
		count(&sign, alike)
	}
	t.signs = append(t.signs, metric.Of(sign, note))
	t.overlaps = append(t.overlaps, metric.Of(learn.Overlap(x.interval, y.interval), note))
	t.distances = append(t.distances, metric.Of(math.Abs(x.value-y.value)/x.se, note))
}

func (t *tallies) metrics(why, note string) []pipeline.Metric {
	counted := func(name string, v float64, doc string) pipeline.Metric {
		if why != "" {
			v = math.NaN()
		}
		return pipeline.Metric{Name: name, Value: v, Note: metric.Notes(doc, why)}
	}
	averaged := func(name string, list []metric.Noted) pipeline.Metric {
		m := metric.Mean(list)
		return pipeline.Metric{Name: name, Value: m.Value, Note: metric.Notes(m.Note, note)}
	}
	share := pipeline.Metric{Name: "reproduced_share", Value: t.reproduced / t.real, Note: why}
	if why != "" || t.real == 0 {
		share.Value, share.Note = math.NaN(), metric.Notes(why, "the real rows give no discovery to reproduce")
	}
	return []pipeline.Metric{
		counted("discoveries_real", t.real, "significant coefficients, the intercept left out"),
		counted("discoveries_synthetic", t.synthetic, ""),
		counted("discoveries_reproduced", t.reproduced, "significant in both with the same sign"),
		counted("discoveries_lost", t.lost, "significant in the real rows, not so in the synthetic ones or with another sign"),
		counted("discoveries_false", t.spurious, "significant in the synthetic rows, not so in the real ones or with another sign"),
		share,
		averaged("mean_interval_overlap", t.overlaps),
		averaged("mean_standardised_difference", t.distances),
		averaged("sign_agreement", t.signs),
	}
}
