package report

import "weir/pipeline"

// declared returns figures of each way of judging, with bounds that tests state numbers for.
func declared(kind string) pipeline.Figures {
	return map[string]pipeline.Figures{
		"marginals": append(pipeline.Figures{distance("total_variation", "", .05, .15),
			distance("total_variation_2way", "pair", .1, .3),
			distance("total_variation_3way", "triple", .15, .4)}, pipeline.Figure{Name: "kl",
			Better: pipeline.BetterLow}),
		"associations": {distance("mixed_mean_absolute_difference", "pair", .03, .1)},
		"downstream": {skill("auroc", pipeline.KnownValue(.5)), skill("accuracy", nil), {Name: "rows", Parts: "table",
			Rows: true}},
		"detectability": {{Name: "auroc", Better: pipeline.BetterHalf, Interval: true,
			Verdict: &pipeline.Verdict{Good: .05, Fair: .2}}},
		"disclosure": {{Name: "membership_auroc", Better: pipeline.BetterChance, Interval: true,
			Verdict: &pipeline.Verdict{Chance: pipeline.KnownValue(.5), Good: .02, Fair: .1}},
			{Name: "closer_to_train", Better: pipeline.BetterChance, Interval: true,
				Verdict: &pipeline.Verdict{Chance: pipeline.KnownValue(.5), Good: .02, Fair: .1}},
			{Name: "rows", Parts: "table", Rows: true}},
		"regression_discovery": {{Name: "reproduced_share", Better: pipeline.BetterHigh,
			Verdict: &pipeline.Verdict{Chance: pipeline.KnownValue(0), Best: pipeline.KnownValue(1)}}},
	}[kind]
}

// distance returns a figure of the distance of marginals; for single columns parts is "".
func distance(name, parts string, good, fair float64) pipeline.Figure {
	return pipeline.Figure{Name: name, Parts: "column", Better: pipeline.BetterLow, Loss: parts == "",
		Beside:  []pipeline.Role{pipeline.RealTrain, pipeline.Independent, pipeline.Baseline},
		Verdict: &pipeline.Verdict{Joint: parts != "", Good: good, Fair: fair}}
}

func skill(name string, chance *float64) pipeline.Figure {
	return pipeline.Figure{Name: name, Parts: "learner", Better: pipeline.BetterHigh, Learnt: true, Interval: true,
		Pair: name, Beside: pipeline.Roles(),
		Verdict: &pipeline.Verdict{Chance: chance}}
}
