package learn

import (
	"context"

	"weir/internal/bitmath"
	"weir/train/parallel"
)

// AdaBoost boosts stumps with learning rate 1 (AdaBoostClassifier). Real is
// SAMME.R, the default of scikit-learn 1.2.1; without it SAMME, the only one of
// newer releases (Zhu, Zou, Rosset, Hastie 2009).
type AdaBoost struct {
	Rounds int
	Real   bool
}

type boosted struct {
	list    []*Tree
	weights []float64 // of each tree
	real    bool
	workers int
}

// Fit implements Classifier.
func (a AdaBoost) Fit(ctx context.Context, x Matrix, y Labels, run Run) (Scorer, error) {
	r := rank(x, run.Workers)
	g := newClassGrower(Growth{Criterion: Gini, MaxDepth: 1}, r, y.Classes)
	w := make([]float64, x.Rows)
	for i := range w {
		w[i] = 1 / float64(x.Rows)
	}
	b := &boosted{real: a.Real, workers: run.Workers}
	for range a.Rounds {
		t, err := g.grow(ctx, classItems(y, w), run.Rand)
		if err != nil {
			return nil, err
		}
		weight, more := a.reweigh(t, x, y, w, len(b.list) == 0)
		if weight > 0 {
			b.list, b.weights = append(b.list, t), append(b.weights, weight)
		}
		if !more {
			break
		}
	}
	return b, nil
}

// reweigh updates the rows' weights in place and returns the weight of the tree
// (0: it is left out) and whether boosting goes on.
func (a AdaBoost) reweigh(t *Tree, x Matrix, y Labels, w []float64, first bool) (weight float64, more bool) {
	wrong := make([]bool, x.Rows)
	miss, sum := 0.0, 0.0
	leaves := t.leaves(x)
	for i := range w {
		wrong[i] = argmax(t.value(leaves[i])) != y.Y[i]
		sum += w[i]
		if wrong[i] {
			miss += w[i]
		}
	}
	miss /= sum
	if miss <= 0 {
		return 1, false
	}
	k := float64(y.Classes)
	if a.Real {
		a.realWeights(t, leaves, y, w)
		return 1, true
	}
	if miss >= 1-1/k { // worse than chance; the first tree is kept so that there is one
		if first {
			return 1, false
		}
		return 0, false
	}
	up := min((1-miss)/miss*(k-1), 0x1p1000) // finite, also with weights that have all but vanished
	for i := range w {
		if wrong[i] {
			w[i] *= up
		}
	}
	normalise(w)
	return bitmath.Log(up), true
}

// realWeights takes the step of SAMME.R, which codes the class of a row as 1 and the others as
// -1/(K-1); class shares are clipped to 2^-52.
func (a AdaBoost) realWeights(t *Tree, leaves []int32, y Labels, w []float64) {
	k := float64(y.Classes)
	for i := range w {
		node := leaves[i]
		sum := 0.0
		for c, v := range t.value(node) {
			code := -1 / (k - 1)
			if c == y.Y[i] {
				code = 1
			}
			sum += float64(code * bitmath.Log(max(v/t.Nodes[node].Weight, 0x1p-52)))
		}
		w[i] *= bitmath.Exp(-(k - 1) / k * sum)
	}
	normalise(w)
}

func normalise(w []float64) {
	sum := 0.0
	for _, v := range w {
		sum += v
	}
	for i := range w {
		w[i] /= sum
	}
}

func (b *boosted) Probabilities() bool { return true }

// Scores returns softmax(decision/(K-1)), the class shares that the loss of Zhu et al. has at a
// decision; it is averaged over the trees' weights (two classes: of half the difference).
func (b *boosted) Scores(x Matrix) Matrix {
	k := b.list[0].width
	s, all := NewMatrix(x.Rows, k), 0.0
	for _, w := range b.weights {
		all += w
	}
	blocks := (x.Rows + chunk - 1) / chunk
	parallel.Do(b.workers, blocks, func(_, block int) {
		lo, hi := block*chunk, min((block+1)*chunk, x.Rows)
		votes := make([]float64, (hi-lo)*k)
		walk(b.list, x, lo, hi, func(m, i int, leaf int32) {
			b.vote(b.list[m], leaf, b.weights[m], votes[(i-lo)*k:(i-lo+1)*k])
		})
		for i := lo; i < hi; i++ {
			row := votes[(i-lo)*k : (i-lo+1)*k]
			b.probabilities(row, all)
			for c, v := range row {
				s.Cols[c][i] = v
			}
		}
	})
	return s
}

func (b *boosted) vote(t *Tree, node int32, weight float64, row []float64) {
	v, k := t.value(node), float64(len(row))
	if !b.real {
		row[argmax(v)] += weight
		return
	}
	mean := 0.0
	for _, w := range v {
		mean += bitmath.Log(max(w/t.Nodes[node].Weight, 0x1p-52)) / k
	}
	for c, w := range v {
		row[c] += float64((k - 1) * (bitmath.Log(max(w/t.Nodes[node].Weight, 0x1p-52)) - mean))
	}
}

// probabilities turns the votes of trees whose weights sum to all into class shares.
func (b *boosted) probabilities(row []float64, all float64) {
	k := float64(len(row))
	for c := range row {
		row[c] /= all
	}
	if len(row) == 2 {
		d := (row[1] - row[0]) / 2
		row[0], row[1] = -d, d
		softmax(row)
		return
	}
	for c := range row {
		row[c] /= k - 1
	}
	softmax(row)
}
