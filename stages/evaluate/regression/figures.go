package regression

import (
	"weir/pipeline/figure"
	"weir/stages/internal/question"
)

// figures declares what is concluded from both tables, and the fits by feature.
func figures() figure.List {
	return append(append(append(conclusions(), coefficients()...), further()...), question.RowsFigure())
}

// further are the figures of rarity and of resamples.
func further() figure.List {
	return figure.List{
		{Name: errorByPrevalence, Parts: "quarter", Better: figure.BetterLow,
			Doc: "mean distance of the coefficients of categories, from the quarter with fewest real rows (1) to the one with most (4)"},
		{Name: bootstrapAll, Better: figure.BetterHigh,
			Doc: "share of resamples of the real rows that give all their discoveries again"},
		{Name: bootstrapShare, Parts: "feature", Better: figure.BetterHigh,
			Doc: "share of resamples of the real rows in which the coefficient is significant with the sign that the real rows give it"},
	}
}

func conclusions() figure.List {
	return figure.List{
		{Name: "reproduced_share", Better: figure.BetterHigh, Headline: true,
			Doc: "share of what the real rows discover that synthetic rows discover too, 1 is best",
			Verdict: &figure.Verdict{Label: "Regression: discoveries reproduced", Chance: figure.Known(0),
				Best: figure.Known(1)}},
		{Name: "mean_standardised_difference", Better: figure.BetterLow, Headline: true,
			Doc: "mean distance of coefficients, in standard errors of the real rows; 0 is best"},
		{Name: "mean_interval_overlap", Better: figure.BetterHigh,
			Doc: "mean overlap of the confidence intervals of both fits, 1 is best"},
		{Name: "sign_agreement", Better: figure.BetterHigh,
			Doc: "share of coefficients of the same sign in both fits, 1 is best"},
		{Name: "discoveries_real", Better: figure.BetterPlain,
			Doc: "significant coefficients of the real rows, the intercept left out"},
		{Name: "discoveries_synthetic", Better: figure.BetterPlain, Real: "discoveries_real",
			Doc: "significant coefficients of the synthetic rows, the intercept left out"},
		{Name: "discoveries_reproduced", Better: figure.BetterHigh,
			Doc: "coefficients that are significant in both with the same sign"},
		{Name: "discoveries_lost", Better: figure.BetterLow,
			Doc: "coefficients that are significant in the real rows, not so in the synthetic ones or with another sign"},
		{Name: "discoveries_false", Better: figure.BetterLow,
			Doc: "coefficients that are significant in the synthetic rows, not so in the real ones or with another sign"},
	}
}

func coefficients() figure.List {
	feature := func(name string, better figure.Better, doc string) figure.Figure {
		return figure.Figure{Name: name, Parts: "feature", Better: better, Doc: doc}
	}
	coefficient := feature("coefficient_synthetic", figure.BetterPlain,
		"coefficient of the feature in the synthetic rows")
	coefficient.Real, coefficient.Pair, coefficient.Worst = "coefficient_real", "coefficient", true
	deviation := feature("standard_error_synthetic", figure.BetterPlain,
		"standard error of the coefficient in the synthetic rows, noise left out")
	deviation.Real, deviation.Pair = "standard_error_real", "standard_error"
	return figure.List{
		coefficient, feature("coefficient_real", figure.BetterPlain, "coefficient of the feature in the real rows"),
		deviation, feature("standard_error_real", figure.BetterPlain,
			"standard error of the coefficient in the real rows"),
		feature("p_real", figure.BetterPlain, "p-value of the coefficient in the real rows"),
		feature("p_synthetic", figure.BetterPlain, "p-value of the coefficient in the synthetic rows"),
		feature("interval_overlap", figure.BetterHigh, "overlap of the confidence intervals of both fits, 1 is best"),
		feature("standardised_difference", figure.BetterLow,
			"distance of the coefficients, in standard errors of the real rows, 0 is best"),
	}
}
