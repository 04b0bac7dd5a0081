package regression

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"

	"weir/pipeline"
	"weir/stages/internal/columns"
	"weir/stages/internal/features"
	"weir/stages/internal/learn"
	"weir/stages/internal/metric"
)

// Names of the figures of rarity and of resamples.
const (
	errorByPrevalence = "error_by_prevalence"
	bootstrapAll      = "bootstrap_all_share"
	bootstrapShare    = "bootstrap_share"
)

// prevalence counts the real rows of each feature that is the indicator of a category.
func prevalence(e *features.Encoder, real *columns.Frame) map[string]int {
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

// byPrevalence is the mean distance of coefficients in four groups of equal size, by the number of real rows that
// have the category (Jälkö et al. 2021, figure 4). Coefficients that a fit does not have are left out.
func byPrevalence(a, b *analysis, rows map[string]int) (list []pipeline.Metric) {
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
		distances[at] = append(distances[at], metric.Of(math.Abs(x.value-y.value), metric.Notes(prefixed("real: ", x.why), prefixed("synthetic: ", y.why))).With(name))
	}
	for g, d := range distances {
		m := metric.Mean(d)
		if len(d) == 0 {
			m = metric.None("fewer than four categories")
		}
		list = append(list, pipeline.Metric{Name: errorByPrevalence, Column: strconv.Itoa(g + 1), Value: m.Value, Note: m.Note})
	}
	return list
}

// bootstrap fits the model to resamples of the real rows and counts in how many of them what the real rows
// discover is discovered again. A feature that a resample cannot estimate is not.
func (s *settings) bootstrap(ctx context.Context, env *pipeline.Env, e *features.Encoder, real *columns.Frame, a *analysis, run learn.Run) ([]pipeline.Metric, error) {
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
		list = append(list, pipeline.Metric{Name: bootstrapShare, Column: name, Value: again[j] / float64(s.Bootstraps), Note: a.why[name]})
	}
	return list, nil
}

// rediscovered counts the features that are significant in a resample with the sign of the real rows, and says
// whether all that the real rows discover are among them.
func (s *settings) rediscovered(a, b *analysis, again []float64) bool {
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
