package ask

import "math"

// covariance reads a covariance off the moments, of columns scaled to [0, 1], by rows of
// the upper triangle: E z_j z_k - E z_j E z_k over four. Its intervals take the four
// noisy numbers that go in at the ends of intervals that hold together, which is wider
// than needed.
func (a Asked) covariance(tally []int64, n noise) []Answer {
	d, half := len(a.Columns), n.within(normal95of4)
	rows := span{float64(tally[0]) - half, float64(tally[0]) + half}.over(square)
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
		means[j] = span{float64(tally[j+1]) - half, float64(tally[j+1]) + half}.over(root2).per(rows)
	}
	var out []Answer
	for j, k := 0, d+1; j < d; j++ {
		for l := j; l < d; l, k = l+1, k+1 {
			unit := float64(root2)
			if l == j {
				unit = square
			}
			value := float64(tally[k])/unit/count - float64(mean[j]*mean[l])
			held := span{float64(tally[k]) - half, float64(tally[k]) + half}.over(unit).per(rows).minus(means[j].times(means[l]))
			out = append(out, a.entry(j, l, value/4, span{held.low / 4, held.high / 4}))
		}
	}
	return out
}

// entry is one number of a covariance of columns within [0, 1]: at most 1/4 in size, and
// no variance below 0.
func (a Asked) entry(j, l int, value float64, held span) Answer {
	least := -0.25
	if j == l {
		least = 0
	}
	in := func(x float64) float64 { return min(max(x, least), 0.25) }
	return Answer{Question: a.Name, Cell: a.pair(j, l), Value: in(value), Low: in(held.low), High: in(held.high)}
}

// ReadScatter is the answer of a noisy Scatter.
func (a Asked) ReadScatter(tally []int64, sigma float64) []Answer {
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

func (s span) over(unit float64) span { return span{s.low / unit, s.high / unit} }

// per divides a sum of numbers within [-1, 1] by the number of rows: no mean is outside,
// and of rows that are not told from none nothing is known.
func (s span) per(rows span) span {
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
