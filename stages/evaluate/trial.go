package evaluate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"weir/stages/internal/columns"
	"weir/stages/internal/features"
	"weir/stages/internal/learn"
)

// trial is one question: how well does what is learnt from the training rows
// predict the target of the test rows? Both frames are aligned.
type trial struct {
	train, test *columns.Frame // rows with a target only
	target      string
	encoder     *features.Encoder
	x           learn.Matrix // of train
	notes       string
}

// scoreRows bounds the rows whose features are in memory at once when scoring.
const scoreRows = 1 << 16

// newTrial drops rows without target, draws maxRows training rows at random
// where there are more (0: no bound), and encodes.
func newTrial(train, test *columns.Frame, target string, scaling features.Scaling, maxRows int, rng *rand.Rand) *trial {
	t := &trial{target: target}
	var lostTrain, lostTest int
	t.train, lostTrain = withTarget(train, target)
	t.test, lostTest = withTarget(test, target)
	if lostTrain+lostTest > 0 {
		t.notes = fmt.Sprintf("%d training and %d test rows have no target", lostTrain, lostTest)
	}
	if maxRows > 0 && t.train.Rows > maxRows {
		t.notes = joinNotes(t.notes, fmt.Sprintf("%d of %d training rows, drawn at random", maxRows, t.train.Rows))
		t.train = t.train.Take(rng.Perm(t.train.Rows)[:maxRows])
	}
	t.encoder = features.NewEncoder(features.Options{Scaling: scaling}, map[string]bool{target: true}, t.train, t.test)
	t.x = t.encoder.Encode(t.train)
	return t
}

func withTarget(f *columns.Frame, target string) (*columns.Frame, int) {
	c := f.Column(target)
	if c.Missing() == 0 {
		return f, 0
	}
	var kept []int
	for i := range f.Rows {
		if c.Coded() && c.Codes[i] >= 0 || !c.Coded() && !math.IsNaN(c.Numbers[i]) {
			kept = append(kept, i)
		}
	}
	return f.Take(kept), f.Rows - len(kept)
}

// impossible says why nothing can be learnt or scored; "" where it can.
func (t *trial) impossible() string {
	switch {
	case t.train.Rows == 0:
		return "the training table has no row with a target"
	case t.test.Rows == 0:
		return "the test table has no row with a target"
	}
	return ""
}

// labels are the training classes that occur, and their categories.
func (t *trial) labels() (learn.Labels, []int) {
	codes := t.train.Column(t.target).Codes
	place := make([]int, len(t.train.Column(t.target).Categories))
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

// predictions are scores of the test rows, a column for each category of the
// target.
type predictions struct {
	scores        learn.Matrix
	probabilities bool
	note          string
}

// classify fits and scores the test rows.
func (t *trial) classify(ctx context.Context, c learn.Classifier, run learn.Run) (predictions, error) {
	labels, categories := t.labels()
	all := learn.NewMatrix(t.test.Rows, len(t.test.Column(t.target).Categories))
	if labels.Classes == 1 {
		for i := range all.Rows {
			all.Cols[categories[0]][i] = 1
		}
		return predictions{all, true, "the training rows hold one class only, so the prediction is constant"}, nil
	}
	s, err := c.Fit(ctx, t.x, labels, run)
	if err != nil {
		return predictions{}, err
	}
	if !s.Probabilities() {
		for k := range all.Cols {
			for i := range all.Cols[k] {
				all.Cols[k][i] = math.Inf(-1)
			}
		}
	}
	err = t.eachBlock(ctx, func(at int, x learn.Matrix) {
		for k, column := range s.Scores(x).Cols {
			copy(all.Cols[categories[k]][at:], column)
		}
	})
	out := predictions{scores: all, probabilities: s.Probabilities()}
	if n, ok := s.(interface{ Note() string }); ok {
		out.note = n.Note()
	}
	return out, err
}

// regress fits and predicts the test rows.
func (t *trial) regress(ctx context.Context, r learn.Regressor, run learn.Run) ([]float64, error) {
	p, err := r.Fit(ctx, t.x, t.train.Column(t.target).Numbers, run)
	if err != nil {
		return nil, err
	}
	all := make([]float64, t.test.Rows)
	err = t.eachBlock(ctx, func(at int, x learn.Matrix) { copy(all[at:], p.Predict(x)) })
	return all, err
}

func (t *trial) eachBlock(ctx context.Context, f func(at int, x learn.Matrix)) error {
	for lo := 0; lo < t.test.Rows; lo += scoreRows {
		if err := ctx.Err(); err != nil {
			return err
		}
		f(lo, t.encoder.Encode(t.test.Slice(lo, min(lo+scoreRows, t.test.Rows))))
	}
	return ctx.Err()
}

// declined is the reason for which the rows allow no fit; "" where there is one,
// or where the run was cancelled. Any other failure of a learner is a reason too:
// it depends on rows, on which no run may fail.
func declined(err error) string {
	var no *learn.NotEstimable
	switch {
	case err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return ""
	case errors.As(err, &no):
		return no.Reason
	}
	return "the learner failed: " + err.Error()
}

// allUndefined gives every score the same reason.
func allUndefined(names []string, why string) map[string]figure {
	out := map[string]figure{}
	for _, n := range names {
		out[n] = undefined(why)
	}
	return out
}
