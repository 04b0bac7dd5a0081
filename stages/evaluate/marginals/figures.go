package marginals

import (
	"slices"

	"weir/pipeline"
	"weir/stages/internal/metric/marginal"
	"weir/stages/internal/question"
)

// figures declares the distances of marginals by their number of columns, and those of single columns.
func figures() pipeline.Figures {
	list := pipeline.Figures{
		variation("", "column", "single columns", "Single columns: total variation", 0.05, 0.15),
		variation(suffix(2), "pair", "pairs of columns", "Pairs of columns: total variation", 0.1, 0.3),
		variation(suffix(3), "triple", "triples of columns", "Triples of columns: total variation", 0.15, 0.4),
		{Name: "k_marginal_score", Better: pipeline.BetterHigh, Headline: true,
			Doc: "triples of columns, scored as in the NIST challenge of 2018: 0 to 1000, 1000 is best"},
		{Name: "nist_2018_score", Better: pipeline.BetterHigh,
			Doc: "the score of the NIST challenge of 2018, 0 to 1,000,000, more is better"},
		{Name: "equivalent_subsample", Better: pipeline.BetterHigh,
			Doc: "share of the real rows whose pairs of columns are as far away, 1 is best"},
	}
	list[0].Loss = true
	for _, ways := range []struct{ suffix, parts, of string }{
		{"", "column", "single columns"}, {suffix(2), "", "pairs of columns"}, {suffix(3), "", "triples of columns"},
	} {
		for i, name := range divergenceNames[1:] {
			list = append(list, pipeline.Figure{Name: name + ways.suffix, Parts: ways.parts,
				Better: pipeline.BetterLow, Doc: ways.of + ": " + divergenceDocs()[i] + ", 0 is best"})
		}
		if ways.suffix != "" {
			list = append(list, pipeline.Figure{Name: "max_total_variation" + ways.suffix, Better: pipeline.BetterLow,
				Doc: ways.of + ": greatest total variation, 0 is best"},
				pipeline.Figure{Name: "max_cell_error" + ways.suffix, Better: pipeline.BetterLow,
					Doc: ways.of + ": greatest difference of the share of a cell, 0 is best"})
		}
	}
	return slices.Concat(list, statisticFigures(), columnFigures(), probabilityFigures())
}

// variation declares the total variation of marginals of so many columns.
func variation(suffix, parts, of, label string, good, fair float64) pipeline.Figure {
	return pipeline.Figure{Name: "total_variation" + suffix, Parts: parts, Better: pipeline.BetterLow, Headline: true, Worst: true,
		Doc:     of + ": share of rows that would have to change, 0 is best",
		Beside:  []pipeline.Role{pipeline.RealTrain, pipeline.Independent, pipeline.Baseline},
		Verdict: &pipeline.Verdict{Label: label, Joint: suffix != "", Good: good, Fair: fair}}
}

// divergenceDocs says what divergenceNames are, but the first.
func divergenceDocs() [len(divergenceNames) - 1]string {
	return [...]string{"sum of the differences of shares", "root of the sum of their squares",
		"Jensen-Shannon divergence", "its root",
		"half Jeffreys divergence, as DP-auto-GAN prints it",
		"Kullback-Leibler divergence of real from synthetic shares",
		"Kullback-Leibler divergence of synthetic from real shares", "Kullback-Leibler divergence, smoothed",
		"Hellinger distance"}
}

// columnFigures declares what is computed of single columns alone.
func columnFigures() pipeline.Figures {
	column := func(name string, better pipeline.Better, doc string) pipeline.Figure {
		return pipeline.Figure{Name: name, Parts: "column", Better: better, Doc: doc}
	}
	return pipeline.Figures{
		column("chi_square", pipeline.BetterLow, "two-sample chi-square statistic, 0 is best"),
		column("chi_square_p", pipeline.BetterPlain, "its p-value where both tables follow one distribution"),
		column("ks", pipeline.BetterLow, "greatest difference of the distribution functions, 0 is best"),
		column("ks_p", pipeline.BetterPlain, "its p-value where both tables follow one distribution"),
		column("wasserstein", pipeline.BetterLow,
			"mean distance that values have to move, in units of the column, 0 is best"),
		column("wasserstein_over_range", pipeline.BetterLow,
			"mean distance that values have to move, over the real range, 0 is best"),
		column("wasserstein_over_sd", pipeline.BetterLow,
			"mean distance that values have to move, over the real standard deviation, 0 is best"),
		column("energy", pipeline.BetterLow, "energy distance, in units of the column, 0 is best"),
		column("outside_edges", pipeline.BetterLow,
			"share of synthetic values beyond the edges of the bins, 0 is best"),
	}
}

// probabilityFigures declares dimension-wise probability.
func probabilityFigures() pipeline.Figures {
	const share = "category"
	return pipeline.Figures{
		{Name: "probability_mean_absolute_error", Better: pipeline.BetterLow,
			Beside: []pipeline.Role{pipeline.Baseline}, Doc: "shares of categories: mean error, 0 is best",
			Verdict: &pipeline.Verdict{Label: "Shares of categories: mean error", Good: 0.02, Fair: 0.08}},
		{Name: "probability_rmse", Better: pipeline.BetterLow,
			Doc: "shares of categories: root of the mean squared error, 0 is best"},
		{Name: "probability_sum_of_squares", Better: pipeline.BetterLow,
			Doc: "shares of categories: sum of squared errors, 0 is best"},
		{Name: "probability_max_absolute_error", Better: pipeline.BetterLow,
			Doc: "shares of categories: greatest error, 0 is best"},
		{Name: "probability_distance_from_diagonal", Better: pipeline.BetterLow,
			Doc: "shares of categories: mean distance from the line of equal shares, 0 is best"},
		{Name: "probability_absent_real", Better: pipeline.BetterPlain,
			Doc: "shares of categories: categories that no real row has"},
		{Name: "probability_absent_synthetic", Better: pipeline.BetterPlain, Real: "probability_absent_real",
			Doc: "shares of categories: categories that no synthetic row has"},
		{Name: "probability_pearson", Better: pipeline.BetterHigh,
			Doc: "shares of categories: correlation of real and synthetic ones, 1 is best"},
		{Name: "probability_real", Parts: share, Better: pipeline.BetterPlain,
			Doc: "share of real rows with the category"},
		{Name: "probability_synthetic", Parts: share, Better: pipeline.BetterPlain, Real: "probability_real",
			Pair: marginal.Probability, Doc: "share of synthetic rows with the category"},
		question.RowsFigure(),
	}
}
