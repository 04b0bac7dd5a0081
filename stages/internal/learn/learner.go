package learn

import (
	"context"
	"math/rand/v2"
)

// Run is what a fit may use beside its data.
type Run struct {
	Rand    *rand.Rand // public randomness
	Workers int        // goroutines; results do not depend on it
}

// Labels are classes 0..Classes-1, one for each row. Every class has a row.
type Labels struct {
	Y       []int
	Classes int
}

// Classifier is a learner with its settings.
type Classifier interface {
	// Fit learns from x and y of at least two classes. It stops with the
	// context's error when that is cancelled.
	Fit(ctx context.Context, x Matrix, y Labels, run Run) (Scorer, error)
}

// Scorer is a fitted classifier. Scores has a row for each row of x and a
// column for each class; the predicted class is the arg-max, the first of
// equals. Probabilities says whether each row is a distribution; else scores
// are decision values.
type Scorer interface {
	Scores(x Matrix) Matrix
	Probabilities() bool
}

// Regressor is a learner of numbers with its settings.
type Regressor interface {
	Fit(ctx context.Context, x Matrix, y []float64, run Run) (Predictor, error)
}

// Predictor is a fitted regressor.
type Predictor interface {
	Predict(x Matrix) []float64
}

// Predict is the arg-max of each row of scores, the first of equals.
func Predict(scores Matrix) []int {
	labels, row := make([]int, scores.Rows), make([]float64, len(scores.Cols))
	for i := range labels {
		labels[i] = argmax(scores.Row(i, row))
	}
	return labels
}

// counts is the number of rows of each class.
func (y Labels) counts() []int {
	n := make([]int, y.Classes)
	for _, k := range y.Y {
		n[k]++
	}
	return n
}

// balanced is the weight n/(K n_k) of each row (class_weight="balanced").
func (y Labels) balanced() []float64 {
	n, w := y.counts(), make([]float64, len(y.Y))
	for i, k := range y.Y {
		w[i] = float64(len(y.Y)) / float64(y.Classes) / float64(n[k])
	}
	return w
}

// is holds 1 where the class is k.
func (y Labels) is(k int) []float64 {
	t := make([]float64, len(y.Y))
	for i, c := range y.Y {
		if c == k {
			t[i] = 1
		}
	}
	return t
}
