package queries

import (
	"weir/pipeline"
	"weir/stages/internal/question"
)

// figures declares the errors of both kinds of answers, by stage and question.
func figures() pipeline.Figures {
	const answer = "answer"
	accuracy := func(name, pair, doc string) pipeline.Figure {
		return pipeline.Figure{Name: name, Parts: answer, Better: pipeline.BetterHigh, Headline: true,
			Real: "accuracy_real", Pair: pair, Doc: doc}
	}
	return pipeline.Figures{
		{Name: "synthetic_wins", Parts: answer, Better: pipeline.BetterPlain, Headline: true,
			Doc: "share of the declared questions that synthetic rows answer better than the tailored answers"},
		{Name: "error_tailored", Parts: answer, Better: pipeline.BetterLow, Headline: true,
			Doc: "mean error of the tailored answers, 0 is best"},
		{Name: "error_synthetic", Parts: answer, Better: pipeline.BetterLow, Headline: true,
			Doc: "mean error of the same questions put to synthetic rows, 0 is best"},
		accuracy("accuracy_tailored", "", "the released regression: share of real outcomes that it tells"),
		accuracy("accuracy_synthetic", "accuracy",
			"the same regression of the synthetic rows: share of real outcomes that it tells"),
		{Name: "accuracy_real", Parts: answer, Better: pipeline.BetterHigh,
			Doc: "the same regression of the real rows: share of real outcomes that it tells"},
		{Name: "interval_coverage", Parts: answer, Better: pipeline.BetterHigh,
			Doc: "share of the released intervals that hold the real answer"},
		question.RowsFigure(),
	}
}
