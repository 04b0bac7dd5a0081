package associations

import (
	"maps"
	"slices"

	"weir/pipeline"
	"weir/stages/internal/question"
)

// figures declares the differences of each measure over all pairs of columns, and the measure of each.
func figures() pipeline.Figures {
	var list pipeline.Figures
	for _, name := range slices.Sorted(maps.Keys(measures())) {
		for i, doc := range []string{"mean difference", "root mean square difference", "greatest difference",
			"Frobenius norm of the differences"} {
			list = append(list, pipeline.Figure{Name: name + differenceNames[i], Better: pipeline.BetterLow,
				Beside: besides(), Doc: words(name) + ": " + doc + " of pairs of columns, 0 is best"})
		}
		list = append(list, pairFigures(name, measures()[name].tested)...)
	}
	for i, doc := range []string{"Frobenius norm of the difference", "its share of the Frobenius norm of the real one",
		"spectral norm of the difference", "greatest difference of an entry"} {
		list = append(list, pipeline.Figure{Name: covariance + covarianceNames[i], Better: pipeline.BetterLow,
			Beside: besides(), Doc: "covariance of the encoded tables: " + doc + ", 0 is best"})
	}
	for i := range list {
		if f := &list[i]; f.Name == mixed+differenceNames[0] {
			f.Headline, f.Doc = true, "mean difference of associations between columns, 0 is best"
			f.Verdict = &pipeline.Verdict{Label: "Associations of pairs: mean difference", Joint: true, Good: 0.03,
				Fair: 0.1}
		}
	}
	return append(append(list, lossFigures()...), question.RowsFigure())
}

func besides() []pipeline.Role { return []pipeline.Role{pipeline.RealTrain, pipeline.Baseline} }

// pairFigures declares a measure of each pair in both tables. Pairs are ranked by the mixed one.
func pairFigures(name string, tested bool) pipeline.Figures {
	pair := func(name, doc string) pipeline.Figure {
		return pipeline.Figure{Name: name, Parts: "pair", Better: pipeline.BetterPlain, Doc: doc}
	}
	synthetic := pair(name+"_synthetic", words(name)+" of the pair in the synthetic rows")
	synthetic.Real, synthetic.Pair, synthetic.Worst = name+"_real", name, name == mixed
	list := pipeline.Figures{pair(name+"_real", words(name)+" of the pair in the real rows"), synthetic}
	if tested {
		list = append(list, pair(name+"_p_real", words(name)+": p-value of the pair in the real rows"),
			pair(name+"_p_synthetic", words(name)+": p-value of the pair in the synthetic rows"))
	}
	return list
}

// words names a measure.
func words(name string) string {
	return map[string]string{mixed: "association, by the types of the columns", "pearson": "Pearson correlation",
		"spearman": "Spearman rank correlation",
		"kendall":  "Kendall's tau-b", "cramers_v": "Cramer's V", "cramers_v_corrected": "Cramer's V without its bias",
		"mutual_information":            "mutual information in nats",
		"normalised_mutual_information": "normalised mutual information", "theils_u": "Theil's U",
		"correlation_ratio": "correlation ratio"}[name]
}
