package learn

import (
	"context"

	"weir/internal/portable"
	"weir/train/parallel"
)

// Criterion is what a split of a tree lowers.
type Criterion string

const (
	Gini     Criterion = "gini"
	entropy  Criterion = "entropy" // in bits
	MSE      Criterion = "mse"
	friedman Criterion = "friedman_mse" // Friedman 2001, equation 35
)

// Growth is how a tree grows. Zero values: no bound on depth, splits of 2 rows,
// leaves of 1, all features, exact thresholds.
type Growth struct {
	Criterion         Criterion
	MaxDepth          int
	MinSplit, MinLeaf int
	MaxFeatures       int  // features drawn at random for each split; more where all drawn are constant
	RandomThreshold   bool // one threshold a feature, uniform between its extremes (extra trees)
}

// Node is one node of a tree, in preorder. Rows with x[Feature] <= Threshold go
// left. Feature is -1 at a leaf.
type Node struct {
	Feature     int32
	Left, Right int32
	N           int32 // rows
	Threshold   float64
	Weight      float64
	Impurity    float64
}

// Tree is a fitted tree. Values holds, for each node, the class weights or the
// mean and a second number (see stats of grower).
type Tree struct {
	Nodes  []Node
	Values []float64
	width  int
	steps  []step
}

// step is a node as walks need it, small enough for four in a cache line. The
// left child is the next node.
type step struct {
	threshold float64
	feature   int32 // -1 at a leaf
	right     int32
}

// compile lays out the steps.
func (t *Tree) compile() {
	t.steps = make([]step, len(t.Nodes))
	for i, n := range t.Nodes {
		t.steps[i] = step{n.Threshold, n.Feature, n.Right}
	}
}

// find is the leaf of a row.
func (t *Tree) find(row []float64) int32 {
	at := int32(0)
	for {
		s := &t.steps[at]
		switch {
		case s.feature < 0:
			return at
		case row[s.feature] <= s.threshold:
			at++
		default:
			at = s.right
		}
	}
}

// walk calls visit for each tree and row of the block: row by row in memory.
func walk(list []*Tree, x Matrix, lo, hi int, visit func(tree, row int, leaf int32)) {
	p := len(x.Cols)
	rows := make([]float64, (hi-lo)*p)
	for j, c := range x.Cols {
		for i, v := range c[lo:hi] {
			rows[i*p+j] = v
		}
	}
	for k, t := range list {
		for i := range hi - lo {
			visit(k, lo+i, t.find(rows[i*p:(i+1)*p]))
		}
	}
}

// leaf is the node that row i of x falls into.
func (t *Tree) leaf(x Matrix, i int) int32 {
	at := int32(0)
	for {
		n := &t.Nodes[at]
		switch {
		case n.Feature < 0:
			return at
		case x.Cols[n.Feature][i] <= n.Threshold:
			at = n.Left
		default:
			at = n.Right
		}
	}
}

// value is the part of Values of a node.
func (t *Tree) value(node int32) []float64 {
	return t.Values[int(node)*t.width : (int(node)+1)*t.width]
}

// DecisionTree is a CART classifier (DecisionTreeClassifier). Where splits are
// equally good the first feature and the least threshold win.
type DecisionTree struct{ Growth }

// Fit implements Classifier.
func (d DecisionTree) Fit(ctx context.Context, x Matrix, y Labels, run Run) (Scorer, error) {
	g := newClassGrower(d.Growth, rank(x, run.Workers), y.Classes)
	t, err := g.grow(ctx, classItems(y, nil), run.Rand)
	if err != nil {
		return nil, err
	}
	return &trees{[]*Tree{t}, run.Workers}, nil
}

// RegressionTree is a CART regressor (DecisionTreeRegressor).
type RegressionTree struct{ Growth }

// Fit implements Regressor.
func (d RegressionTree) Fit(ctx context.Context, x Matrix, y []float64, run Run) (Predictor, error) {
	t, err := newNumberGrower(d.Growth, rank(x, run.Workers)).grow(ctx, numberItems(y, nil), run.Rand)
	if err != nil {
		return nil, err
	}
	return &meanTrees{[]*Tree{t}, run.Workers}, nil
}

// trees scores by the mean of the class shares in the leaves.
type trees struct {
	list    []*Tree
	workers int
}

func (t *trees) Probabilities() bool { return true }

// Scores adds the trees up in their order within each block of rows.
func (t *trees) Scores(x Matrix) Matrix {
	s := NewMatrix(x.Rows, t.list[0].width)
	blocks := (x.Rows + chunk - 1) / chunk
	parallel.Do(t.workers, blocks, func(_, b int) {
		lo, hi := b*chunk, min((b+1)*chunk, x.Rows)
		walk(t.list, x, lo, hi, func(tree, i int, leaf int32) {
			w := t.list[tree].Nodes[leaf].Weight * float64(len(t.list))
			for k, v := range t.list[tree].value(leaf) {
				s.Cols[k][i] += v / w
			}
		})
	})
	return s
}

// meanTrees predicts the mean of the leaves' means.
type meanTrees struct {
	list    []*Tree
	workers int
}

func (t *meanTrees) Predict(x Matrix) []float64 {
	y := make([]float64, x.Rows)
	blocks := (x.Rows + chunk - 1) / chunk
	parallel.Do(t.workers, blocks, func(_, b int) {
		walk(t.list, x, b*chunk, min((b+1)*chunk, x.Rows), func(tree, i int, leaf int32) {
			y[i] += t.list[tree].value(leaf)[0] / float64(len(t.list))
		})
	})
	return y
}

// impurity of class weights.
func (c Criterion) impurity(weights []float64, total float64) float64 {
	sum := 0.0
	for _, w := range weights {
		p := w / total
		if c == entropy && p > 0 {
			sum -= float64(p * portable.Log2(p))
		} else if c == Gini {
			sum += float64(p * p)
		}
	}
	if c == Gini {
		return 1 - sum
	}
	return sum
}
