package report

import (
	"context"
	"fmt"

	"weir/pipeline"
	"weir/record/report"
	"weir/stages/internal/columns"
	"weir/stages/internal/features"
	"weir/stages/internal/learn"
	"weir/stages/internal/metric/association"
	"weir/stages/internal/metric/projection"
)

// Bounds on the components that are computed for a picture: rows that they are
// fitted on, and features.
const (
	projectionRows     = 50000
	projectionFeatures = 300
)

// drawProjection puts rows of both tables on the first two principal components
// of the real one; numbers are standardised by the real rows, categories are
// indicators.
func (s *settings) drawProjection(ctx context.Context, env *pipeline.Env, frames map[string]*columns.Frame, page *report.Report) error {
	real, synthetic := frames["real"], frames["synthetic"]
	leave := func(why string) { page.LeftOut = append(page.LeftOut, "Principal components: "+why+".") }
	if real.Rows < 3 || len(real.Columns) < 2 {
		leave("needs three real rows and two columns")
		return nil
	}
	fitted := sampled(env, "rows of components", real, projectionRows)
	encoder := features.NewEncoder(features.Options{Scaling: features.Standard}, nil, fitted, synthetic)
	if p := len(encoder.Names()); p < 2 || p > projectionFeatures {
		leave(fmt.Sprintf("%d features, must be from 2 to %d", p, projectionFeatures))
		return nil
	}
	spread := association.NewScatter(len(encoder.Names()))
	spread.Add(encoder.Encode(fitted))
	pca, err := projection.NewPCA(spread.Mean(), spread.Covariance(), 2)
	if err != nil {
		leave(err.Error())
		return nil
	}
	if !(pca.Variance[0] > 0) {
		leave("the real rows do not vary")
		return nil
	}
	j := &report.Projection{Explained: [2]float64{pca.Ratio[0], pca.Ratio[1]}}
	j.Real = dots(pca, encoder.Encode(sampled(env, "real dots", real, s.Rows)))
	j.Synthetic = dots(pca, encoder.Encode(sampled(env, "synthetic dots", synthetic, s.Rows)))
	j.Note = fmt.Sprintf("Fitted on %d real rows of %d features; %d real and %d synthetic rows are drawn.", fitted.Rows, len(encoder.Names()), len(j.Real), len(j.Synthetic))
	page.Projection = j
	return ctx.Err()
}

// sampled is f, or n of its rows drawn at random.
func sampled(env *pipeline.Env, purpose string, f *columns.Frame, n int) *columns.Frame {
	if f.Rows <= n {
		return f
	}
	return f.Take(env.Rand(purpose).Perm(f.Rows)[:n])
}

func dots(pca *projection.PCA, x learn.Matrix) []report.Point {
	points := make([]report.Point, x.Rows)
	for i, at := range pca.Project(x) {
		points[i] = report.Point{X: at[0], Y: at[1]}
	}
	return points
}
