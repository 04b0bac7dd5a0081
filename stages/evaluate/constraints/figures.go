package constraints

import (
	"weir/pipeline"
	"weir/stages/internal/question"
)

// figures declares the shares of rows that break rules, by table.
func figures() pipeline.Figures {
	const rule = "rule"
	list := pipeline.Figures{
		{Name: "broken", Parts: rule, Better: pipeline.BetterLow, Beside: []pipeline.Role{pipeline.RealTrain},
			Doc:     "share of synthetic rows that break a declared rule, 0 is best",
			Verdict: &pipeline.Verdict{Label: "Rows that break a declared rule", Good: 0.001, Fair: 0.02}},
		{Name: "broken_real", Parts: rule, Better: pipeline.BetterLow,
			Doc: "share of real rows that break a declared rule: above 0 the rule or the data are wrong"},
		{Name: "broken_synthetic", Parts: rule, Better: pipeline.BetterLow, Real: "broken_real", Pair: "broken",
			Doc: "share of synthetic rows that break the rule, 0 is best"},
		{Name: "total_distance_real", Parts: rule, Better: pipeline.BetterLow,
			Doc: "share of real rows that would have to change cells for the public total, 0 is best"},
		{Name: "total_distance_synthetic", Parts: rule, Better: pipeline.BetterLow, Real: "total_distance_real",
			Pair: "total_distance",
			Doc:  "share of synthetic rows that would have to change cells for the public total, 0 is best"},
		{Name: "total_distance_real_train", Parts: rule, Better: pipeline.BetterLow,
			Doc: "share of the model's rows that would have to change cells for the public total, 0 is best"},
	}
	return append(list, question.RowsFigure())
}
