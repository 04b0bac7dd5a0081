package prediction

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"weir/pipeline"
	"weir/stages/internal/learn"
	"weir/stages/metric"
	"weir/train/parallel"
)

// Intervals of scores come from resampling the rows that they were computed from (Efron and
// Tibshirani 1993, chapter 13: the percentile interval). An interval covers the chance of which
// rows came to be judged, and nothing else.

// coverage is the share of repetitions in which an interval holds the value that it is of.
const coverage = 0.95

// leastResampled is the fewest rows that an interval is given for: resamples of fewer
// say too little of the rows that might have come.
const leastResampled = 20

// The cost of a figure's interval is bounded: at most `mostDraws` resamples, and
// rather fewer, and then smaller ones, than `mostValues` values looked at.
const (
	mostDraws, leastDraws = 400, 200
	mostValues            = 10_000_000
)

// Resamples are draws of rows with replacement, the same for every figure of the
// same rows, so that figures are compared on the same draws.
type Resamples struct {
	draws int
	all   int   // rows there are
	from  []int // those that are drawn from
	seed  uint64
	kept  [][]int32 // of each resample, how often each row occurs; nil where that is counted anew
}

// Draws are the Resamples of the same rows for figures of several widths. Of a width that is asked for again the counts
// are kept, where they are few: a table of a thousand columns asks a thousand times.
type Draws struct {
	rows int
	rng  func(width int) *rand.Rand
	of   map[int]*Resamples
}

// NewDraws resamples that many rows; rng is asked once for each width.
func NewDraws(rows int, rng func(width int) *rand.Rand) *Draws {
	return &Draws{rows, rng, map[int]*Resamples{}}
}

// Of returns the Resamples for figures that look at `width` values of a row.
func (d *Draws) Of(width int) *Resamples {
	r, again := d.of[width]
	if !again {
		r = newResamples(d.rows, width, d.rng(width))
		d.of[width] = r
	} else if r.kept == nil && r.all*r.draws <= mostValues {
		r.kept = make([][]int32, r.draws+1)
	}
	return r
}

// newResamples resamples that many rows, each of which costs a figure `width` values. Of
// very many rows some, drawn at random, stand for all.
func newResamples(rows, width int, rng *rand.Rand) *Resamples {
	r := &Resamples{all: rows, seed: rng.Uint64()}
	size := min(rows, max(leastResampled, mostValues/leastDraws/max(1, width)))
	r.draws = max(leastDraws, min(mostDraws, mostValues/max(1, size*width)))
	r.from = rng.Perm(rows)[:size]
	slices.Sort(r.from)
	return r
}

// Values returns a figure's values: first of the rows that are drawn from, once each,
// then of every resample. figure gets how often each row occurs, and which of up to
// `workers` calls at a time it is; it is NaN where rows do not allow it.
func (r *Resamples) Values(workers int, figure func(worker int, times []int32) float64) []float64 {
	return r.Several(workers, 1, func(worker int, times []int32, out []float64) { out[0] = figure(worker, times) })[0]
}

// Several returns the values of several figures that are computed at once.
func (r *Resamples) Several(workers, figures int, compute func(worker int, times []int32, out []float64)) [][]float64 {
	list := make([][]float64, figures)
	for k := range list {
		list[k] = make([]float64, r.draws+1)
	}
	times, out := make([][]int32, workers), make([][]float64, workers)
	parallel.Do(workers, r.draws+1, func(w, i int) {
		if times[w] == nil {
			times[w], out[w] = make([]int32, r.all), make([]float64, figures)
		}
		compute(w, r.times(i, times[w]), out[w])
		for k, v := range out[w] {
			list[k][i] = v
		}
	})
	return list
}

// times returns how often each row occurs in a resample, in memory that is given where none is kept.
func (r *Resamples) times(number int, counts []int32) []int32 {
	if r.kept == nil {
		r.count(number, counts)
		return counts
	}
	if r.kept[number] == nil {
		r.kept[number] = make([]int32, r.all)
		r.count(number, r.kept[number])
	}
	return r.kept[number]
}

// count counts how often each row occurs in a resample; number 0 has each row once.
func (r *Resamples) count(number int, times []int32) {
	clear(times)
	if number == 0 {
		for _, i := range r.from {
			times[i] = 1
		}
		return
	}
	rng := rand.New(rand.NewPCG(r.seed, uint64(number)))
	for range r.from {
		times[r.from[rng.Uint64N(uint64(len(r.from)))]]++
	}
}

// mostUndefined is the share of resamples that may leave a figure undefined, as
// those do that hold one class only.
const mostUndefined = 0.05

// Interval returns the percentile interval of a figure that is `value` over all rows and
// has these Values; NaN where there are too few rows or the figure is often
// undefined. Where some rows stand for all, the interval is narrowed by the root of
// their share. It always holds the value.
func (r *Resamples) Interval(value float64, values []float64) (low, high float64) {
	list := slices.DeleteFunc(slices.Clone(values[1:]), math.IsNaN)
	if r.all < leastResampled || math.IsNaN(value+values[0]) || float64(len(list)) < (1-mostUndefined)*float64(r.draws) {
		return math.NaN(), math.NaN()
	}
	slices.Sort(list)
	narrow := math.Sqrt(float64(len(r.from)) / float64(r.all))
	low = value + float64(narrow*(quantile(list, (1-coverage)/2)-values[0]))
	high = value + float64(narrow*(quantile(list, (1+coverage)/2)-values[0]))
	return min(low, value), max(high, value)
}

// noInterval says why a figure that could have an interval has none.
func (r *Resamples) noInterval() string {
	if r.all < leastResampled {
		return fmt.Sprintf("no interval: %d test rows, which is fewer than %d", r.all, leastResampled)
	}
	return "no interval: too few test rows of a class, so that more than one draw of the rows in twenty leaves the " +
		"score undefined"
}

// quantile returns the quantile of sorted values, between places by a straight line (Hyndman, Fan
// 1996, type 4).
func quantile(sorted []float64, p float64) float64 {
	place := float64(p * float64(len(sorted)))
	i := max(0, int(math.Ceil(place))-1)
	if i == 0 {
		return sorted[0]
	}
	t := float64(i+1) - place
	return float64(t*sorted[i-1]) + float64((1-t)*sorted[i])
}

// Resampled says how the test rows are resampled, for the intervals of scores; rng
// is the same for learners that are to be compared.
func (t *TrainTest) Resampled(rng *rand.Rand) *Resamples {
	return newResamples(t.Test.Rows, len(t.Test.Column(t.target).Categories), rng)
}

// judge computes scores by name of a resample, which has each row so many times.
type judge func(times []int32, names []string, to []float64)

// withIntervals adds the resamples of scores to them; each worker has a judge of its own.
func withIntervals(found map[string]metric.Noted, names []string, r *Resamples, workers int,
	each func() judge) map[string]Score {
	out := map[string]Score{}
	for name, f := range found {
		out[name] = bare(f)
	}
	if r == nil {
		return out
	}
	sure := slices.DeleteFunc(slices.Clone(names), func(n string) bool {
		return n == "max_error" ||
			math.IsNaN(found[n].Value)
	})
	if r.all < leastResampled {
		for _, name := range sure {
			out[name] = Score{found[name], r, nil}
		}
		return out
	}
	workers = max(1, workers)
	judges := make([]judge, workers)
	values := r.Several(workers, len(sure), func(w int, times []int32, dst []float64) {
		if judges[w] == nil {
			judges[w] = each()
		}
		judges[w](times, sure, dst)
	})
	for k, name := range sure {
		out[name] = Score{found[name], r, values[k]}
	}
	return out
}

// resampledRows lists the rows of a resample in the given order.
func resampledRows(rows, order []int, times []int32) []int {
	for _, i := range order {
		for range times[i] {
			rows = append(rows, i)
		}
	}
	return rows
}

// ascending returns the places of x by size, so that what sorts a resample finds it sorted.
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
func scoreClasses(y []int32, p Predictions, positive int, names []string, r *Resamples,
	run learn.Run) map[string]Score {
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
	return func(times []int32, names []string, dst []float64) {
		rows = resampledRows(rows[:0], order, times)
		classes, some.Scores.Rows = pick(classes, y, rows), len(rows)
		for k, column := range p.Scores.Cols {
			some.Scores.Cols[k] = pick(some.Scores.Cols[k], column, rows)
		}
		j.hear(classes, some, positive)
		for k, name := range names {
			dst[k] = j.value(name).Value
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
		return func(times []int32, names []string, dst []float64) {
			rows = resampledRows(rows[:0], order, times)
			truth, guess = pick(truth, y, rows), pick(guess, predicted, rows)
			values := numberValues(truth, guess)
			for k, name := range names {
				dst[k] = values(name)
			}
		}
	})
}

// pick puts the rows of x into to.
func pick[T any](dst, x []T, rows []int) []T {
	dst = dst[:0]
	for _, i := range rows {
		dst = append(dst, x[i])
	}
	return dst
}

// AUROC returns the AUROC of rows of which y says whether they are positive, with its interval.
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

// Score is a figure of test rows, and what it is in resamples of them.
type Score struct {
	metric.Noted
	of     *Resamples // nil: a score of this kind has no interval
	values []float64  // see Resamples.Values; nil where there are too few rows to resample
}

// bare returns a score without an interval.
func bare(f metric.Noted) Score { return Score{Noted: f} }

// Mean returns the mean of the defined scores; all are of the same test rows.
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

// Minus returns a - b of the same test rows, resample by resample.
func Minus(a, b Score) Score {
	return combined(metric.Of(a.Value-b.Value, a.Note, b.Note), []Score{a, b},
		func(v []float64) float64 { return v[0] - v[1] })
}

// combined returns a function of scores, with its values in their resamples.
func combined(f metric.Noted, list []Score, build func([]float64) float64) Score {
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
		s.values[i] = build(row)
	}
	return s
}

// Metrics returns the score under its name and, where it has one, the ends of its
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

// Interval returns the 95 % interval over the test rows; ok is false where the score has none.
func (s Score) Interval() (low, high float64, ok bool) {
	if s.values == nil {
		return 0, 0, false
	}
	low, high = s.of.Interval(s.Value, s.values)
	return low, high, !math.IsNaN(low+high) && !math.IsInf(low+high, 0)
}
