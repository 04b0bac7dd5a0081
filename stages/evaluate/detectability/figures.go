package detectability

import (
	"weir/pipeline/figure"
	"weir/stages/internal/question"
)

// figures declares how well rows are told apart, the synthetic ones and those of other tables.
func figures() figure.List {
	list := figure.List{
		{Name: "auroc", Better: figure.BetterHalf, Interval: true, Headline: true,
			Doc:     "telling real rows from synthetic ones; .5 is best, nobody can; 1 is always",
			Verdict: &figure.Verdict{Label: "Telling real from synthetic: AUROC", Good: 0.05, Fair: 0.2}},
		{Name: "pmse_ratio", Better: figure.BetterLow, Headline: true,
			Doc: "how well rows are told apart, 1 as by chance"},
		{Name: "pmse", Better: figure.BetterLow,
			Doc: "mean squared distance of the chances of being synthetic from their share, 0 is best"},
		{Name: "pmse_expected", Better: figure.BetterPlain,
			Doc: "what pmse is on average where both tables follow one distribution"},
		{Name: "pmse_standardised", Better: figure.BetterLow,
			Doc: "pmse in standard deviations from what it is by chance, 0 as by chance"},
		{Name: "pmse_l2", Better: figure.BetterLow, Doc: "pmse of a model with penalty C=1, 0 is best"},
		{Name: "advantage", Better: figure.BetterLow, Doc: "2|auroc-0.5|: 0 is best, nobody can tell"},
	}
	for i := range list {
		list[i].Beside = []figure.Role{figure.RealTrain, figure.Baseline}
	}
	return append(list, question.RowsFigure())
}
