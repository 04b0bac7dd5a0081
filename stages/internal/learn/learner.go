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

// Predict returns the arg-max of each row of scores, the first of equals.
func Predict(scores Matrix) []int {
	labels, row := make([]int, scores.Rows), make([]float64, len(scores.Cols))
	for i := range labels {
		labels[i] = argmax(scores.Row(i, row))
	}
	return labels
}

// counts returns the number of rows of each class.
func (y Labels) counts() []int {
	n := make([]int, y.Classes)
	for _, k := range y.Y {
		n[k]++
	}
	return n
}

// balanced returns the weight n/(K n_k) of each row (class_weight="balanced").
func (y Labels) balanced() []float64 {
	n, w := y.counts(), make([]float64, len(y.Y))
	for i, k := range y.Y {
		w[i] = float64(len(y.Y)) / float64(y.Classes) / float64(n[k])
	}
	return w
}

// indicator holds 1 where the class is k.
func (y Labels) indicator(k int) []float64 {
	t := make([]float64, len(y.Y))
	for i, c := range y.Y {
		if c == k {
			t[i] = 1
		}
	}
	return t
}

// Weighted is a fitted classifier that says how much each column counts.
type Weighted interface {
	// Weights has a number for each column that was learnt from; nil where there is none, as of more than two classes
	// by regression.
	Weights() []float64
}

// Weights returns the coefficients of two classes.
func (l *logit) Weights() []float64 {
	if len(l.Coef) != 1 {
		return nil
	}
	return l.Coef[0]
}

// Weights returns the importances: each tree's total decrease of impurity by column, as shares, and their mean over the
// trees (Breiman 2001, section 10, by the measure of CART).
func (t *trees) Weights() []float64 {
	mean := make([]float64, t.columns)
	for _, tree := range t.list {
		for j, v := range tree.importances(t.columns) {
			mean[j] += v / float64(len(t.list))
		}
	}
	return mean
}

// Weights returns the weights of the chosen classifier.
func (c *chosen) Weights() []float64 { return weightsOf(c.Scorer) }

func weightsOf(s Scorer) []float64 {
	if w, ok := s.(Weighted); ok {
		return w.Weights()
	}
	return nil
}

// importances returns the total decrease of impurity by column, as shares; zeros where nothing splits.
func (t *Tree) importances(columns int) []float64 {
	shares, sum := make([]float64, columns), 0.0
	for _, n := range t.Nodes {
		if n.Feature < 0 {
			continue
		}
		l, r := t.Nodes[n.Left], t.Nodes[n.Right]
		d := float64(n.Weight*n.Impurity) - float64(l.Weight*l.Impurity) - float64(r.Weight*r.Impurity)
		shares[n.Feature] += d
		sum += d
	}
	for j := range shares {
		if sum > 0 {
			shares[j] /= sum
		}
	}
	return shares
}
