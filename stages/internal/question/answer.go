package question

import (
	"context"
	"fmt"
	"math"
	"slices"

	"weir/internal/bitmath"
	"weir/stages/internal/columns"
)

// Answer is one number of the answer to a question. Low and High hold what the table
// itself answers in at least 95 of 100 releases; NaN where no interval is known.
type Answer struct {
	Question  string
	Cell      string // of a histogram, or two columns of a covariance; else ""
	Value     float64
	Low, High float64
	Note      string
}

// noise is what the numbers of a tally carry: nothing, or rounded Gaussian noise.
type noise struct{ sigma float64 }

// within bounds the noise of one number, with probability .95, or of each of four together:
// a normal number rounded to whole ones is within k sigma + 1/2 where the normal one is
// within k sigma.
func (n noise) within(k float64) float64 {
	if n.sigma == 0 {
		return 0
	}
	return max(math.Ceil(float64(k*n.sigma)-0.5), 0)
}

const (
	normal95    = 1.959963984540054  // the .975 quantile
	normal95of4 = 2.4977054744123737 // the 1 - .05/8 quantile: four intervals hold together
)

// Of returns the answer of a table without noise: the table may be looked at, or the answer is
// as private as it is. Its number of rows is its own.
func (a Resolved) Of(ctx context.Context, f *columns.Frame) ([]Answer, error) {
	a.Rows = 0
	if a.Ask == Quantile {
		return []Answer{a.exactQuantile(a.Values(f))}, ctx.Err()
	}
	tally, err := a.Tally(ctx, f)
	if err != nil {
		return nil, err
	}
	return a.Read(tally, 0), nil
}

// Read returns the answer of a tally whose numbers carry rounded Gaussian noise of standard
// deviation sigma each; 0 is none.
func (a Resolved) Read(tally []int64, sigma float64) []Answer {
	n := noise{sigma}
	switch a.Ask {
	case Mean:
		return []Answer{a.mean(tally, n)}
	case Covariance:
		return a.covariance(tally, n)
	}
	list, half := make([]Answer, len(tally)), n.within(normal95)
	for i, c := range tally {
		list[i] = Answer{Question: a.Name, Value: float64(c), Low: max(float64(c)-half, 0), High: max(float64(c)+half, 0)}
		if a.Ask == Histogram {
			list[i].Cell = a.Cells[i]
		}
	}
	return list
}

// mean returns the noisy sum over the number of rows: the public one, or the noisy one of the
// same release. A number of rows that noise hides gives the middle of the bounds.
func (a Resolved) mean(tally []int64, n noise) Answer {
	out := Answer{Question: a.Name}
	if a.Rows > 0 {
		rows := float64(a.Rows) * Unit
		half := n.within(normal95)
		if n.sigma > 0 {
			half += float64(float64(a.Rows) / 2) // each value was rounded
		}
		sum := float64(tally[0])
		out.Value, out.Low, out.High = a.toBounds(sum/rows), a.toBounds((sum-half)/rows), a.toBounds((sum+half)/rows)
		return out
	}
	rows, sum := float64(tally[0]), float64(tally[1])
	if n.sigma == 0 && rows == 0 {
		return Answer{Question: a.Name, Value: math.NaN(), Low: math.NaN(), High: math.NaN(), Note: noRow}
	}
	low, high := ratio(rows, sum, n)
	out.Value, out.Low, out.High = a.toBounds(sum/max(rows, Unit)), a.toBounds(low), a.toBounds(high)
	if low == -1 && high == 1 {
		out.Note = "noise hides the number of rows that are asked about"
	}
	return out
}

// toBounds leads from [-1, 1] back to the bounds.
func (a Resolved) toBounds(z float64) float64 {
	b := a.Bounds[0]
	half := float64((b[1] - b[0]) / 2)
	return b[0] + half + float64(min(max(z, -1), 1)*half)
}

// ratio holds the true sum over the true number of rows with probability .95 or more, by
// Fieller 1954: at the true ratio m, sum - m rows is noise alone, normal with deviation
// sigma sqrt(1 + m^2), so m is taken where that is within 1.96 deviations; what rounding
// adds to both is added too. Rows that are not told from none hold everything.
func ratio(rows, sum float64, n noise) (low, high float64) {
	half := 0.0
	if n.sigma > 0 {
		half = float64(normal95*n.sigma) + 1 + float64((math.Abs(rows)+float64(6*n.sigma))/(2*Unit))
	}
	if rows <= half {
		return -1, 1
	}
	a := (rows - half) * (rows + half)
	root := float64(half * math.Sqrt(float64(rows*rows)+float64(sum*sum)-float64(half*half)))
	low, high = (float64(rows*sum)-root)/a, (float64(rows*sum)+root)/a
	return min(max(low, -1), 1), min(max(high, -1), 1)
}

// exactQuantile returns the least value that at least the asked share of the values do not exceed.
func (a Resolved) exactQuantile(values []float64) Answer {
	list := slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	if len(list) == 0 {
		return Answer{Question: a.Name, Value: math.NaN(), Low: math.NaN(), High: math.NaN(), Note: noRow}
	}
	slices.Sort(list)
	x := list[max(int(math.Ceil(float64(a.Question.Quantile*float64(len(list)))))-1, 0)]
	return Answer{Question: a.Name, Value: x, Low: x, High: x}
}

const noRow = "no row is asked about"

// Picked returns the answer to a quantile that an exponential mechanism picked, with weights
// exp(-rate off), off being how far the quantile is from the ranks of a value. How far the value
// is from the true one no noise tells, for that is up to the rows around it; so there is no
// interval, and the note bounds off (McSherry, Talwar 2007: some value is off by 0, and of
// so many one that is off by (ln values + ln 20)/rate comes out with probability .05 at most).
func (a Resolved) Picked(x, rate float64) []Answer {
	ranks := math.Ceil((bitmath.Log(a.values()) + bitmath.Log(20)) / rate)
	note := fmt.Sprintf("in 95 of 100 releases at most %s rows from the quantile, by rank", text(ranks))
	return []Answer{{Question: a.Name, Value: x, Low: math.NaN(), High: math.NaN(), Note: note}}
}

// values returns how many values a quantile is picked from.
func (a Resolved) values() float64 {
	return math.Floor((a.Bounds[0][1]-a.Bounds[0][0])/a.Step) + 1
}

// covariance reads a covariance off the moments, of columns scaled to [0, 1], by rows of
// the upper triangle: E z_j z_k - E z_j E z_k over four. Its intervals take the four
// noisy numbers that go in at the ends of intervals that hold together, which is wider
// than needed.
func (a Resolved) covariance(tally []int64, n noise) []Answer {
	d, half := len(a.Columns), n.within(normal95of4)
	rows := span{float64(tally[0]) - half, float64(tally[0]) + half}.dividedBy(square)
	if a.Rows > 0 {
		rows = span{float64(a.Rows), float64(a.Rows)}
	}
	if n.sigma > 0 {
		half += float64(math.Max(rows.high, 0) / 2) // each product was rounded
	}
	count := max((rows.low+rows.high)/2, 1)
	mean, means := make([]float64, d), make([]span, d)
	for j := range mean {
		mean[j] = float64(tally[j+1]) / root2 / count
		means[j] = span{float64(tally[j+1]) - half, float64(tally[j+1]) + half}.dividedBy(root2).perRow(rows)
	}
	var out []Answer
	for j, k := 0, d+1; j < d; j++ {
		for l := j; l < d; l, k = l+1, k+1 {
			unit := float64(root2)
			if l == j {
				unit = square
			}
			value := float64(tally[k])/unit/count - float64(mean[j]*mean[l])
			held := span{float64(tally[k]) - half, float64(tally[k]) + half}.dividedBy(unit).perRow(rows).minus(
				means[j].times(means[l]))
			out = append(out, a.entry(j, l, value/4, span{held.low / 4, held.high / 4}))
		}
	}
	return out
}

// entry returns one number of a covariance of columns within [0, 1]: at most 1/4 in size, and
// no variance below 0.
func (a Resolved) entry(j, l int, value float64, stored span) Answer {
	least := -0.25
	if j == l {
		least = 0
	}
	in := func(x float64) float64 { return min(max(x, least), 0.25) }
	return Answer{Question: a.Name, Cell: a.pair(j, l), Value: in(value), Low: in(stored.low), High: in(stored.high)}
}

// ReadScatter returns the answer of a noisy Scatter.
func (a Resolved) ReadScatter(tally []int64, sigma float64) []Answer {
	unit, half := float64(a.Rows)*square, noise{sigma}.within(normal95)
	if sigma > 0 {
		half += float64(4 * float64(a.Rows)) // rounding, of each row
	}
	var out []Answer
	for j, k := 0, 0; j < len(a.Columns); j++ {
		for l := j; l < len(a.Columns); l, k = l+1, k+1 {
			x := float64(tally[k])
			out = append(out, a.entry(j, l, x/unit, span{(x - half) / unit, (x + half) / unit}))
		}
	}
	return out
}

// span is an interval; its ends are numbers or infinite.
type span struct{ low, high float64 }

func (s span) dividedBy(unit float64) span { return span{s.low / unit, s.high / unit} }

// perRow divides a sum of numbers within [-1, 1] by the number of rows. A mean is never outside
// [-1, 1]; where there may be no row at all, it may be anything inside.
func (s span) perRow(rows span) span {
	if rows.low <= 0 {
		return span{-1, 1}
	}
	low, high := min(s.low/rows.low, s.low/rows.high), max(s.high/rows.low, s.high/rows.high)
	return span{min(max(low, -1), 1), min(max(high, -1), 1)}
}

func (s span) minus(t span) span { return span{s.low - t.high, s.high - t.low} }

func (s span) times(t span) span {
	a, b, c, d := s.low*t.low, s.low*t.high, s.high*t.low, s.high*t.high
	return span{min(a, b, c, d), max(a, b, c, d)}
}
