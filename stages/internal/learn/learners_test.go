package learn

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func run(workers int) Run { return Run{Rand: rand.New(rand.NewPCG(1, 2)), Workers: workers} }

// everyLearner returns each learner of classes, with few rounds where it has any.
func everyLearner() map[string]Classifier {
	all := rangeLearners()
	all["random_forest"] = Forest{Trees: 8, Bootstrap: true}
	all["extra_trees"] = Forest{Trees: 8, Growth: Growth{RandomThreshold: true}}
	all["mlp_100"] = MLP{Hidden: 10, Epochs: 5, Alpha: 1e-4}
	all["logistic_l1"] = Logistic{C: 1, Penalty: L1}
	all["rbf"] = RBFSVM{C: 1, MaxRows: 30}
	all["xgboost"] = XGBoostDefaults()
	all["search"] = Search{}
	return all
}

// blobs returns rows of k classes around different centres.
func blobs(n, k int, seed uint64) (Matrix, Labels) {
	rng := rand.New(rand.NewPCG(seed, 7))
	x, y := NewMatrix(n, 3), Labels{make([]int, n), k}
	for i := range y.Y {
		y.Y[i] = i % k
		for j := range x.Cols {
			x.Cols[j][i] = rng.NormFloat64() + 4*float64((y.Y[i]+j)%k)
		}
	}
	return x, y
}

// TestEveryLearner: centres 4 standard deviations apart in two or more columns: any learner is
// right in far more than 80 % of 90 rows. Scores are the same bits for 1 and for
// 3 workers, finite, and distributions where the learner says so.
func TestEveryLearner(t *testing.T) {
	for name, l := range everyLearner() {
		for _, k := range []int{2, 3, 4} {
			x, y := blobs(90, k, 1)
			test, want := blobs(90, k, 2)
			one, err1 := l.Fit(t.Context(), x, y, run(1))
			many, err3 := l.Fit(t.Context(), x, y, run(3))
			if err1 != nil || err3 != nil {
				t.Errorf("%s, %d classes: %v, %v", name, k, err1, err3)
				continue
			}
			a, b := one.Scores(test), many.Scores(test)
			for c := range a.Cols {
				if !slices.Equal(a.Cols[c], b.Cols[c]) {
					t.Errorf("%s, %d classes: scores depend on the number of workers", name, k)
				}
			}
			right := 0.0
			for i, c := range Predict(a) {
				if c == want.Y[i] {
					right++
				}
			}
			// Signs of columns and single thresholds part four centres badly, and
			// 5 epochs have hardly begun: those need only beat chance (a quarter) by
			// far, 40 of 90 being more than 4 standard deviations above it.
			least := 72.0
			switch name {
			case "bernoulli_nb", "adaboost_samme", "adaboost_samme_r":
				least = 40
			case "mlp_100":
				least = 0
			}
			if right < least {
				t.Errorf("%s, %d classes: %v of 90 right", name, k, right)
			}
			checkDistribution(t, name, one, a)
		}
	}
}

func checkDistribution(t *testing.T, name string, s Scorer, scores Matrix) {
	t.Helper()
	row := make([]float64, len(scores.Cols))
	for i := range scores.Rows {
		sum := 0.0
		for _, v := range scores.Row(i, row) {
			sum += v
			if math.IsNaN(v) || math.IsInf(v, 0) || s.Probabilities() && (v < 0 || v > 1+1e-12) {
				t.Fatalf("%s: row %d has the scores %v", name, i, row)
			}
		}
		if s.Probabilities() && math.Abs(sum-1) > 1e-9 {
			t.Fatalf("%s: row %d sums to %v", name, i, sum)
		}
	}
}

// TestEveryLearnerOnLittle: two rows, constant columns, no columns: a fit or a reason.
func TestEveryLearnerOnLittle(t *testing.T) {
	y := Labels{[]int{0, 1}, 2}
	for name, l := range everyLearner() {
		for _, x := range []Matrix{fromRows([][]float64{{1, 5}, {2, 5}}), fromRows([][]float64{{5}, {5}}), {Rows: 2}} {
			s, err := l.Fit(t.Context(), x, y, run(2))
			var no *NotEstimable
			if errors.As(err, &no) {
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			checkDistribution(t, name, s, s.Scores(x))
		}
	}
}

func TestEveryLearnerStopsWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	x, y := blobs(9000, 2, 1)
	for name, l := range everyLearner() {
		switch name {
		case "gaussian_nb", "bernoulli_nb", "lda":
			continue // one pass over the rows
		}
		if _, err := l.Fit(ctx, x, y, run(2)); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error is %v after cancelling", name, err)
		}
	}
}
