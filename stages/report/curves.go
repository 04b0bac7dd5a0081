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

// drawCurves trains logistic regression (C = 1, l2) on synthetic rows, and on
// real ones where they are there, and draws its curves on the real rows.
func (s *settings) drawCurves(ctx context.Context, env *pipeline.Env, frames map[string]*columns.Frame, page *report.Report) error {
	target, positive := s.target(env)
	class, why := positiveClass(frames["real"], target, positive)
	if why != "" {
		page.LeftOut = append(page.LeftOut, "ROC and precision-recall curves: "+why+".")
		return nil
	}
	for _, port := range []string{"synthetic", "real_train"} {
		if frames[port] == nil {
			continue
		}
		c, why, err := curve(ctx, env, frames[port], frames["real"], target, class)
		if err != nil {
			return fmt.Errorf("curves of what is learnt from %s: %w", port, err)
		}
		if why != "" {
			page.LeftOut = append(page.LeftOut, "Curves of what is learnt from "+port+": "+why+".")
			continue
		}
		c.Name = "learnt from " + source(env, port)
		page.Curves = append(page.Curves, c)
	}
	return nil
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

func curve(ctx context.Context, env *pipeline.Env, train, test *columns.Frame, target string, class int) (report.Classifier, string, error) {
	t := prediction.NewTrial(train, test, target, features.Standard, curveRows, env.Rand("training rows of curves"))
	if why := t.Impossible(); why != "" {
		return report.Classifier{}, why, nil
	}
	p, err := t.Classify(ctx, learn.Logistic{C: 1, Penalty: learn.L2}, learn.Run{Rand: env.Rand("curves"), Workers: env.Workers})
	if why := learn.Declined(err); why != "" {
		return report.Classifier{}, why, nil
	}
	if err != nil {
		return report.Classifier{}, "", err
	}
	is := make([]bool, t.Test.Rows)
	for i, v := range t.Test.Column(target).Codes {
		is[i] = int(v) == class
	}
	points := score.NewCurve(is, p.Scores.Cols[class])
	c := report.Classifier{AUROC: points.AUROC(), Average: points.AveragePrecision()}
	if math.IsNaN(c.AUROC) {
		return c, prediction.OneClass, nil
	}
	c.Low, c.High, _ = prediction.AUROC(is, p.Scores.Cols[class], env.Rand("resampled test rows of curves"), env.Workers).Interval()
	c.FPR, c.TPR = points.ROC()
	c.Precision, c.Recall = points.PR()
	return c, "", nil
}
