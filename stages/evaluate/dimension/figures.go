package dimension

import (
	"weir/pipeline"
	"weir/stages/internal/question"
)

// figures declares the scores of each column as learnt from real and from synthetic rows.
func figures() pipeline.Figures {
	return pipeline.Figures{
		{Name: "sum_of_squares", Better: pipeline.BetterLow,
			Doc: "predicting each column: sum of squared losses of the score, 0 is best"},
		{Name: "mean_absolute_difference", Better: pipeline.BetterLow, Beside: []pipeline.Role{pipeline.Baseline},
			Doc: "predicting each column: mean difference of the scores of what real and synthetic rows teach, 0 is best",
			Verdict: &pipeline.Verdict{Label: "Predicting each column: mean difference", Joint: true, Good: 0.03,
				Fair: 0.1}},
		{Name: kindDifference, Parts: "kind of column", Better: pipeline.BetterLow,
			Doc: "predicting each column: mean difference of the scores, of categories and of numbers, 0 is best"},
		{Name: noDiversity, Better: pipeline.BetterLow,
			Doc: "predicting each column: columns of categories that real rows teach and synthetic rows, which hold one category, do not"},
		{Name: columnsAbove, Parts: "share", Better: pipeline.BetterPlain,
			Doc: "predicting each column: columns with this share of rows outside the commonest category that real rows teach"},
		{Name: realAbove, Parts: "share", Better: pipeline.BetterPlain,
			Doc: "predicting each column with this share: mean score of what real rows teach"},
		{Name: syntheticAbove, Parts: "share", Better: pipeline.BetterHigh, Learnt: true, Real: realAbove,
			Doc: "predicting each column with this share: mean score of what synthetic rows teach"},
		{Name: differenceAbove, Parts: "share", Better: pipeline.BetterLow,
			Doc: "predicting each column with this share: mean difference of the scores, 0 is best"},
		{Name: "real", Parts: "column", Better: pipeline.BetterHigh, Interval: true,
			Doc: "predicting the column: score of what real rows teach"},
		{Name: "synthetic", Parts: "column", Better: pipeline.BetterHigh, Interval: true, Learnt: true, Worst: true,
			Real: "real", Pair: "score",
			Doc: "predicting the column: score of what synthetic rows teach"},
		{Name: "difference", Parts: "column", Better: pipeline.BetterPlain, Interval: true,
			Doc: "predicting the column: by how much real rows teach more"},
		question.RowsFigure(),
	}
}
