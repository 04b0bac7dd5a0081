// Package prediction asks how well a target of real test rows is predicted by what
// is learnt from other rows: learners by name, one fit, scores by name.
package prediction

import (
	"strings"

	"weir/stages/internal/learn"
)

// rbfRows bounds the rows of the RBF SVM: a kernel matrix of 100 MB.
const rbfRows = 5000

// Classifiers are the learners of classes by name, with the settings that
// scikit-learn 1.2.1 has by default unless their comment says otherwise.
func Classifiers() map[string]learn.Classifier {
	forest := learn.Forest{Bootstrap: true}
	extra := learn.Forest{Growth: learn.Growth{RandomThreshold: true}}
	return map[string]learn.Classifier{
		"logistic_regression":    learn.Logistic{C: 1, Penalty: learn.L2},
		"logistic_regression_l1": learn.Logistic{C: 1, Penalty: learn.L1},
		"logistic_search":        learn.Search{},
		"logistic_search_strong": learn.Search{Strong: true},
		"logistic_balanced":      learn.Logistic{C: 1, Penalty: learn.L2, Balanced: true},
		"gaussian_nb":            learn.GaussianNB{VarSmoothing: 1e-9},
		"bernoulli_nb":           learn.BernoulliNB{Alpha: 1},
		"lda":                    learn.LDA{},
		"decision_tree":          learn.DecisionTree{Growth: learn.Growth{Criterion: learn.Gini}},
		"random_forest":          forest,
		"random_forest_shallow":  learn.Forest{Growth: learn.Growth{MaxDepth: 5}, Trees: 50, Bootstrap: true}, // as in the Turku thesis
		"extra_trees":            extra,
		"adaboost":               learn.AdaBoost{Rounds: 50, Real: true},
		"adaboost_samme":         learn.AdaBoost{Rounds: 50},
		"bagging":                learn.Forest{Trees: 10, Bootstrap: true, AllFeatures: true},
		"linear_svm":             learn.LinearSVM{C: 1},
		"rbf_svm":                learn.RBFSVM{C: 1, MaxRows: rbfRows},
		"gradient_boosting":      learn.GradientBoosting{},
		"hist_gradient_boosting": learn.HistBoosting{},
		"xgboost":                learn.XGBoostDefaults(),
		"mlp":                    learn.MLP{Hidden: 100, Epochs: 200, Alpha: 1e-4},
	}
}

// Regressors are the learners of numbers by name.
func Regressors() map[string]learn.Regressor {
	return map[string]learn.Regressor{
		"linear_regression":      learn.LeastSquares{},
		"ridge":                  learn.Ridge{Alpha: 1},
		"lasso":                  learn.ElasticNet{Alpha: 1, L1Ratio: 1},
		"elastic_net":            learn.ElasticNet{Alpha: 1, L1Ratio: 0.5},
		"decision_tree":          learn.RegressionTree{Growth: learn.Growth{Criterion: learn.MSE}},
		"random_forest":          learn.RegressionForest{Forest: learn.Forest{Bootstrap: true, AllFeatures: true}},
		"extra_trees":            learn.RegressionForest{Forest: learn.Forest{AllFeatures: true, Growth: learn.Growth{RandomThreshold: true}}},
		"gradient_boosting":      learn.GradientBoostingNumbers{},
		"hist_gradient_boosting": learn.HistBoostingNumbers{},
		"xgboost":                learn.HistBoostingNumbers{HistBoosting: learn.XGBoostDefaults()},
	}
}

// The names above, in the order of reports.
const (
	classifierNames = "logistic_regression|logistic_regression_l1|logistic_search|logistic_search_strong|logistic_balanced|gaussian_nb|bernoulli_nb|lda|decision_tree|" +
		"random_forest|random_forest_shallow|extra_trees|adaboost|adaboost_samme|bagging|linear_svm|rbf_svm|gradient_boosting|hist_gradient_boosting|xgboost|mlp"
	regressorNames = "linear_regression|ridge|lasso|elastic_net|decision_tree|random_forest|extra_trees|gradient_boosting|hist_gradient_boosting|xgboost"
)

// ClassifierNames names the learners of classes.
func ClassifierNames() []string { return strings.Split(classifierNames, "|") }

// RegressorNames names the learners of numbers.
func RegressorNames() []string { return strings.Split(regressorNames, "|") }
