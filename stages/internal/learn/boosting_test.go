package learn

import (
	"math"
	"testing"
)

// TestBoostingOfThreeClasses: values of scikit-learn 1.2.1, first two test rows of the three classes of
// testdata/bayes_lda_tree.json (continuous_data):
//
//	GradientBoostingClassifier(n_estimators=20)
//	AdaBoostClassifier(n_estimators=10), and with algorithm="SAMME"
//	HistGradientBoostingClassifier(max_iter=20, early_stopping=False)
//
// Residuals of unit trees may tie; scikit-learn then takes the feature that its
// seed draws first, so that gradient boosting is compared to 0.02.
func TestBoostingOfThreeClasses(t *testing.T) {
	in := decode[bayesInput](t, tablesOf(copiedCases(t, "bayes_lda_tree.json"))["continuous_data"])
	x, y, test := fromRows(in.X), labels(in.Y), fromRows(in.XTest)
	for _, c := range []struct {
		name string
		l    Classifier
		want [2][3]float64
		tol  float64
	}{
		{"gradient boosting", GradientBoosting{Rounds: 20}, [2][3]float64{{0.06126119, 0.03113889, 0.90759993},
			{0.14903026, 0.8139234, 0.03704634}}, 0.02},
		{"SAMME.R", AdaBoost{Rounds: 10, Real: true}, [2][3]float64{{0.42450605, 0.00311104, 0.57238291},
			{0.36631878, 0.41822863, 0.21545259}}, 1e-6},
		{"SAMME", AdaBoost{Rounds: 10}, [2][3]float64{{0.30897673, 0.2781589, 0.41286436},
			{0.36118577, 0.35855051, 0.28026371}}, 1e-6},
		{"histogram boosting", HistBoosting{Rounds: 20, MaxLeaves: 31, MinRows: 20, Rate: 0.1, MinHessian: 1e-3},
			[2][3]float64{{0.06508355, 0.0086325, 0.92628395}, {0.22472931, 0.73538015, 0.03989054}}, 1e-5},
	} {
		p := scored(t, c.l, x, y).Scores(test)
		for i, row := range c.want {
			for k, w := range row {
				if g := p.Cols[k][i]; math.Abs(g-w) > c.tol {
					t.Errorf("%s: row %d class %d is %v, want %v", c.name, i, k, g, w)
				}
			}
		}
	}
}

// TestBoostingOfNumbers: values of GradientBoostingRegressor(n_estimators=20) and
// HistGradientBoostingRegressor(max_iter=20, early_stopping=False) of
// scikit-learn 1.2.1 on the rows of case tree_regression_mse.
func TestBoostingOfNumbers(t *testing.T) {
	var in bayesInput
	for _, c := range copiedCases(t, "bayes_lda_tree.json") {
		if c.ID == "tree_regression_mse" {
			in = decode[bayesInput](t, c.Input)
		}
	}
	for _, c := range []struct {
		name string
		l    Regressor
		want []float64
		tol  float64
	}{
		{"gradient boosting", GradientBoostingNumbers{GradientBoosting{Rounds: 20}}, []float64{10.48651418, 5.96371452,
			5.96371452, 5.96371452}, 1e-6},
		{"histogram boosting", HistBoostingNumbers{HistBoosting{Rounds: 20, MaxLeaves: 31, MinRows: 20, Rate: 0.1,
			MinHessian: 1e-3}}, []float64{10.34862763, 5.95949004, 6.01956339, 6.01956339}, 1e-4},
	} {
		p, err := c.l.Fit(t.Context(), fromRows(in.X), in.Y, run(2))
		if err != nil {
			t.Fatal(err)
		}
		for i, w := range c.want {
			if g := p.Predict(fromRows(in.XTest))[i]; math.Abs(g-w) > c.tol {
				t.Errorf("%s: row %d is %v, want %v", c.name, i, g, w)
			}
		}
	}
}
