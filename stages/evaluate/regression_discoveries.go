package evaluate

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"

	"weir/pipeline"
	"weir/stages/internal/columns"
	"weir/stages/internal/learn"
	"weir/stages/internal/prediction"
	"weir/stages/metric"
)

// fittedCoefficient is one parameter of one fit; NaN where it has none.
type fittedCoefficient struct {
	value, se, p float64
	interval     [2]float64
	why          string
}

func (a *regressionFit) coefficient(name string, level float64) fittedCoefficient {
	j, ok := a.place[name]
	if a.fit == nil || !ok {
		nan := math.NaN()
		return fittedCoefficient{nan, nan, nan, [2]float64{nan, nan}, metric.Notes(a.note, a.why[name])}
	}
	return fittedCoefficient{a.fit.Params[j], a.fit.SE[j], a.fit.P[j], a.fit.Interval(j, level), ""}
}

func (c fittedCoefficient) significant(level float64) bool { return c.p < 1-level }

// discoveryTallies of conclusions; the intercept is none.
type discoveryTallies struct {
	real, synthetic, reproduced, lost, spurious float64
	overlaps, distances, signs                  []metric.Noted
}

// compareFits lists the figures of each feature and the counts of discoveries.
func compareFits(a, b *regressionFit, level float64, note string) []pipeline.Metric {
	var features []pipeline.Metric
	var t discoveryTallies
	for _, name := range a.names {
		x, y := a.coefficient(name, level), b.coefficient(name, level)
		features = append(features, coefficientMetrics(name, x, y)...)
		if name != "intercept" {
			t.add(x, y, level)
		}
	}
	why := metric.Notes(withPrefix("real: ", a.note), withPrefix("synthetic: ", b.note))
	return append(t.metrics(why, note), features...)
}

func withPrefix(rule, text string) string {
	if text == "" {
		return ""
	}
	return rule + text
}

// coefficientMetrics lists one feature's figures from both fits.
func coefficientMetrics(name string, x, y fittedCoefficient) []pipeline.Metric {
	both := metric.Notes(withPrefix("real: ", x.why), withPrefix("synthetic: ", y.why))
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

func (t *discoveryTallies) add(x, y fittedCoefficient, level float64) {
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

func (t *discoveryTallies) metrics(why, note string) []pipeline.Metric {
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
		counted("discoveries_lost", t.lost,
			"significant in the real rows, not so in the synthetic ones or with another sign"),
		counted("discoveries_false", t.spurious, "significant in the synthetic rows, not so in the real ones or with "+
			"another sign"),
		share,
		averaged("mean_interval_overlap", t.overlaps),
		averaged("mean_standardised_difference", t.distances),
		averaged("sign_agreement", t.signs),
	}
}

// Names of the figures of rarity and of resamples.
const (
	errorByPrevalence = "error_by_prevalence"
	bootstrapAll      = "bootstrap_all_share"
	bootstrapShare    = "bootstrap_share"
)

// prevalence counts the real rows of each feature that is the indicator of a category.
func prevalence(e *prediction.Encoder, real *columns.Frame) map[string]int {
	n := map[string]int{}
	if real.Rows == 0 {
		return n
	}
	for j, c := range e.Encode(real).Dense().Cols {
		ones := 0
		for _, v := range c {
			switch v {
			case 0:
			case 1:
				ones++
			default:
				ones = math.MinInt
			}
		}
		if ones >= 0 {
			n[e.Names()[j]] = ones
		}
	}
	return n
}

// byPrevalence returns the mean distance of coefficients in four groups of equal size, by the number of real rows that
// have the category (Jälkö et al. 2021, figure 4). Coefficients that a fit does not have are left out.
func byPrevalence(a, b *regressionFit, rows map[string]int) (list []pipeline.Metric) {
	const groups = 4
	var names []string
	for _, name := range a.names {
		if _, is := rows[name]; is {
			names = append(names, name)
		}
	}
	slices.SortStableFunc(names, func(x, y string) int { return cmp.Compare(rows[x], rows[y]) })
	distances := make([][]metric.Noted, groups)
	for i, name := range names {
		x, y := a.coefficient(name, 0.5), b.coefficient(name, 0.5)
		at := i * groups / len(names)
		distances[at] = append(distances[at], metric.Of(math.Abs(x.value-y.value), metric.Notes(withPrefix("real: ", x.why),
			withPrefix("synthetic: ", y.why))).With(name))
	}
	for g, d := range distances {
		m := metric.Mean(d)
		if len(d) == 0 {
			m = metric.None("fewer than four categories")
		}
		list = append(list, pipeline.Metric{Name: errorByPrevalence, Column: strconv.Itoa(g + 1), Value: m.Value,
			Note: m.Note})
	}
	return list
}

// bootstrap fits the model to resamples of the real rows and counts in how many of them what the real rows
// discover is discovered again. A feature that a resample cannot estimate is not.
func (s *regressionSettings) bootstrap(ctx context.Context, env *pipeline.Env, e *prediction.Encoder,
	real *columns.Frame,
	a *regressionFit, run learn.Run) ([]pipeline.Metric, error) {
	if s.Bootstraps == 0 {
		return nil, nil
	}
	if a.fit == nil {
		return []pipeline.Metric{{Name: bootstrapAll, Value: math.NaN(), Note: a.note}}, nil
	}
	again, all, r := make([]float64, len(a.names)), 0., env.Rand("bootstraps")
	for i := range s.Bootstraps {
		rows := make([]int, real.Rows)
		for k := range rows {
			rows[k] = r.IntN(real.Rows)
		}
		b, err := s.fit(ctx, e, real.Take(rows), run)
		if err != nil {
			return nil, err
		}
		if s.rediscovered(a, b, again) {
			all++
		}
		env.Progress(int64(3+i), int64(2+s.Bootstraps))
	}
	list := []pipeline.Metric{{Name: bootstrapAll, Value: all / float64(s.Bootstraps)}}
	for j, name := range a.names {
		list = append(list, pipeline.Metric{Name: bootstrapShare, Column: name, Value: again[j] / float64(s.Bootstraps),
			Note: a.why[name]})
	}
	return list, nil
}

// rediscovered counts the features that are significant in a resample with the sign of the real rows, and says
// whether all that the real rows discover are among them.
func (s *regressionSettings) rediscovered(a, b *regressionFit, again []float64) bool {
	all := true
	for j, name := range a.names {
		x, y := a.coefficient(name, s.Level), b.coefficient(name, s.Level)
		found := y.significant(s.Level) && x.value*y.value > 0
		if found {
			again[j]++
		}
		all = all && (found || name == "intercept" || !x.significant(s.Level))
	}
	return all
}
