package fresh

import (
	"cmp"
	"math"
	"slices"
)

// Pair compares the correlation of two columns of numbers in both tables, NaN being missing, and takes what the tables
// show, real and other. Its loss is the difference. For rank correlations the numbers are ranks among the rows of both
// tables (Ranks).
func (f *Family) Pair(b *Blocks, name string, x, y [2][]float64, real, other float64) Statistic {
	s := Statistic{Of: name, Real: real, Other: other, Loss: math.Abs(real - other)}
	if math.IsNaN(s.Loss) {
		return s
	}
	blocks := make([][]float64, b.count)
	for i := range blocks {
		blocks[i] = make([]float64, moments)
	}
	multiply(blocks, b.Real, x[0], y[0])
	multiply(blocks, b.Other, x[1], y[1])
	drawn := make([]float64, draws)
	b.each(blocks, func(d int, one, rest []float64) { drawn[d] = correlation(one) - correlation(rest) })
	if b.fewest == 0 {
		s.Loss = math.NaN()
		return s
	}
	one, rest := split(b, blocks)
	f.add(&s, correlation(added(one, nil))-correlation(added(rest, nil)), drawn)
	return s
}

// moments are the number, sums and products of pairs.
const moments = 6

func multiply(blocks [][]float64, of []int32, x, y []float64) {
	for i, a := range x {
		b := y[i]
		if of[i] < 0 || math.IsNaN(a) || math.IsNaN(b) {
			continue
		}
		m := blocks[of[i]]
		m[0]++
		m[1] += a
		m[2] += b
		m[3] += float64(a * a)
		m[4] += float64(b * b)
		m[5] += float64(a * b)
	}
}

func correlation(m []float64) float64 {
	xx, yy := m[3]-float64(m[1]*m[1])/m[0], m[4]-float64(m[2]*m[2])/m[0]
	if m[0] < 2 || !(xx > 1e-12*m[3]) || !(yy > 1e-12*m[4]) {
		return math.NaN()
	}
	return max(-1, min(1, (m[5]-float64(m[1]*m[2])/m[0])/math.Sqrt(xx)/math.Sqrt(yy)))
}

// Standard returns the columns of both tables in units of their own scale around their common mean, so that products
// neither vanish nor overflow.
func Standard(x [2][]float64) [2][]float64 {
	sum, n := 0.0, 0.0
	for _, list := range x {
		for _, v := range list {
			if !math.IsNaN(v) {
				sum, n = sum+v, n+1
			}
		}
	}
	mean, dev := sum/n, 0.0
	for _, list := range x {
		for _, v := range list {
			if !math.IsNaN(v) {
				dev += math.Abs(v-mean) / n
			}
		}
	}
	return mapped(x, func(v float64) float64 { return (v - mean) / dev })
}

func mapped(x [2][]float64, to func(v float64) float64) (out [2][]float64) {
	for k, list := range x {
		out[k] = make([]float64, len(list))
		for i, v := range list {
			out[k][i] = to(v)
		}
	}
	return out
}

// Ranks returns the average rank of each value among the values of both tables, from -1 to 1.
func Ranks(x [2][]float64) (out [2][]float64) {
	type cell struct {
		v          float64
		table, row int32
	}
	var cells []cell
	for k, list := range x {
		out[k] = make([]float64, len(list))
		for i, v := range list {
			out[k][i] = math.NaN()
			if !math.IsNaN(v) {
				cells = append(cells, cell{v, int32(k), int32(i)})
			}
		}
	}
	slices.SortFunc(cells, func(a, b cell) int { return cmp.Compare(a.v, b.v) })
	for from := 0; from < len(cells); {
		to := from + 1
		for to < len(cells) && cells[to].v == cells[from].v {
			to++
		}
		for _, c := range cells[from:to] {
			out[c.table][c.row] = float64(from+to)/float64(len(cells)) - 1
		}
		from = to
	}
	return out
}
