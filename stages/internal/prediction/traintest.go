// Package prediction asks how well a target of real test rows is predicted by what
// is learnt from other rows: columns as the numbers that learners take (Encoder), learners
// by name, one fit, scores by name.
package prediction

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"weir/stages/internal/columns"
	"weir/stages/internal/learn"
	"weir/stages/metric"
)

// TrainTest is one question: how well does what is learnt from the training rows
// predict the target of the test rows? Both frames are aligned.
type TrainTest struct {
	Train, Test *columns.Frame // rows with a target only
	target      string
	encoder     *Encoder
	first       int          // of the features of the target, which the encoder of a Desk has
	width       int          // how many these are; 0 elsewhere
	x           learn.Matrix // of train
	tested      learn.Matrix // of test; empty where it is encoded block by block
	Notes       string
}

// NewTrainTest drops rows without target, draws maxRows training rows at random
// where there are more (0: no bound), and encodes.
func NewTrainTest(train, test *columns.Frame, target string, scaling Scaling, maxRows int, rng *rand.Rand) *TrainTest {
	t := &TrainTest{target: target}
	var lostTrain, lostTest int
	t.Train, lostTrain = withTarget(train, target)
	t.Test, lostTest = withTarget(test, target)
	if lostTrain+lostTest > 0 {
		t.Notes = fmt.Sprintf("%d training and %d test rows have no target", lostTrain, lostTest)
	}
	if maxRows > 0 && t.Train.Rows > maxRows {
		t.Notes = metric.Notes(t.Notes, fmt.Sprintf("%d of %d training rows, drawn at random", maxRows, t.Train.Rows))
		t.Train = t.Train.Take(rng.Perm(t.Train.Rows)[:maxRows])
	}
	t.encoder = NewEncoder(EncoderOptions{Scaling: scaling}, map[string]bool{target: true}, t.Train, t.Test)
	t.x = t.encoder.Encode(t.Train)
	return t
}

func withTarget(f *columns.Frame, target string) (*columns.Frame, int) {
	c := f.Column(target)
	if c.Missing() == 0 {
		return f, 0
	}
	var retained []int
	for i := range f.Rows {
		if !c.Absent(i) {
			retained = append(retained, i)
		}
	}
	return f.Take(retained), f.Rows - len(retained)
}

// Features names the columns that learners see.
func (t *TrainTest) Features() []string {
	names := t.encoder.Names()
	return slices.Concat(names[:t.first], names[t.first+t.width:])
}

// blocks calls f with the features of blocks of test rows, and the place of their first row.
func (t *TrainTest) blocks(ctx context.Context, f func(at int, x learn.Matrix)) error {
	if t.tested.Rows > 0 {
		f(0, t.tested)
		return ctx.Err()
	}
	return t.encoder.Blocks(ctx, t.Test, func(at int, x learn.Matrix) { f(at, x.Without(t.first, t.width)) })
}

// Impossible says why nothing can be learnt or scored; "" where it can.
func (t *TrainTest) Impossible() string {
	switch {
	case t.Train.Rows == 0:
		return "the training table has no row with a target"
	case t.Test.Rows == 0:
		return "the test table has no row with a target"
	}
	return ""
}

// Majority returns the accuracy of the constant guess that the test rows favour most, as
// a share of the test rows; it is for categories alone.
func (t *TrainTest) Majority() metric.Noted {
	c := t.Test.Column(t.target)
	if !c.Coded() || t.Test.Rows == 0 {
		return metric.None(t.Impossible(), "needs a target of categories")
	}
	n, best := make([]int, len(c.Categories)), 0
	for _, k := range c.Codes {
		if n[k]++; n[k] > n[best] {
			best = int(k)
		}
	}
	return metric.Of(float64(n[best])/float64(t.Test.Rows), "share of the commonest class of the test rows, "+
		c.Categories[best])
}

// labels returns the training classes that occur, and their categories.
func (t *TrainTest) labels() (learn.Labels, []int) {
	codes := t.Train.Column(t.target).Codes
	place := make([]int, len(t.Train.Column(t.target).Categories))
	for _, v := range codes {
		place[v] = 1
	}
	var categories []int
	for k, seen := range place {
		if seen == 1 {
			place[k] = len(categories)
			categories = append(categories, k)
		}
	}
	l := learn.Labels{Y: make([]int, len(codes)), Classes: len(categories)}
	for i, v := range codes {
		l.Y[i] = place[v]
	}
	return l, categories
}

// Predictions are scores of the test rows, a column for each category of the
// target.
type Predictions struct {
	Scores        learn.Matrix
	Probabilities bool
	Note          string
	Weights       []float64 // how much each of Features counts; nil where the learner does not say
}

// Classify fits and scores the test rows.
func (t *TrainTest) Classify(ctx context.Context, c learn.Classifier, run learn.Run) (Predictions, error) {
	labels, categories := t.labels()
	all := learn.NewMatrix(t.Test.Rows, len(t.Test.Column(t.target).Categories))
	if labels.Classes == 1 {
		for i := range all.Rows {
			all.Cols[categories[0]][i] = 1
		}
		return Predictions{Scores: all, Probabilities: true, Note: "the training rows hold one class only, so the " +
			"prediction is constant"}, nil
	}
	s, err := c.Fit(ctx, t.x, labels, run)
	if err != nil {
		return Predictions{}, err
	}
	if !s.Probabilities() {
		for k := range all.Cols {
			for i := range all.Cols[k] {
				all.Cols[k][i] = math.Inf(-1)
			}
		}
	}
	err = t.blocks(ctx, func(at int, x learn.Matrix) {
		for k, column := range s.Scores(x).Cols {
			copy(all.Cols[categories[k]][at:], column)
		}
	})
	out := Predictions{Scores: all, Probabilities: s.Probabilities()}
	if n, ok := s.(interface{ Note() string }); ok {
		out.Note = n.Note()
	}
	if w, ok := s.(learn.Weighted); ok {
		out.Weights = w.Weights()
	}
	return out, err
}

// regress fits and predicts the test rows.
func (t *TrainTest) regress(ctx context.Context, r learn.Regressor, run learn.Run) ([]float64, error) {
	p, err := r.Fit(ctx, t.x, t.Train.Column(t.target).Numbers, run)
	if err != nil {
		return nil, err
	}
	all := make([]float64, t.Test.Rows)
	err = t.blocks(ctx, func(at int, x learn.Matrix) { copy(all[at:], p.Predict(x)) })
	return all, err
}

// ScoreClasses fits and judges the predictions of the target's categories by name
// of the score; where the rows allow no fit, every score says why. Without resamples
// (nil) no score has an interval.
func (t *TrainTest) ScoreClasses(ctx context.Context, c learn.Classifier, positive int, names []string, r *Resamples,
	run learn.Run) (map[string]Score, error) {
	scores, _, err := t.ScoreAndWeigh(ctx, c, positive, names, r, run)
	return scores, err
}

// ScoreAndWeigh scores as ScoreClasses does, with the Weights of its predictions.
func (t *TrainTest) ScoreAndWeigh(ctx context.Context, c learn.Classifier, positive int, names []string, r *Resamples,
	run learn.Run) (map[string]Score, []float64, error) {
	if why := t.Impossible(); why != "" {
		return allUndefined(names, why), nil, nil
	}
	p, err := t.Classify(ctx, c, run)
	if err != nil {
		scores, err := unfitted(names, err)
		return scores, nil, err
	}
	return scoreClasses(t.Test.Column(t.target).Codes, p, positive, names, r, run), p.Weights, nil
}

// ScoreNumbers does the same for a target of numbers.
func (t *TrainTest) ScoreNumbers(ctx context.Context, l learn.Regressor, names []string, r *Resamples,
	run learn.Run) (map[string]Score, error) {
	if why := t.Impossible(); why != "" {
		return allUndefined(names, why), nil
	}
	p, err := t.regress(ctx, l, run)
	if err != nil {
		return unfitted(names, err)
	}
	return scoreNumbers(t.Test.Column(t.target).Numbers, p, names, r, run), nil
}

func unfitted(names []string, err error) (map[string]Score, error) {
	if why := learn.Declined(err); why != "" {
		return allUndefined(names, why), nil
	}
	return nil, err
}

// allUndefined gives every score the same reason.
func allUndefined(names []string, why string) map[string]Score {
	out := map[string]Score{}
	for _, n := range names {
		out[n] = bare(metric.None(why))
	}
	return out
}

// rbfRows bounds the rows of the RBF SVM: a kernel matrix of 100 MB.
const rbfRows = 5000

// Classifiers returns the learners of classes by name, with the settings that
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
		// as in the Turku thesis
		"random_forest_shallow":  learn.Forest{Growth: learn.Growth{MaxDepth: 5}, Trees: 50, Bootstrap: true},
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

// Regressors returns the learners of numbers by name.
func Regressors() map[string]learn.Regressor {
	return map[string]learn.Regressor{
		"linear_regression": learn.LeastSquares{},
		"ridge":             learn.Ridge{Alpha: 1},
		"lasso":             learn.ElasticNet{Alpha: 1, L1Ratio: 1},
		"elastic_net":       learn.ElasticNet{Alpha: 1, L1Ratio: 0.5},
		"decision_tree":     learn.RegressionTree{Growth: learn.Growth{Criterion: learn.MSE}},
		"random_forest":     learn.RegressionForest{Forest: learn.Forest{Bootstrap: true, AllFeatures: true}},
		"extra_trees": learn.RegressionForest{Forest: learn.Forest{AllFeatures: true,
			Growth: learn.Growth{RandomThreshold: true}}},
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

// Desk is a training and a test table of which each column is predicted from the others. Rows are drawn and columns
// encoded once: the design of a target is the design of all columns without its own.
type Desk struct {
	train, test *columns.Frame
	scaling     Scaling
	encoder     *Encoder
	x, tested   learn.Matrix // tested is empty where the test rows are more than a block
	notes       string
}

// NewDesk draws maxRows training rows at random where there are more (0: no bound), and encodes.
func NewDesk(train, test *columns.Frame, scaling Scaling, maxRows int, rng *rand.Rand) *Desk {
	d := &Desk{train: train, test: test, scaling: scaling}
	if maxRows > 0 && train.Rows > maxRows {
		d.notes = fmt.Sprintf("%d of %d training rows, drawn at random", maxRows, train.Rows)
		d.train = train.Take(rng.Perm(train.Rows)[:maxRows])
	}
	d.encoder = NewEncoder(EncoderOptions{Scaling: scaling}, nil, d.train, test)
	d.x = d.encoder.Encode(d.train).Listed()
	if test.Rows <= EncoderBlockRows {
		d.tested = d.encoder.Encode(test).Listed()
	}
	return d
}

// TrainTest returns the question of one target. Where rows have none they are left out, which makes a design of its
// own.
func (d *Desk) TrainTest(target string) *TrainTest {
	if d.train.Column(target).Missing()+d.test.Column(target).Missing() > 0 {
		t := NewTrainTest(d.train, d.test, target, d.scaling, 0, nil)
		t.Notes = metric.Notes(d.notes, t.Notes)
		return t
	}
	t := &TrainTest{Train: d.train, Test: d.test, Notes: d.notes, target: target, encoder: d.encoder}
	t.first, t.width = d.encoder.Place(target)
	t.x = d.x.Without(t.first, t.width)
	if len(d.tested.Cols) > 0 {
		t.tested = d.tested.Without(t.first, t.width)
	}
	return t
}
