package main

import (
	"maps"
	"slices"

	"weir/pipeline"
	"weir/pipeline/domain"
)

// judging lists, by kind, how the settings of an evaluation are drawn for the
// real table.
func judging() map[string]func(g *generator, t ref) settings {
	return map[string]func(g *generator, t ref) settings{
		"associations": associating, "constraints": ruling, "detectability": detecting,
		"dimension_wise_prediction": predicting,
		"disclosure":                disclosing, "downstream": following, "marginals": counting, "projection": projecting,
		"regression_discovery": regressing, "report": reporting,
	}
}

// judge adds an evaluation: of any real table against any other one, best the
// synthetic rows.
func (g *generator) judge() {
	tables := g.tables()
	real, synthetic := pick(g.chance, tables...), pick(g.chance, tables...)
	for _, t := range tables {
		if t.header.Class == pipeline.Released && g.yes(0.8) {
			synthetic = t
		}
	}
	if g.yes(0.4) {
		real = g.dataset()
	}
	kinds := judging()
	kind := pick(g.chance, slices.Sorted(maps.Keys(kinds))...)
	s := kinds[kind](g, real)
	s["kind"], s["real"], s["synthetic"] = kind, real.name, synthetic.name
	if kind == "dimension_wise_prediction" || g.yes(0.4) && kind != "regression_discovery" {
		s["real_train"] = pick(g.chance, tables...).name
	}
	if kind != "regression_discovery" && kind != "disclosure" && g.yes(0.2) {
		s["baseline"] = pick(g.chance, tables...).name
	}
	g.try(s)
}

func associating(g *generator, _ ref) settings {
	return settings{"measures": some(g.chance, []string{"mixed", "pearson", "spearman", "kendall", "cramers_v",
		"cramers_v_corrected", "mutual_information",
		"normalised_mutual_information", "theils_u", "correlation_ratio", "covariance"}, 1), "bins": g.within(2, 10),
		"max_pairs": g.within(1, 10), "listed": g.IntN(10)}
}

func detecting(g *generator, _ ref) settings {
	return settings{"max_rows": g.within(2, 60), "test": pick(g.chance, 0.1, 0.3, 0.9)}
}

func predicting(g *generator, _ ref) settings {
	return settings{"classifier": pick(g.chance, "decision_tree", "gaussian_nb", "lda"), "regressor": pick(g.chance,
		"ridge", "lasso", "decision_tree"),
		"scaling": pick(g.chance, "standard", "bounds", "raw"), "binary_score": pick(g.chance, "auroc", "average_precision",
			"f1", "accuracy"),
		"many_score": pick(g.chance, "f1_macro", "accuracy", "auroc"), "min_count": g.within(1, 3),
		"max_train_rows": pick(g.chance, 0, 20)}
}

func disclosing(g *generator, t ref) settings {
	s := settings{"distance": pick(g.chance, "euclidean", "gower"), "max_rows": g.within(2, 50),
		"false_positive_rate": pick(g.chance, 0.05, 0.5)}
	if g.yes(0.3) {
		s["secrets"] = names(some(g.chance, t.header.Domain.Columns, 1))
	}
	return s
}

func following(g *generator, t ref) settings {
	target := g.column(t)
	learners := numberLearners()
	if target.Type.Coded() {
		learners = classLearners()
	}
	return settings{"target": target.Name, "models": []string{pick(g.chance, learners...)}, "scaling": pick(g.chance,
		"standard", "bounds", "raw"), "max_train_rows": pick(g.chance, 0, 30)}
}

func classLearners() []string {
	return []string{"logistic_regression", "logistic_regression_l1", "logistic_search", "logistic_balanced", "gaussian_nb",
		"bernoulli_nb", "lda", "decision_tree",
		"random_forest", "extra_trees", "adaboost", "adaboost_samme", "bagging", "linear_svm", "rbf_svm", "gradient_boosting",
		"hist_gradient_boosting", "xgboost", "mlp"}
}

func numberLearners() []string {
	return []string{"linear_regression", "ridge", "lasso", "elastic_net", "decision_tree", "random_forest", "extra_trees",
		"gradient_boosting", "hist_gradient_boosting", "xgboost"}
}

func counting(g *generator, _ ref) settings {
	return settings{"ways": some(g.chance, []int{1, 2, 3}, 1), "bins": g.within(2, 20),
		"edges":   pick(g.chance, "declared", "real"),
		"outside": pick(g.chance, "clip", "own_bins"), "max_queries": g.within(1, 20)}
}

func ruling(g *generator, t ref) settings {
	return settings{"columns": names(some(g.chance, where(t, func(domain.Column) bool { return true }), 0))}
}

func projecting(g *generator, _ ref) settings {
	return settings{"components": g.within(1, 4), "scaling": pick(g.chance, "standard", "bounds", "raw"),
		"points": g.within(1, 20)}
}

func regressing(g *generator, t ref) settings {
	target := g.column(t)
	s := settings{"model": pick(g.chance, "poisson", "linear"), "target": target.Name, "scaling": pick(g.chance, "raw",
		"standard")}
	if target.Type.Coded() {
		s["model"] = "logistic"
	}
	s["columns"] = names(some(g.chance, where(t, func(c domain.Column) bool {
		return c.Name != target.Name &&
			!isText(c)
	}), 1))
	if numbers := where(t, isNumber); s["model"] == "poisson" && len(numbers) > 0 && g.yes(0.3) {
		s["exposure"] = pick(g.chance, numbers...).Name
	}
	return s
}

func reporting(g *generator, t ref) settings {
	s := settings{"plots": g.IntN(3), "rows": g.within(1, 20)}
	if two := where(t, func(c domain.Column) bool { return len(c.Categories) == 2 }); len(two) > 0 && g.yes(0.5) {
		s["target"] = pick(g.chance, two...).Name
	}
	few := where(t, func(c domain.Column) bool {
		return c.Type.Coded() && c.Encoding == nil && len(c.Categories) <= 20
	})
	if len(few) > 0 && g.yes(0.5) {
		s["groups"] = []string{pick(g.chance, few...).Name}
	}
	return s
}
