package prediction

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"weir/stages/internal/learn"
	"weir/stages/internal/metric"
)

// Resampled says how the test rows are resampled, for the intervals of scores; rng
// is the same for learners that are to be compared.
func (t *Trial) Resampled(rng *rand.Rand) *Resamples {
	return newResamples(t.Test.Rows, len(t.Test.Column(t.target).Categories), rng)
}

// judge computes scores by name of a resample, which has each row so many times.
type judge func(times []int32, names []string, to []float64)

// withIntervals adds the resamples of scores to them; each worker has a judge of its own.
func withIntervals(found map[string]metric.Noted, names []string, r *Resamples, workers int, each func() judge) map[string]Score {
	out := map[string]Score{}
	for name, f := range found {
		out[name] = bare(f)
	}
	if r == nil {
		return out
	}
	sure := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == "max_error" || math.IsNaN(found[n].Value) })
	if r.all < leastResampled {
		for _, name := range sure {
			out[name] = Score{found[name], r, nil}
		}
		return out
	}
	workers = max(1, workers)
	judges := make([]judge, workers)
	values := r.Several(workers, len(sure), func(w int, times []int32, to []float64) {
		if judges[w] == nil {
			judges[w] = each()
		}
		judges[w](times, sure, to)
	})
	for k, name := range sure {
		out[name] = Score{found[name], r, values[k]}
	}
	return out
}

// drawn lists the rows of a resample in the given order.
func drawn(rows, order []int, times []int32) []int {
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

// scoreClasses judges the test rows and their resamples. Of two classes the rows stand
// by descending score.
func scoreClasses(y []int32, p Predictions, positive int, names []string, r *Resamples, run learn.Run) map[string]Score {
	order := ascending(p.Scores.Cols[min(positive, len(p.Scores.Cols)-1)])
	slices.Reverse(order)
	each := func() judge { return classJudge(y, p, positive, order) }
	if len(p.Scores.Cols) == 2 && slices.Equal(names, []string{"auroc"}) {
		a := newArea(y, p.Scores.Cols[positive], positive, order)
		each = func() judge { return a.judge }
	}
	return withIntervals(judgeClasses(y, p, positive, names), names, r, run.Workers, each)
}

// classJudge lists the rows of a resample in the given order, in which judging is quick.
func classJudge(y []int32, p Predictions, positive int, order []int) judge {
	var rows []int
	var classes []int32
	var j jury
	some := Predictions{Scores: learn.Matrix{Cols: make([][]float64, len(p.Scores.Cols))}, Probabilities: p.Probabilities}
	return func(times []int32, names []string, to []float64) {
		rows = drawn(rows[:0], order, times)
		classes, some.Scores.Rows = pick(classes, y, rows), len(rows)
		for k, column := range p.Scores.Cols {
			some.Scores.Cols[k] = pick(some.Scores.Cols[k], column, rows)
		}
		j.hear(classes, some, positive)
		for k, name := range names {
			to[k] = j.value(name).Value
		}
	}
}

// scoreNumbers does the same for numbers, whose rows stand by the size of their error.
func scoreNumbers(y, predicted []float64, names []string, r *Resamples, run learn.Run) map[string]Score {
	errors := make([]float64, len(y))
	for i := range y {
		errors[i] = math.Abs(y[i] - predicted[i])
	}
	order := ascending(errors)
	return withIntervals(judgeNumbers(y, predicted, names), names, r, run.Workers, func() judge {
		var rows []int
		var truth, guess []float64
		return func(times []int32, names []string, to []float64) {
			rows = drawn(rows[:0], order, times)
			truth, guess = pick(truth, y, rows), pick(guess, predicted, rows)
			values := numberValues(truth, guess)
			for k, name := range names {
				to[k] = values(name)
			}
		}
	})
}

// pick puts the rows of x into to.
func pick[T any](to, x []T, rows []int) []T {
	to = to[:0]
	for _, i := range rows {
		to = append(to, x[i])
	}
	return to
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
	r := newResamples(len(y), 2, rng)
	return scoreClasses(labels, Predictions{Scores: p}, 1, []string{"auroc"}, r, learn.Run{Workers: workers})["auroc"]
}
