package disclosure

import (
	"weir/pipeline"
	"weir/stages/internal/question"
)

// figures declares matches, distances and attacks. What finds nothing is no evidence of privacy.
func figures() pipeline.Figures {
	attack := func(name, label string, chance float64, doc string) pipeline.Figure {
		return pipeline.Figure{Name: name, Better: pipeline.BetterChance, Interval: true, Doc: doc,
			Verdict: &pipeline.Verdict{Label: label, Chance: pipeline.KnownValue(chance), Good: 0.02, Fair: 0.1}}
	}
	advantage := attack("attribute_inference_advantage", "Guessing a column of members: advantage", 0,
		"by how much more often a column of training rows is guessed than of held-out ones; 0 is chance")
	advantage.Parts, advantage.Worst, advantage.Interval = "column", true, false
	list := pipeline.Figures{
		{Name: "exact_matches", Better: pipeline.BetterLow, Headline: true,
			Doc: "synthetic rows that equal a real one"},
		{Name: "exact_matches_control", Better: pipeline.BetterPlain,
			Doc: "share of held-out real rows that equal a training row: what chance gives"},
		{Name: "unique_matches", Better: pipeline.BetterLow,
			Doc: "share of the unique training rows that some synthetic row equals"},
		attack("membership_auroc", "Membership attack: AUROC", 0.5,
			"telling training rows from held-out ones by their distance to synthetic rows; .5 is chance"),
		attack("closer_to_train", "Rows nearer to training than to held-out rows", 0.5,
			"share of synthetic rows nearer to training than to held-out rows; .5 is chance"),
		{Name: "membership_power", Better: pipeline.BetterLow, Interval: true,
			Doc: "share of training rows that the membership attack finds"},
		{Name: "membership_false_positive_rate", Better: pipeline.BetterPlain, Interval: true,
			Doc: "share of held-out rows that the membership attack takes for training rows"},
		{Name: "attribute_inference", Parts: "column", Better: pipeline.BetterLow,
			Doc: "share of training rows whose column is guessed right"},
		{Name: "attribute_inference_control", Parts: "column", Better: pipeline.BetterPlain,
			Doc: "share of held-out rows whose column is guessed right: what the table tells of anyone"},
		advantage,
	}
	for _, d := range []struct{ name, doc string }{
		{"dcr", "distance to the closest training row"},
		{"nndr", "distance to the closest training row over that to the second closest"},
	} {
		list = append(list, pipeline.Figure{Name: d.name, Parts: "quantile", Better: pipeline.BetterPlain,
			Doc: d.doc + ", of synthetic rows; compare it with that of held-out ones"},
			pipeline.Figure{Name: d.name + "_control", Parts: "quantile", Better: pipeline.BetterPlain,
				Doc: d.doc + ", of held-out rows"})
	}
	for i := range list {
		list[i].Few = true
	}
	return append(list, question.RowsFigure())
}
