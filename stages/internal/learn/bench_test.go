package learn

import (
	"math/rand/v2"
	"testing"
)

// adultLike draws a table with the shape of UCI Adult: 48,842 rows, six numbers
// with 74, 22,000, 16, 119, 92 and 94 values and eight columns of 9, 16, 7, 15, 6,
// 5, 2 and 42 categories, whose signal is spread over several columns.
//
// On the real Adult data, 2 cores, beside other work (best of 2):
//
//	learner                       this package    scikit-learn 1.2.1 (NumPy 1.24.2)
//	random forest, 108 columns    2.0 s           4.9 s (n_jobs=2)
//	random forest, 14 columns     0.82 s          6.9 s
//	extra trees, 108 columns      2.9 s           7.0 s
//	gradient boosting, 108        5.6 s           10.1 s
//	histogram boosting, 108       5.2 s           23.6 s
//	AdaBoost, 108                 0.95 s          3.1 s
func adultLike(oneHot bool) (Matrix, Labels) {
	const rows = 48842
	rng := rand.New(rand.NewPCG(1, 1))
	score := make([]float64, rows)
	var m Matrix
	m.Rows = rows
	for _, values := range []int{74, 22000, 16, 119, 92, 94} {
		c := make([]float64, rows)
		for i := range c {
			c[i] = float64(int(rng.Float64() * rng.Float64() * float64(values)))
			score[i] += c[i] / float64(values)
		}
		m.Cols = append(m.Cols, c)
	}
	for _, values := range []int{9, 16, 7, 15, 6, 5, 2, 42} {
		c := make([]float64, rows)
		for i := range c {
			c[i] = float64(int(rng.Float64() * rng.Float64() * float64(values)))
			score[i] += c[i] / float64(values)
		}
		if !oneHot {
			m.Cols = append(m.Cols, c)
			continue
		}
		for k := range values {
			indicator := make([]float64, rows)
			for i, v := range c {
				if int(v) == k {
					indicator[i] = 1
				}
			}
			m.Cols = append(m.Cols, indicator)
		}
	}
	y := Labels{make([]int, rows), 2}
	for i, s := range score {
		if rng.Float64() < Sigmoid(4*(s-4.3)) {
			y.Y[i] = 1
		}
	}
	return m, y
}

func BenchmarkLearners(b *testing.B) {
	for _, shape := range []string{"one-hot", "codes"} {
		x, y := adultLike(shape == "one-hot")
		z, _, _ := x.Standardise()
		for _, l := range []struct {
			name string
			c    Classifier
			x    Matrix
		}{
			{"random forest", Forest{Bootstrap: true}, x},
			{"extra trees", Forest{Growth: Growth{RandomThreshold: true}}, x},
			{"histogram boosting", HistBoosting{}, x},
			{"logistic", Logistic{C: 1, Penalty: L2}, z},
			{"Gaussian naive Bayes", GaussianNB{1e-9}, z},
		} {
			b.Run(shape+"/"+l.name, func(b *testing.B) {
				for range b.N {
					if _, err := l.c.Fit(b.Context(), l.x, y, run(2)); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
