package evaluate

import (
	"context"
	"math"

	"weir/pipeline"
	"weir/record/report"
	"weir/stages/evaluate/frame"
	"weir/stages/evaluate/metric/marginal"
)

// relationColumns is the most columns whose pairs are computed for a picture.
const relationColumns = 200

// drawRelations fills in the association of every pair of columns in both
// tables, over the rows that have both values.
func drawRelations(ctx context.Context, env *pipeline.Env, frames map[string]*frame.Frame, page *report.Report) error {
	real, synthetic := frames["real"], frames["synthetic"]
	if n := len(real.Columns); n < 2 || n > relationColumns {
		page.LeftOut = append(page.LeftOut, "Association matrices: the tables must have from 2 to 200 columns in common.")
		return nil
	}
	page.Relations = &report.Relations{
		Measure: "Pearson correlation of two numbers, Cramér's V of two categories, correlation ratio of a number and a category",
		Names:   real.Names(), Real: relations(ctx, real, env.Workers), Synthetic: relations(ctx, synthetic, env.Workers),
	}
	return ctx.Err()
}

func relations(ctx context.Context, f *frame.Frame, workers int) [][]float64 {
	n := len(f.Columns)
	m := make([][]float64, n)
	for i := range m {
		m[i] = make([]float64, n)
		m[i][i] = math.NaN() // a column with itself is not drawn
	}
	marginal.Parallel(n, workers, func(i int) {
		for j := range i {
			if ctx.Err() == nil {
				v := relation(&f.Columns[i], &f.Columns[j])
				m[i][j], m[j][i] = v, v
			}
		}
	})
	return m
}

// relation is NaN where either column is constant over the common rows.
func relation(a, b *frame.Column) float64 {
	switch {
	case a.Coded() && b.Coded():
		return cramersV(a, b)
	case a.Coded():
		return correlationRatio(a, b)
	case b.Coded():
		return correlationRatio(b, a)
	}
	return pearson(a.Numbers, b.Numbers)
}

// pearson is the product-moment correlation of the rows with both values.
func pearson(x, y []float64) float64 {
	n, mx, my := 0.0, 0.0, 0.0
	for i := range x {
		if !math.IsNaN(x[i] + y[i]) {
			n++
			mx, my = mx+(x[i]-mx)/n, my+(y[i]-my)/n
		}
	}
	var xx, yy, xy float64
	for i := range x {
		if !math.IsNaN(x[i] + y[i]) {
			dx, dy := x[i]-mx, y[i]-my
			xx, yy, xy = xx+dx*dx, yy+dy*dy, xy+dx*dy
		}
	}
	if !(xx > 0 && yy > 0) {
		return math.NaN()
	}
	return math.Max(-1, math.Min(1, xy/math.Sqrt(xx)/math.Sqrt(yy)))
}

// cramersV is sqrt(chi2/n / min(r-1, c-1)) over the categories that occur, without
// bias correction (scipy.stats.contingency.association).
func cramersV(a, b *frame.Column) float64 {
	width := len(b.Categories)
	cells := make([]float64, len(a.Categories)*width)
	rows, cols, n := make([]float64, len(a.Categories)), make([]float64, width), 0.0
	for i, v := range a.Codes {
		if w := b.Codes[i]; v >= 0 && w >= 0 {
			cells[int(v)*width+int(w)]++
			rows[v]++
			cols[w]++
			n++
		}
	}
	least := min(occurring(rows), occurring(cols)) - 1
	if least < 1 {
		return math.NaN()
	}
	chi2 := 0.0
	for k, count := range cells {
		if e := rows[k/width] * cols[k%width] / n; e > 0 {
			chi2 += (count - e) * (count - e) / e
		}
	}
	return math.Min(1, math.Sqrt(chi2/n/float64(least)))
}

func occurring(counts []float64) int {
	n := 0
	for _, c := range counts {
		if c > 0 {
			n++
		}
	}
	return n
}

// correlationRatio is sqrt(SSB/SST) of the numbers grouped by category.
func correlationRatio(groups, numbers *frame.Column) float64 {
	n, sum := make([]float64, len(groups.Categories)), make([]float64, len(groups.Categories))
	all, mean := 0.0, 0.0
	each := func(f func(k int32, v float64)) {
		for i, k := range groups.Codes {
			if v := numbers.Numbers[i]; k >= 0 && !math.IsNaN(v) {
				f(k, v)
			}
		}
	}
	each(func(_ int32, v float64) { all++; mean += (v - mean) / all })
	total := 0.0
	each(func(k int32, v float64) {
		d := v - mean
		total += d * d
		n[k]++
		sum[k] += d
	})
	if !(total > 0) || occurring(n) < 2 {
		return math.NaN()
	}
	between := 0.0
	for k := range n {
		if n[k] > 0 {
			between += sum[k] * sum[k] / n[k]
		}
	}
	return math.Min(1, math.Sqrt(between/total))
}
