package prediction

// Intervals of scores come from resampling the rows that they were computed from (Efron and
// Tibshirani 1993, chapter 13: the percentile interval). An interval covers the chance of which
// rows came to be judged, and nothing else.

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"weir/train/parallel"
)

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

// Draws are the Resamples of the same rows for figures of several widths. Of a width that is asked for again the counts are
// kept, where they are few: a table of a thousand columns asks a thousand times.
type Draws struct {
	rows int
	rng  func(width int) *rand.Rand
	of   map[int]*Resamples
}

// NewDraws resamples that many rows; rng is asked once for each width.
func NewDraws(rows int, rng func(width int) *rand.Rand) *Draws {
	return &Draws{rows, rng, map[int]*Resamples{}}
}

// Of are the Resamples for figures that look at `width` values of a row.
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

// Values are a figure's values: first of the rows that are drawn from, once each,
// then of every resample. figure gets how often each row occurs, and which of up to
// `workers` calls at a time it is; it is NaN where rows do not allow it.
func (r *Resamples) Values(workers int, figure func(worker int, times []int32) float64) []float64 {
	return r.Several(workers, 1, func(worker int, times []int32, out []float64) { out[0] = figure(worker, times) })[0]
}

// Several are the values of several figures that are computed at once.
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

// times is how often each row occurs in a resample, in memory that is given where none is kept.
func (r *Resamples) times(number int, given []int32) []int32 {
	if r.kept == nil {
		r.count(number, given)
		return given
	}
	if r.kept[number] == nil {
		r.kept[number] = make([]int32, r.all)
		r.count(number, r.kept[number])
	}
	return r.kept[number]
}

// count is how often each row occurs in a resample; number 0 has each row once.
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

// Interval is the percentile interval of a figure that is `value` over all rows and
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

// quantile is that of sorted values, between places by a straight line (Hyndman, Fan
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
