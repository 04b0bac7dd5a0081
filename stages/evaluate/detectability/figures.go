package detectability

import (
	"weir/pipeline"
	"weir/stages/internal/question"
)

// figures declares how well rows are told apart, the synthetic ones and those of other tables.
func figures() pipeline.Figures {
	list := pipeline.Figures{
		{Name: "auroc", Better: pipeline.BetterHalf, Interval: true, Headline: true,
			Doc:     "telling real rows from synthetic ones; .5 is best, nobody can; 1 is always",
			Verdict: &pipeline.Verdict{Label: "Telling real from synthetic: AUROC", Good: 0.05, Fair: 0.2}},
		{Name: "pmse_ratio", Better: pipeline.BetterLow, Headline: true,
			Doc: "how well rows are told apart, 1 as by chance"},
		{Name: "pmse", Better: pipeline.BetterLow,
			Doc: "mean squared distance of the chances of being synthetic from their share, 0 is best"},
		{Name: "pmse_expected", Better: pipeline.BetterPlain,
			Doc: "what pmse is on average where both tables follow one distribution"},
		{Name: "pmse_standardised", Better: pipeline.BetterLow,
			Doc: "pmse in standard deviations from what it is by chance, 0 as by chance"},
		{Name: "pmse_l2", Better: pipeline.BetterLow, Doc: "pmse of a model with penalty C=1, 0 is best"},
		{Name: "advantage", Better: pipeline.BetterLow, Doc: "2|auroc-0.5|: 0 is best, nobody can tell"},
	}
	for i := range list {
		list[i].Beside = []pipeline.Role{pipeline.RealTrain, pipeline.Baseline}
	}
	return append(list, question.RowsFigure())
}
