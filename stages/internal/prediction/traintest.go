package prediction

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"weir/stages/internal/columns"
	"weir/stages/internal/features"
	"weir/stages/internal/learn"
	"weir/stages/internal/metric"
)

// Trial is one question: how well does what is learnt from the training rows
// predict the target of the test rows? Both frames are aligned.
type Trial struct {
	Train, Test *columns.Frame // rows with a target only
	target      string
	encoder     *features.Encoder
	first       int          // of the features of the target, which the encoder of a Desk has
	width       int          // how many these are; 0 elsewhere
	x           learn.Matrix // of train
	tested      learn.Matrix // of test; empty where it is encoded block by block
	Notes       string
}

// NewTrial drops rows without target, draws maxRows training rows at random
// where there are more (0: no bound), and encodes.
func NewTrial(train, test *columns.Frame, target string, scaling features.Scaling, maxRows int, rng *rand.Rand) *Trial {
	t := &Trial{target: target}
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
	t.encoder = features.NewEncoder(features.Options{Scaling: scaling}, map[string]bool{target: true}, t.Train, t.Test)
	t.x = t.encoder.Encode(t.Train)
	return t
}

func withTarget(f *columns.Frame, target string) (*columns.Frame, int) {
	c := f.Column(target)
	if c.Missing() == 0 {
		return f, 0
	}
	var kept []int
	for i := range f.Rows {
		if !c.Absent(i) {
			kept = append(kept, i)
		}
	}
	return f.Take(kept), f.Rows - len(kept)
}

// Features names the columns that learners see.
func (t *Trial) Features() []string {
	names := t.encoder.Names()
	return slices.Concat(names[:t.first], names[t.first+t.width:])
}

// blocks calls f with the features of blocks of test rows, and the place of their first row.
func (t *Trial) blocks(ctx context.Context, f func(at int, x learn.Matrix)) error {
	if t.tested.Rows > 0 {
		f(0, t.tested)
		return ctx.Err()
	}
	return t.encoder.Blocks(ctx, t.Test, func(at int, x learn.Matrix) { f(at, x.Without(t.first, t.width)) })
}

// Impossible says why nothing can be learnt or scored; "" where it can.
func (t *Trial) Impossible() string {
	switch {
	case t.Train.Rows == 0:
		return "the training table has no row with a target"
	case t.Test.Rows == 0:
		return "the test table has no row with a target"
	}
	return ""
}

// Majority is the accuracy of the constant guess that the test rows favour most, as
// a share of the test rows; it is for categories alone.
func (t *Trial) Majority() metric.Noted {
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
	return metric.Of(float64(n[best])/float64(t.Test.Rows), "share of the commonest class of the test rows, "+c.Categories[best])
}

// labels are the training classes that occur, and their categories.
func (t *Trial) labels() (learn.Labels, []int) {
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
func (t *Trial) Classify(ctx context.Context, c learn.Classifier, run learn.Run) (Predictions, error) {
	labels, categories := t.labels()
	all := learn.NewMatrix(t.Test.Rows, len(t.Test.Column(t.target).Categories))
	if labels.Classes == 1 {
		for i := range all.Rows {
			all.Cols[categories[0]][i] = 1
		}
		return Predictions{Scores: all, Probabilities: true, Note: "the training rows hold one class only, so the prediction is constant"}, nil
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
func (t *Trial) regress(ctx context.Context, r learn.Regressor, run learn.Run) ([]float64, error) {
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
func (t *Trial) ScoreClasses(ctx context.Context, c learn.Classifier, positive int, names []string, r *Resamples, run learn.Run) (map[string]Score, error) {
	scores, _, err := t.ScoreAndWeigh(ctx, c, positive, names, r, run)
	return scores, err
}

// ScoreAndWeigh is ScoreClasses with the Weights of its predictions.
func (t *Trial) ScoreAndWeigh(ctx context.Context, c learn.Classifier, positive int, names []string, r *Resamples, run learn.Run) (map[string]Score, []float64, error) {
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
func (t *Trial) ScoreNumbers(ctx context.Context, l learn.Regressor, names []string, r *Resamples, run learn.Run) (map[string]Score, error) {
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
