package evaluate

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"weir/pipeline"
	"weir/record/report"
	"weir/stages/evaluate/frame"
	"weir/stages/evaluate/learn"
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
func (s *Report) drawProjection(ctx context.Context, env *pipeline.Env, frames map[string]*frame.Frame, page *report.Report) error {
	real, synthetic := frames["real"], frames["synthetic"]
	leave := func(why string) { page.LeftOut = append(page.LeftOut, "Principal components: "+why+".") }
	if real.Rows < 3 || len(real.Columns) < 2 {
		leave("need three real rows and two columns")
		return nil
	}
	fitted := sampled(env, "rows of components", real, projectionRows)
	encoder := frame.NewEncoder(frame.Options{Scaling: frame.Standard}, nil, fitted, synthetic)
	if p := len(encoder.Names()); p < 2 || p > projectionFeatures {
		leave(fmt.Sprintf("%d features, must be from 2 to %d", p, projectionFeatures))
		return nil
	}
	x := encoder.Encode(fitted)
	means := make([]float64, len(x.Cols))
	for j, c := range x.Cols {
		means[j], _ = learn.Moments(c)
	}
	axes, explained, ok := components(covariance(x, means))
	if !ok {
		leave("the real rows do not vary in two directions")
		return nil
	}
	j := &report.Projection{Explained: explained}
	j.Real = project(encoder.Encode(sampled(env, "real dots", real, s.Rows)), means, axes)
	j.Synthetic = project(encoder.Encode(sampled(env, "synthetic dots", synthetic, s.Rows)), means, axes)
	j.Note = fmt.Sprintf("Fitted on %d real rows of %d features; %d real and %d synthetic rows are drawn.", fitted.Rows, len(x.Cols), len(j.Real), len(j.Synthetic))
	page.Projection = j
	return ctx.Err()
}

// sampled is f, or n of its rows drawn at random.
func sampled(env *pipeline.Env, purpose string, f *frame.Frame, n int) *frame.Frame {
	if f.Rows <= n {
		return f
	}
	return f.Take(env.Rand(purpose).Perm(f.Rows)[:n])
}

func covariance(x learn.Matrix, means []float64) *mat.SymDense {
	centred := learn.NewMatrix(x.Rows, len(x.Cols))
	for j, c := range x.Cols {
		for i, v := range c {
			centred.Cols[j][i] = v - means[j]
		}
	}
	m := mat.NewSymDense(len(x.Cols), nil)
	for j := range centred.Cols {
		for k := range j + 1 {
			m.SetSym(j, k, floats.Dot(centred.Cols[j], centred.Cols[k])/float64(x.Rows-1))
		}
	}
	return m
}

// components are the two leading eigenvectors, the loading of largest absolute
// value positive (shared METRICS section 9), and their shares of the variance.
func components(m *mat.SymDense) (axes [2][]float64, explained [2]float64, ok bool) {
	var e mat.EigenSym
	if !e.Factorize(m, true) {
		return axes, explained, false
	}
	values := e.Values(nil) // ascending
	var vectors mat.Dense
	e.VectorsTo(&vectors)
	p, total := len(values), floats.Sum(values)
	if !(values[p-1] > 1e-12) {
		return axes, explained, false
	}
	for k := range axes {
		axes[k] = mat.Col(nil, p-1-k, &vectors)
		explained[k] = math.Max(0, values[p-1-k]/total)
		if largest := floats.MaxIdx(absolute(axes[k])); axes[k][largest] < 0 {
			floats.Scale(-1, axes[k])
		}
	}
	return axes, explained, true
}

func absolute(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = math.Abs(v)
	}
	return out
}

func project(x learn.Matrix, means []float64, axes [2][]float64) []report.Point {
	points := make([]report.Point, x.Rows)
	for j, c := range x.Cols {
		for i, v := range c {
			points[i].X += (v - means[j]) * axes[0][j]
			points[i].Y += (v - means[j]) * axes[1][j]
		}
	}
	return points
}
