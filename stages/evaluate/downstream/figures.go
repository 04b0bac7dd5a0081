package downstream

import (
	"weir/pipeline"
	"weir/stages/internal/prediction"
	"weir/stages/internal/question"
)

// figures declares each score with its references, and what real rows teach beyond it.
func figures() pipeline.Figures {
	var list pipeline.Figures
	for _, name := range append(prediction.ClassScores(), prediction.NumberScores()...) {
		f := scored(name)
		f.Name, f.Parts, f.Pair, f.Learnt, f.Interval = name, "learner", name, true, true
		f.Few, f.Beside = true, append([]pipeline.Role{pipeline.RealTrain, pipeline.Baseline}, f.Beside...)
		list = append(list, f,
			pipeline.Figure{Name: lossName(name), Better: pipeline.BetterPlain, Interval: true,
				Doc: "by how much the score of learners of real rows exceeds that of synthetic rows"},
			pipeline.Figure{Name: agreementName(name), Better: pipeline.BetterHigh,
				Doc: "share of pairs of learners that synthetic rows rank as real rows do, 1 is best"})
	}
	list = append(list, pipeline.Figure{Name: weight, Parts: "learner and column", Better: pipeline.BetterPlain,
		Beside: []pipeline.Role{pipeline.RealTrain, pipeline.Baseline},
		Doc:    "how much a column counts for a learner of synthetic rows: its coefficient, or its importance"})
	return append(list, question.RowsFigure())
}

// weight is the name of the figure that setting weights adds.
const weight = "column_weight"

func lossName(score string) string      { return score + "_loss" }
func agreementName(score string) string { return score + "_rank_agreement" }

// scored says what a score means.
func scored(name string) pipeline.Figure {
	const learnt = "learnt from synthetic rows: "
	high := func(doc string) pipeline.Figure {
		return pipeline.Figure{Better: pipeline.BetterHigh, Doc: learnt + doc}
	}
	low := func(doc string) pipeline.Figure {
		return pipeline.Figure{Better: pipeline.BetterLow, Doc: learnt + doc}
	}
	first := func(f pipeline.Figure, label string, chance *float64, beside ...pipeline.Role) pipeline.Figure {
		f.Headline, f.Beside, f.Verdict = true, beside, &pipeline.Verdict{Label: label, Chance: chance}
		return f
	}
	return map[string]pipeline.Figure{
		"auroc": first(pipeline.Figure{Better: pipeline.BetterHigh,
			Doc: "learnt from synthetic rows, tried on real ones; .5 is chance, 1 is best"},
			"Learning: AUROC on real rows", pipeline.KnownValue(0.5)),
		"auroc_weighted":    high("AUROC of each class against the rest, weighted by its rows; .5 is chance, 1 is best"),
		"auroc_ovo":         high("AUROC, mean over pairs of classes; .5 is chance, 1 is best"),
		"average_precision": high("mean precision over recall, 1 is best"),
		"auprc_trapezoid":   high("area under precision and recall by trapezoids, 1 is best"),
		"accuracy": first(high("share of real rows that it gets right"),
			"Learning: accuracy on real rows", nil, pipeline.Majority),
		"balanced_accuracy": high("share of real rows that it gets right, mean over classes"),
		"precision":         high("share of the real rows called positive that are, 1 is best"),
		"recall":            high("share of the positive real rows that it finds, 1 is best"),
		"f1":                high("harmonic mean of precision and recall, 1 is best"),
		"f1_micro":          high("F1 over all decisions, 1 is best"),
		"f1_macro":          high("F1, mean over classes, 1 is best"),
		"f1_weighted":       high("F1, mean over classes weighted by their rows, 1 is best"),
		"matthews":          high("correlation of prediction and truth, 0 is chance, 1 is best"),
		"cohen_kappa":       high("agreement beyond chance, 0 is chance, 1 is best"),
		"log_loss":          low("mean surprise at the real classes, in nats, 0 is best"),
		"brier":             low("mean squared error of the chances, 0 is best"),
		"r2": first(high("share of the real variance explained, 1 is best"),
			"Learning: R² on real rows", pipeline.KnownValue(0)),
		"explained_variance":    high("share of the real variance explained, bias aside, 1 is best"),
		"mse":                   low("mean squared error on real rows, 0 is best"),
		"rmse":                  low("root of the mean squared error on real rows, 0 is best"),
		"mae":                   low("mean error on real rows, 0 is best"),
		"median_absolute_error": low("median error on real rows, 0 is best"),
		"max_error":             low("greatest error on real rows, 0 is best"),
	}[name]
}
