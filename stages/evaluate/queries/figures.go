package queries

import (
	"weir/pipeline/figure"
	"weir/stages/internal/question"
)

// figures declares the errors of both kinds of answers, by stage and question.
func figures() figure.List {
	const answer = "answer"
	accuracy := func(name, pair, doc string) figure.Figure {
		return figure.Figure{Name: name, Parts: answer, Better: figure.BetterHigh, Headline: true,
			Real: "accuracy_real", Pair: pair, Doc: doc}
	}
	return figure.List{
		{Name: "synthetic_wins", Parts: answer, Better: figure.BetterPlain, Headline: true,
			Doc: "share of the declared questions that synthetic rows answer better than the tailored answers"},
		{Name: "error_tailored", Parts: answer, Better: figure.BetterLow, Headline: true,
			Doc: "mean error of the tailored answers, 0 is best"},
		{Name: "error_synthetic", Parts: answer, Better: figure.BetterLow, Headline: true,
			Doc: "mean error of the same questions put to synthetic rows, 0 is best"},
		accuracy("accuracy_tailored", "", "the released regression: share of real outcomes that it tells"),
		accuracy("accuracy_synthetic", "accuracy",
			"the same regression of the synthetic rows: share of real outcomes that it tells"),
		{Name: "accuracy_real", Parts: answer, Better: figure.BetterHigh,
			Doc: "the same regression of the real rows: share of real outcomes that it tells"},
		{Name: "interval_coverage", Parts: answer, Better: figure.BetterHigh,
			Doc: "share of the released intervals that hold the real answer"},
		question.RowsFigure(),
	}
}
