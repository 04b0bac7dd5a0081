package evaluate

import (
	"strings"

	"weir/stages/evaluate/learn"
)

// classifiers are the learners of classes by name, with the settings that
// scikit-learn 1.2.1 has by default unless their comment says otherwise.
func classifiers() map[string]learn.Classifier {
	return map[string]learn.Classifier{
		"logistic_regression":    learn.Logistic{C: 1, Penalty: learn.L2},
		"logistic_regression_l1": learn.Logistic{C: 1, Penalty: learn.L1},
	}
}

// regressors are the learners of numbers by name.
func regressors() map[string]learn.Regressor {
	return map[string]learn.Regressor{
		"linear_regression": learn.LeastSquares{},
		"ridge":             learn.Ridge{Alpha: 1},
		"lasso":             learn.ElasticNet{Alpha: 1, L1Ratio: 1},
		"elastic_net":       learn.ElasticNet{Alpha: 1, L1Ratio: 0.5},
	}
}

// The names above, in the order of reports.
const (
	classifierNames = "logistic_regression|logistic_regression_l1"
	regressorNames  = "linear_regression|ridge|lasso|elastic_net"
)

func split(names string) []string { return strings.Split(names, "|") }
