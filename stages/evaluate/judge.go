package evaluate

import (
	"math"

	"weir/stages/internal/learn"
	"weir/stages/internal/metric/score"
)

// figure is one value of a score, NaN with the reason in note.
type figure struct {
	value float64
	note  string
}

func undefined(why string) figure { return figure{math.NaN(), why} }

// The scores by name, and those shown where none are asked for.
const (
	classScoreNames      = "auroc|auroc_weighted|auroc_ovo|average_precision|auprc_trapezoid|accuracy|balanced_accuracy|precision|recall|f1|f1_micro|f1_macro|f1_weighted|matthews|cohen_kappa|log_loss|brier"
	regressionScoreNames = "r2|explained_variance|mse|rmse|mae|median_absolute_error|max_error"
)

func defaultScores(classes int) []string {
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
func judgeClasses(y []int32, p predictions, positive int, names []string) map[string]figure {
	j := &jury{p: p, y: make([]int, len(y)), classes: len(p.scores.Cols)}
	for i, v := range y {
		j.y[i] = int(v)
	}
	if j.classes == 2 {
		j.binary(positive)
	} else {
		j.confusion = score.NewConfusion(j.y, learn.Predict(p.scores), j.classes)
	}
	out := map[string]figure{}
	for _, n := range names {
		f := j.value(n)
		f.note = joinNotes(f.note, p.note)
		out[n] = f
	}
	return out
}

type jury struct {
	p         predictions
	y         []int
	classes   int
	confusion score.Confusion
	// of two classes:
	is    []bool
	s     []float64
	curve score.Curve
}

func (j *jury) binary(positive int) {
	j.s, j.is = j.p.scores.Cols[positive], make([]bool, len(j.y))
	for i, v := range j.y {
		j.is[i] = v == positive
	}
	at := 0.5
	if !j.p.probabilities {
		at = 0
	}
	j.curve, j.confusion = score.NewCurve(j.is, j.s), score.Threshold(j.is, j.s, at)
}

const (
	noProbabilities = "the learner gives decision values, not probabilities"
	twoOnly         = "is defined for two classes only"
	oneClass        = "the test rows hold one class only"
	noPositive      = "the test rows hold no positive row"
)

func (j *jury) value(name string) figure {
	c := j.confusion
	switch name {
	case "auroc", "auroc_weighted", "auroc_ovo":
		return j.auroc(name)
	case "log_loss":
		return j.logLoss()
	case "accuracy":
		return figure{value: c.Accuracy()}
	case "balanced_accuracy":
		return figure{value: c.BalancedAccuracy()}
	case "f1_micro":
		return figure{value: c.Mean(c.F1, score.Micro)}
	case "f1_macro":
		return figure{value: c.Mean(c.F1, score.Macro)}
	case "f1_weighted":
		return figure{value: c.Mean(c.F1, score.Weighted)}
	case "matthews":
		return figure{value: c.Matthews()}
	case "cohen_kappa":
		return orNote(c.Kappa(), "all labels, true and predicted, are of one class")
	}
	return j.pair(name)
}

func orNote(v float64, why string) figure {
	if math.IsNaN(v) {
		return undefined(why)
	}
	return figure{value: v}
}

// pair is a score of two classes.
func (j *jury) pair(name string) figure {
	c := j.confusion
	if j.classes != 2 {
		return undefined(twoOnly)
	}
	switch name {
	case "average_precision":
		return orNote(j.curve.AveragePrecision(), noPositive)
	case "auprc_trapezoid":
		return orNote(j.curve.AUPRCTrapezoid(), noPositive)
	case "precision":
		return figure{value: c.Precision(1)}
	case "recall":
		return figure{value: c.Recall(1)}
	case "f1":
		return figure{value: c.F1(1)}
	case "brier":
		if !j.p.probabilities {
			return undefined(noProbabilities)
		}
		return figure{value: score.Brier(j.is, j.s)}
	}
	return undefined("is no score of classes")
}

// auroc is that of two classes, or an average over the classes with test rows.
func (j *jury) auroc(name string) figure {
	if j.classes == 2 {
		return orNote(j.curve.AUROC(), oneClass)
	}
	y, p, classes := j.present()
	if classes < 2 {
		return undefined(oneClass)
	}
	note := ""
	if classes < j.classes {
		note = "averaged over the classes that have test rows"
	}
	average := score.Macro
	if name == "auroc_weighted" {
		average = score.Weighted
	}
	if name == "auroc_ovo" {
		return figure{score.AUROCOneVsOne(y, p, classes, average), note}
	}
	return figure{score.AUROCOneVsRest(y, p, classes, average), note}
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
			p[i][c] = j.p.scores.Cols[from][i]
		}
	}
	return y, p, n
}

func (j *jury) logLoss() figure {
	switch {
	case !j.p.probabilities:
		return undefined(noProbabilities)
	case j.classes == 2:
		return figure{value: score.LogLoss(j.is, j.s, score.EpsilonMachine)}
	}
	rows := make([][]float64, len(j.y))
	for i := range rows {
		rows[i] = j.p.scores.Row(i, make([]float64, j.classes))
	}
	return figure{value: score.LogLossMulti(j.y, rows, score.EpsilonMachine)}
}

// judgeNumbers scores predicted numbers.
func judgeNumbers(y, predicted []float64, names []string) map[string]figure {
	r := score.NewRegression(y, predicted)
	values := map[string]float64{
		"r2": r.R2, "explained_variance": r.ExplainedVariance, "mse": r.MSE, "rmse": r.RMSE, "mae": r.MAE,
		"median_absolute_error": r.MedianAbsoluteError, "max_error": r.MaxError,
	}
	out := map[string]figure{}
	for _, n := range names {
		v, ok := values[n]
		if !ok {
			out[n] = undefined("is no score of numbers")
			continue
		}
		out[n] = orNote(v, "one test row has no variance to explain")
	}
	return out
}
