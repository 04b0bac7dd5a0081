package plots

import (
	"context"
	"fmt"
	"math"
	"slices"

	"weir/pipeline"
	"weir/record/report"
	"weir/stages/internal/columns"
	"weir/stages/internal/learn"
	"weir/stages/internal/prediction"
	"weir/stages/metric"
	"weir/train/parallel"
)

// curveRows is the most rows that the curves' learner is trained on.
const curveRows = 50000

// predictions are the scores that a learner gives the real rows that have a target, and which of these are positive.
type predictions struct {
	test     *columns.Frame
	positive []bool
	scores   []float64
}

// drawCurves trains logistic regression (C = 1, l2) on synthetic rows, and on
// real ones where they are there, and draws its curves on the real rows. It returns the predictions by port.
func (s *settings) drawCurves(ctx context.Context, env *pipeline.Env, frames map[string]*columns.Frame,
	page *report.Report) (map[string]predictions, error) {
	target, positive := s.target(env)
	class, why := positiveClass(frames["real"], target, positive)
	if why != "" {
		page.LeftOut = append(page.LeftOut, "ROC and precision-recall curves: "+why+".")
		return nil, nil
	}
	learnt := map[string]predictions{}
	for _, port := range []string{"synthetic", "real_train"} {
		if frames[port] == nil {
			continue
		}
		c, p, why, err := curve(ctx, env, frames[port], frames["real"], target, class)
		if err != nil {
			return nil, fmt.Errorf("curves of what is learnt from %s: %w", port, err)
		}
		if why != "" {
			page.LeftOut = append(page.LeftOut, "Curves of what is learnt from "+port+": "+why+".")
			continue
		}
		c.Name = "learnt from " + source(env, port)
		page.Curves = append(page.Curves, c)
		learnt[port] = p
	}
	return learnt, nil
}

// positiveClass returns the code that counts as positive, or why there are no curves.
func positiveClass(f *columns.Frame, target, positive string) (int, string) {
	if target == "" {
		return 0, "no target is set, and no stage of kind downstream has one"
	}
	c := f.Column(target)
	switch {
	case c == nil:
		return 0, "the tables do not share the column " + target
	case !c.Coded() || len(c.Categories) != 2:
		return 0, "the target " + target + " does not have two categories"
	case positive != "":
		return max(0, slices.Index(c.Categories, positive)), ""
	}
	return 1, ""
}

// curve draws what is learnt from the training rows, or says why it cannot.
func curve(ctx context.Context, env *pipeline.Env, train, test *columns.Frame, target string, class int) (
	c report.Classifier, built predictions, why string, err error) {
	t := prediction.NewTrainTest(train, test, target, prediction.ScaleStandard, curveRows,
		env.Rand("training rows of curves"))
	if why := t.Impossible(); why != "" {
		return c, built, why, nil
	}
	p, err := t.Classify(ctx, learn.Logistic{C: 1, Penalty: learn.L2}, learn.Run{Rand: env.Rand("curves"),
		Workers: env.Workers})
	if why := learn.Declined(err); why != "" {
		return c, built, why, nil
	}
	if err != nil {
		return c, built, "", err
	}
	built = predictions{t.Test, make([]bool, t.Test.Rows), p.Scores.Cols[class]}
	for i, v := range t.Test.Column(target).Codes {
		built.positive[i] = int(v) == class
	}
	points := learn.NewCurve(built.positive, built.scores)
	c.AUROC, c.Average = points.AUROC(), points.AveragePrecision()
	if math.IsNaN(c.AUROC) {
		return c, built, prediction.OneClass, nil
	}
	rng := env.Rand("resampled test rows of curves")
	c.Low, c.High, _ = prediction.AUROC(built.positive, built.scores, rng, env.Workers).Interval()
	c.FPR, c.TPR = points.ROC()
	c.Precision, c.Recall = points.PR()
	return c, built, "", nil
}

// Bounds on the components that are computed for a picture: rows that they are
// fitted on, and features.
const (
	projectionRows     = 50000
	projectionFeatures = 300
)

// drawProjection puts rows of both tables on the first two principal components
// of the real one; numbers are standardised by the real rows, categories are
// indicators.
func (s *settings) drawProjection(ctx context.Context, env *pipeline.Env, frames map[string]*columns.Frame,
	page *report.Report) error {
	real, synthetic := frames["real"], frames["synthetic"]
	leave := func(why string) { page.LeftOut = append(page.LeftOut, "Principal components: "+why+".") }
	if real.Rows < 3 || len(real.Columns) < 2 {
		leave("needs three real rows and two columns")
		return nil
	}
	fitted := sampled(env, "rows of components", real, projectionRows)
	encoder := prediction.NewEncoder(prediction.EncoderOptions{Scaling: prediction.ScaleStandard}, nil, fitted, synthetic)
	if p := len(encoder.Names()); p < 2 || p > projectionFeatures {
		leave(fmt.Sprintf("%d features, must be from 2 to %d", p, projectionFeatures))
		return nil
	}
	spread := metric.NewScatter(len(encoder.Names()))
	spread.Add(encoder.Encode(fitted))
	pca, err := metric.NewPCA(spread.Mean(), spread.Covariance(), 2)
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
	j.Note = fmt.Sprintf("Fitted on %d real rows of %d features; %d real and %d synthetic rows are drawn.", fitted.Rows,
		len(encoder.Names()), len(j.Real), len(j.Synthetic))
	page.Projection = j
	return ctx.Err()
}

// sampled returns f, or n of its rows drawn at random.
func sampled(env *pipeline.Env, purpose string, f *columns.Frame, n int) *columns.Frame {
	if f.Rows <= n {
		return f
	}
	return f.Take(env.Rand(purpose).Perm(f.Rows)[:n])
}

func dots(pca *metric.PCA, x learn.Matrix) []report.Point {
	points := make([]report.Point, x.Rows)
	for i, at := range pca.Project(x) {
		points[i] = report.Point{X: at[0], Y: at[1]}
	}
	return points
}

// relationColumns is the most columns whose pairs are computed for a picture.
const relationColumns = 200

// drawRelations fills in the association of every pair of columns in both
// tables, over the rows that have both values.
func drawRelations(ctx context.Context, env *pipeline.Env, frames map[string]*columns.Frame,
	page *report.Report) error {
	real, synthetic := frames["real"], frames["synthetic"]
	if n := len(real.Columns); n < 2 || n > relationColumns {
		page.LeftOut = append(page.LeftOut, "Association matrices: the tables must have from 2 to 200 columns in common.")
		return nil
	}
	page.Relations = &report.Relations{
		Measure: "Pearson correlation of two numbers, Cramér's V of two categories, correlation ratio of a number and a " +
			"category",
		Names: real.Names(), Real: relations(ctx, real, env.Workers), Synthetic: relations(ctx, synthetic, env.Workers),
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
				v := metric.MixedAssociation(&f.Columns[i], &f.Columns[j])
				m[i][j], m[j][i] = v, v
			}
		}
	})
	return m
}
