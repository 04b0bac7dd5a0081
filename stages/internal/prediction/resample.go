package prediction

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"weir/stages/internal/figure"
	"weir/stages/internal/learn"
	"weir/stages/internal/metric/bootstrap"
)

// Resampled says how the test rows are resampled, for the intervals of scores; rng
// is the same for learners that are to be compared.
func (t *Trial) Resampled(rng *rand.Rand) *bootstrap.Resamples {
	return bootstrap.New(t.Test.Rows, len(t.Test.Column(t.target).Categories), rng)
}

// withIntervals adds the resamples of scores that judge computes of test rows: a row
// stands in the list as often as it is drawn. order is one in which judging is quick.
func withIntervals(found map[string]figure.Figure, names []string, order []int, r *bootstrap.Resamples, workers int, judge func(rows []int) map[string]figure.Figure) map[string]Score {
	out := map[string]Score{}
	for name, f := range found {
		out[name] = bare(f)
	}
	if r == nil || len(order) < bootstrap.LeastRows {
		return out
	}
	sure := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == "max_error" || math.IsNaN(found[n].Value) })
	values := r.Several(workers, len(sure), func(_ int, times []int32, to []float64) {
		scores := judge(drawn(order, times))
		for k, name := range sure {
			to[k] = scores[name].Value
		}
	})
	for k, name := range sure {
		out[name] = Score{found[name], r, values[k]}
	}
	return out
}

// drawn lists the rows of a resample in the given order.
func drawn(order []int, times []int32) []int {
	rows := make([]int, 0, len(order))
	for _, i := range order {
		for range times[i] {
			rows = append(rows, i)
		}
	}
	return rows
}

// ascending are the places of x by size, so that what sorts a resample finds it sorted.
func ascending(x []float64) []int {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	return order
}

// take is the predictions of some test rows.
func (p Predictions) take(rows []int) Predictions {
	return Predictions{Scores: p.Scores.Take(rows), Probabilities: p.Probabilities}
}

func at[T any](x []T, rows []int) []T {
	out := make([]T, len(rows))
	for k, i := range rows {
		out[k] = x[i]
	}
	return out
}

// scoreClasses judges the test rows and their resamples. Of two classes the rows stand
// by descending score.
func scoreClasses(y []int32, p Predictions, positive int, names []string, r *bootstrap.Resamples, run learn.Run) map[string]Score {
	order := ascending(p.Scores.Cols[min(positive, len(p.Scores.Cols)-1)])
	slices.Reverse(order)
	return withIntervals(judgeClasses(y, p, positive, names), names, order, r, run.Workers, func(rows []int) map[string]figure.Figure {
		return judgeClasses(at(y, rows), p.take(rows), positive, names)
	})
}

// scoreNumbers does the same for numbers, whose rows stand by the size of their error.
func scoreNumbers(y, predicted []float64, names []string, r *bootstrap.Resamples, run learn.Run) map[string]Score {
	errors := make([]float64, len(y))
	for i := range y {
		errors[i] = math.Abs(y[i] - predicted[i])
	}
	return withIntervals(judgeNumbers(y, predicted, names), names, ascending(errors), r, run.Workers, func(rows []int) map[string]figure.Figure {
		return judgeNumbers(at(y, rows), at(predicted, rows), names)
	})
}

// AUROC is that of rows of which y says whether they are positive, with its interval.
func AUROC(y []bool, s []float64, rng *rand.Rand, workers int) Score {
	labels, p := make([]int32, len(y)), learn.NewMatrix(len(y), 2)
	for i, v := range y {
		if v {
			labels[i] = 1
		}
	}
	p.Cols[1] = s
	r := bootstrap.New(len(y), 2, rng)
	return scoreClasses(labels, Predictions{Scores: p}, 1, []string{"auroc"}, r, learn.Run{Workers: workers})["auroc"]
}
