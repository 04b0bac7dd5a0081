package report

import (
	"context"
	"math"

	"weir/pipeline"
	"weir/record/report"
	"weir/stages/internal/columns"
	"weir/stages/internal/metric/association"
	"weir/train/parallel"
)

// relationColumns is the most columns whose pairs are computed for a picture.
const relationColumns = 200

// drawRelations fills in the association of every pair of columns in both
// tables, over the rows that have both values.
func drawRelations(ctx context.Context, env *pipeline.Env, frames map[string]*columns.Frame, page *report.Report) error {
	real, synthetic := frames["real"], frames["synthetic"]
	if n := len(real.Columns); n < 2 || n > relationColumns {
		page.LeftOut = append(page.LeftOut, "Association matrices: the tables must have from 2 to 200 columns in common.")
		return nil
	}
	page.Relations = &report.Relations{
		Measure: "Pearson correlation of two numbers, Cramér's V of two categories, correlation ratio of a number and a category",
		Names:   real.Names(), Real: relations(ctx, real, env.Workers), Synthetic: relations(ctx, synthetic, env.Workers),
	}
	page.Relations.Beyond = beyondChance(ctx, env, frames, page.Relations)
	return ctx.Err()
}

func relations(ctx context.Context, f *columns.Frame, workers int) [][]float64 {
	n := len(f.Columns)
	m := make([][]float64, n)
	for i := range m {
		m[i] = make([]float64, n)
		m[i][i] = math.NaN() // a column with itself is not drawn
	}
	parallel.Do(workers, n, func(_, i int) {
		for j := range i {
			if ctx.Err() == nil {
				v := association.Mixed(&f.Columns[i], &f.Columns[j])
				m[i][j], m[j][i] = v, v
			}
		}
	})
	return m
}
