package report

import "weir/pipeline/figure"

// declared are figures of each way of judging, with bounds that tests state numbers for.
func declared(kind string) figure.List {
	return map[string]figure.List{
		"marginals": append(figure.List{distance("total_variation", "", .05, .15),
			distance("total_variation_2way", "pair", .1, .3),
			distance("total_variation_3way", "triple", .15, .4)}, figure.Figure{Name: "kl",
			Better: figure.BetterLow}),
		"associations": {distance("mixed_mean_absolute_difference", "pair", .03, .1)},
		"downstream": {skill("auroc", figure.Known(.5)), skill("accuracy", nil), {Name: "rows", Parts: "table",
			Rows: true}},
		"detectability": {{Name: "auroc", Better: figure.BetterHalf, Interval: true,
			Verdict: &figure.Verdict{Good: .05, Fair: .2}}},
		"disclosure": {{Name: "membership_auroc", Better: figure.BetterChance, Interval: true,
			Verdict: &figure.Verdict{Chance: figure.Known(.5), Good: .02, Fair: .1}},
			{Name: "closer_to_train", Better: figure.BetterChance, Interval: true,
				Verdict: &figure.Verdict{Chance: figure.Known(.5), Good: .02, Fair: .1}},
			{Name: "rows", Parts: "table", Rows: true}},
		"regression_discovery": {{Name: "reproduced_share", Better: figure.BetterHigh,
			Verdict: &figure.Verdict{Chance: figure.Known(0), Best: figure.Known(1)}}},
	}[kind]
}

// distance is that of marginals; of single columns parts is "".
func distance(name, parts string, good, fair float64) figure.Figure {
	return figure.Figure{Name: name, Parts: "column", Better: figure.BetterLow, Loss: parts == "",
		Beside:  []figure.Role{figure.RealTrain, figure.Independent, figure.Baseline},
		Verdict: &figure.Verdict{Joint: parts != "", Good: good, Fair: fair}}
}

func skill(name string, chance *float64) figure.Figure {
	return figure.Figure{Name: name, Parts: "learner", Better: figure.BetterHigh, Learnt: true, Interval: true,
		Pair: name, Beside: figure.Roles(),
		Verdict: &figure.Verdict{Chance: chance}}
}
