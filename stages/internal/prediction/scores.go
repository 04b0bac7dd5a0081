package prediction

import (
	"math"
	"slices"
	"strings"

	"weir/stages/internal/learn"
	"weir/stages/metric"
)

// The scores in the order of reports.
const (
	classScores  = "auroc|auroc_weighted|auroc_ovo|average_precision|auprc_trapezoid|accuracy|balanced_accuracy|precision|recall|f1|f1_micro|f1_macro|f1_weighted|matthews|cohen_kappa|log_loss|brier"
	numberScores = "r2|explained_variance|mse|rmse|mae|median_absolute_error|max_error"
)

// ClassScores names the scores of predicted categories.
func ClassScores() []string { return strings.Split(classScores, "|") }

// NumberScores names the scores of predicted numbers.
func NumberScores() []string { return strings.Split(numberScores, "|") }

// DefaultScores returns those shown where none are asked for; numbers have no classes.
func DefaultScores(classes int) []string {
	switch {
	case classes == 0:
		return []string{"r2", "mae", "rmse"}
	case classes == 2:
		return []string{"auroc", "average_precision", "accuracy", "f1", "f1_macro", "log_loss", "brier"}
	}
	return []string{"auroc", "accuracy", "balanced_accuracy", "f1_micro", "f1_macro", "log_loss"}
}

// judgeClasses scores predictions of categories y. positive is the category that
// scores of two classes call positive.
func judgeClasses(y []int32, p Predictions, positive int, names []string) map[string]metric.Noted {
	j, out := new(jury).hear(y, p, positive), map[string]metric.Noted{}
	for _, n := range names {
		out[n] = j.value(n).With(p.Note)
	}
	return out
}

type jury struct {
	p         Predictions
	y         []int
	classes   int
	confusion learn.Confusion
	// of two classes:
	is    []bool
	s     []float64
	curve learn.Curve
}

// hear takes up other predictions; a jury that is used again keeps its memory.
func (j *jury) hear(y []int32, p Predictions, positive int) *jury {
	j.p, j.classes, j.y = p, len(p.Scores.Cols), j.y[:0]
	for _, v := range y {
		j.y = append(j.y, int(v))
	}
	if j.classes == 2 {
		j.binary(positive)
	} else {
		j.confusion = learn.NewConfusion(j.y, learn.Predict(p.Scores), j.classes)
	}
	return j
}

func (j *jury) binary(positive int) {
	j.s, j.is = j.p.Scores.Cols[positive], j.is[:0]
	for _, v := range j.y {
		j.is = append(j.is, v == positive)
	}
	point := 0.5
	if !j.p.Probabilities {
		point = 0
	}
	j.curve, j.confusion = learn.NewCurve(j.is, j.s), learn.ConfusionAt(j.is, j.s, point)
}

const (
	noProbabilities = "the learner gives decision values, not probabilities"
	twoOnly         = "is defined for two classes only"
	OneClass        = "the test rows hold one class only"
	noPositive      = "the test rows hold no positive row"
)

func (j *jury) value(name string) metric.Noted {
	c := j.confusion
	switch name {
	case "auroc", "auroc_weighted", "auroc_ovo":
		return j.auroc(name)
	case "log_loss":
		return j.logLoss()
	case "accuracy":
		return metric.Of(c.Accuracy())
	case "balanced_accuracy":
		return metric.Of(c.BalancedAccuracy())
	case "f1_micro":
		return metric.Of(c.Mean(c.F1, learn.MicroAverage))
	case "f1_macro":
		return metric.Of(c.Mean(c.F1, learn.MacroAverage))
	case "f1_weighted":
		return metric.Of(c.Mean(c.F1, learn.WeightedAverage))
	case "matthews":
		return metric.Of(c.Matthews())
	case "cohen_kappa":
		return orNote(c.Kappa(), "all labels, true and predicted, are of one class")
	}
	return j.pair(name)
}

func orNote(v float64, why string) metric.Noted {
	if math.IsNaN(v) {
		return metric.None(why)
	}
	return metric.Of(v)
}

// pair returns a score of two classes.
func (j *jury) pair(name string) metric.Noted {
	c := j.confusion
	if j.classes != 2 {
		return metric.None(twoOnly)
	}
	switch name {
	case "average_precision":
		return orNote(j.curve.AveragePrecision(), noPositive)
	case "auprc_trapezoid":
		return orNote(j.curve.AUPRCTrapezoid(), noPositive)
	case "precision":
		return metric.Of(c.Precision(1))
	case "recall":
		return metric.Of(c.Recall(1))
	case "f1":
		return metric.Of(c.F1(1))
	case "brier":
		if !j.p.Probabilities {
			return metric.None(noProbabilities)
		}
		return metric.Of(learn.Brier(j.is, j.s))
	}
	return metric.None("is not a score of classes")
}

// auroc returns the AUROC of two classes, or an average over the classes with test rows.
func (j *jury) auroc(name string) metric.Noted {
	if j.classes == 2 {
		return orNote(j.curve.AUROC(), OneClass)
	}
	y, p, classes := j.present()
	if classes < 2 {
		return metric.None(OneClass)
	}
	note := ""
	if classes < j.classes {
		note = "averaged over the classes that have test rows"
	}
	average := learn.MacroAverage
	if name == "auroc_weighted" {
		average = learn.WeightedAverage
	}
	if name == "auroc_ovo" {
		return metric.Of(learn.AUROCOneVsOne(y, p, classes, average), note)
	}
	return metric.Of(learn.AUROCOneVsRest(y, p, classes, average), note)
}

// present renumbers the classes that have test rows and gives rows of scores.
func (j *jury) present() ([]int, [][]float64, int) {
	place, n := make([]int, j.classes), 0
	for _, k := range j.y {
		place[k] = 1
	}
	var columns []int
	for k, seen := range place {
		if seen == 1 {
			place[k], n, columns = n, n+1, append(columns, k)
		}
	}
	y, p := make([]int, len(j.y)), make([][]float64, len(j.y))
	for i, k := range j.y {
		y[i], p[i] = place[k], make([]float64, n)
		for c, from := range columns {
			p[i][c] = j.p.Scores.Cols[from][i]
		}
	}
	return y, p, n
}

func (j *jury) logLoss() metric.Noted {
	switch {
	case !j.p.Probabilities:
		return metric.None(noProbabilities)
	case j.classes == 2:
		return metric.Of(learn.LogLoss(j.is, j.s, learn.EpsilonMachine))
	}
	rows := make([][]float64, len(j.y))
	for i := range rows {
		rows[i] = j.p.Scores.Row(i, make([]float64, j.classes))
	}
	return metric.Of(learn.LogLossMulti(j.y, rows, learn.EpsilonMachine))
}

// judgeNumbers scores predicted numbers.
func judgeNumbers(y, predicted []float64, names []string) map[string]metric.Noted {
	values, out := numberValues(y, predicted), map[string]metric.Noted{}
	for _, n := range names {
		if !slices.Contains(NumberScores(), n) {
			out[n] = metric.None("is not a score of numbers")
			continue
		}
		out[n] = orNote(values(n), "one test row has no variance to explain")
	}
	return out
}

// numberValues returns the scores of numbers by name.
func numberValues(y, predicted []float64) func(name string) float64 {
	r := learn.NewRegression(y, predicted)
	return func(name string) float64 {
		switch name {
		case "r2":
			return r.R2
		case "explained_variance":
			return r.ExplainedVariance
		case "mse":
			return r.MSE
		case "rmse":
			return r.RMSE
		case "mae":
			return r.MAE
		case "median_absolute_error":
			return r.MedianAbsoluteError
		}
		return r.MaxError
	}
}

// area computes the AUROC of resamples of two classes from how often each row is drawn, without a list of the rows: it
// equals the area of learn.Curve to the bit, and a table of a thousand columns asks for half a million of them.
type area struct {
	order    []int  // rows by descending score
	positive []bool // of order
	last     []bool // of order: the next row has another score
}

func newArea(y []int32, s []float64, positive int, order []int) *area {
	a := &area{order: order, positive: make([]bool, len(order)), last: make([]bool, len(order))}
	for k, i := range order {
		a.positive[k] = int(y[i]) == positive
		a.last[k] = k+1 == len(order) || s[order[k+1]] != s[i]
	}
	return a
}

// judge writes the AUROC; NaN where one class is not drawn.
func (a *area) judge(times []int32, _ []string, dst []float64) {
	sum, tp, fp, before, comparison := 0.0, 0, 0, 0, 0
	for k, i := range a.order {
		if a.positive[k] {
			tp += int(times[i])
		} else {
			fp += int(times[i])
		}
		if a.last[k] {
			sum += float64(float64(fp-comparison) * float64(tp+before) / 2)
			before, comparison = tp, fp
		}
	}
	if dst[0] = math.NaN(); tp > 0 && fp > 0 {
		dst[0] = sum / float64(tp) / float64(fp)
	}
}
