package report

import (
	"context"
	"fmt"
	"math"
	"slices"

	"weir/pipeline"
	"weir/record/report"
	"weir/stages/internal/columns"
	"weir/stages/internal/features"
	"weir/stages/internal/learn"
	"weir/stages/internal/metric/score"
	"weir/stages/internal/prediction"
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

// positiveClass is the code that counts as positive, or why there are no curves.
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
	c report.Classifier, made predictions, why string, err error) {
	t := prediction.NewTrial(train, test, target, features.Standard, curveRows, env.Rand("training rows of curves"))
	if why := t.Impossible(); why != "" {
		return c, made, why, nil
	}
	p, err := t.Classify(ctx, learn.Logistic{C: 1, Penalty: learn.L2}, learn.Run{Rand: env.Rand("curves"), Workers: env.Workers})
	if why := learn.Declined(err); why != "" {
		return c, made, why, nil
	}
	if err != nil {
		return c, made, "", err
	}
	made = predictions{t.Test, make([]bool, t.Test.Rows), p.Scores.Cols[class]}
	for i, v := range t.Test.Column(target).Codes {
		made.positive[i] = int(v) == class
	}
	points := score.NewCurve(made.positive, made.scores)
	c.AUROC, c.Average = points.AUROC(), points.AveragePrecision()
	if math.IsNaN(c.AUROC) {
		return c, made, prediction.OneClass, nil
	}
	rng := env.Rand("resampled test rows of curves")
	c.Low, c.High, _ = prediction.AUROC(made.positive, made.scores, rng, env.Workers).Interval()
	c.FPR, c.TPR = points.ROC()
	c.Precision, c.Recall = points.PR()
	return c, made, "", nil
}
