package main

import (
	"fmt"
	"strings"
)

// meaningOf says in words what a headline figure of a stage of some kind is, and what
// stands beside it: the same figure of other real rows, of independent columns, of a
// guess. "" where the name says it all.
func meaningOf(metrics map[string]float64, kind, key string) string {
	_, name, _ := strings.Cut(key, ".")
	if kind+"."+name == "detectability.auroc" { // the same name as that of downstream, read the other way
		return "telling real rows from synthetic ones; .5 is best, nobody can; 1 is always"
	}
	words, known := map[string]string{
		"total_variation":                "single columns: share of rows that would have to change, 0 is best",
		"total_variation_2way":           "pairs of columns: share of rows that would have to change, 0 is best",
		"total_variation_3way":           "triples of columns: share of rows that would have to change, 0 is best",
		"k_marginal_score":               "triples of columns, scored as in the NIST challenge of 2018: 0 to 1000, 1000 is best",
		"auroc":                          "learnt from synthetic rows, tried on real ones; .5 is chance, 1 is best",
		"accuracy":                       "learnt from synthetic rows: share of real rows that it gets right",
		"r2":                             "learnt from synthetic rows: share of the real variance explained, 1 is best",
		"mixed_mean_absolute_difference": "mean difference of associations between columns, 0 is best",
		"pmse_ratio":                     "how well rows are told apart, 1 as by chance",
		"exact_matches":                  "synthetic rows that equal a real one",
		"synthetic_wins":                 "share of the declared questions that synthetic rows answer better than the tailored answers",
		"error_tailored":                 "mean error of the tailored answers, 0 is best",
		"error_synthetic":                "mean error of the same questions put to synthetic rows, 0 is best",
		"accuracy_tailored":              "the released regression: share of real outcomes that it tells",
		"accuracy_synthetic":             "the same regression of the synthetic rows: share of real outcomes that it tells",
		"reproduced_share":               "share of what the real rows discover that synthetic rows discover too, 1 is best",
		"mean_standardised_difference":   "mean distance of coefficients, in standard errors of the real rows; 0 is best",
	}[name]
	if !known {
		return ""
	}
	real := "other real rows"
	if strings.HasPrefix(words, "learnt") {
		real = "learnt from real rows"
	}
	for _, beside := range []struct{ suffix, words string }{{"_real_train", real}, {"_independent", "columns drawn independently"}, {"_majority", "always guessing the commonest"}} {
		if x, ok := metrics[key+beside.suffix]; ok {
			words += fmt.Sprintf("\n    %.4f  %s", x, beside.words)
		}
	}
	return words
}
