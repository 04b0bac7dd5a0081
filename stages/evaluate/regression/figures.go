package regression

import (
	"weir/pipeline"
	"weir/stages/internal/question"
)

// figures declares what is concluded from both tables, and the fits by feature.
func figures() pipeline.Figures {
	return append(append(append(conclusions(), coefficients()...), further()...), question.RowsFigure())
}

// further are the figures of rarity and of resamples.
func further() pipeline.Figures {
	return pipeline.Figures{
		{Name: errorByPrevalence, Parts: "quarter", Better: pipeline.BetterLow,
			Doc: "mean distance of the coefficients of categories, from the quarter with fewest real rows (1) to the one with most (4)"},
		{Name: bootstrapAll, Better: pipeline.BetterHigh,
			Doc: "share of resamples of the real rows that give all their discoveries again"},
		{Name: bootstrapShare, Parts: "feature", Better: pipeline.BetterHigh,
			Doc: "share of resamples of the real rows in which the coefficient is significant with the sign that the real rows give it"},
	}
}

func conclusions() pipeline.Figures {
	return pipeline.Figures{
		{Name: "reproduced_share", Better: pipeline.BetterHigh, Headline: true,
			Doc: "share of what the real rows discover that synthetic rows discover too, 1 is best",
			Verdict: &pipeline.Verdict{Label: "Regression: discoveries reproduced", Chance: pipeline.KnownValue(0),
				Best: pipeline.KnownValue(1)}},
		{Name: "mean_standardised_difference", Better: pipeline.BetterLow, Headline: true,
			Doc: "mean distance of coefficients, in standard errors of the real rows; 0 is best"},
		{Name: "mean_interval_overlap", Better: pipeline.BetterHigh,
			Doc: "mean overlap of the confidence intervals of both fits, 1 is best"},
		{Name: "sign_agreement", Better: pipeline.BetterHigh,
			Doc: "share of coefficients of the same sign in both fits, 1 is best"},
		{Name: "discoveries_real", Better: pipeline.BetterPlain,
			Doc: "significant coefficients of the real rows, the intercept left out"},
		{Name: "discoveries_synthetic", Better: pipeline.BetterPlain, Real: "discoveries_real",
			Doc: "significant coefficients of the synthetic rows, the intercept left out"},
		{Name: "discoveries_reproduced", Better: pipeline.BetterHigh,
			Doc: "coefficients that are significant in both with the same sign"},
		{Name: "discoveries_lost", Better: pipeline.BetterLow,
			Doc: "coefficients that are significant in the real rows, not so in the synthetic ones or with another sign"},
		{Name: "discoveries_false", Better: pipeline.BetterLow,
			Doc: "coefficients that are significant in the synthetic rows, not so in the real ones or with another sign"},
	}
}

func coefficients() pipeline.Figures {
	feature := func(name string, better pipeline.Better, doc string) pipeline.Figure {
		return pipeline.Figure{Name: name, Parts: "feature", Better: better, Doc: doc}
	}
	coefficient := feature("coefficient_synthetic", pipeline.BetterPlain,
		"coefficient of the feature in the synthetic rows")
	coefficient.Real, coefficient.Pair, coefficient.Worst = "coefficient_real", "coefficient", true
	deviation := feature("standard_error_synthetic", pipeline.BetterPlain,
		"standard error of the coefficient in the synthetic rows, noise left out")
	deviation.Real, deviation.Pair = "standard_error_real", "standard_error"
	return pipeline.Figures{
		coefficient, feature("coefficient_real", pipeline.BetterPlain, "coefficient of the feature in the real rows"),
		deviation, feature("standard_error_real", pipeline.BetterPlain,
			"standard error of the coefficient in the real rows"),
		feature("p_real", pipeline.BetterPlain, "p-value of the coefficient in the real rows"),
		feature("p_synthetic", pipeline.BetterPlain, "p-value of the coefficient in the synthetic rows"),
		feature("interval_overlap", pipeline.BetterHigh, "overlap of the confidence intervals of both fits, 1 is best"),
		feature("standardised_difference", pipeline.BetterLow,
			"distance of the coefficients, in standard errors of the real rows, 0 is best"),
	}
}
