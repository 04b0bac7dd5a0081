package learn

import (
	"context"

	"weir/internal/bitmath"
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

// preorder brings a tree that was grown in another order into preorder, as walks
// expect it.
func (t *Tree) preorder() {
	from, nodes, values := *t, make([]Node, 0, len(t.Nodes)), make([]float64, 0, len(t.Values))
	var place func(at int32) int32
	place = func(at int32) int32 {
		to := len(nodes)
		nodes, values = append(nodes, from.Nodes[at]), append(values, from.value(at)...)
		if n := nodes[to]; n.Feature >= 0 {
			l, r := place(n.Left), place(n.Right)
			nodes[to].Left, nodes[to].Right = l, r
		}
		return int32(to)
	}
	place(0)
	t.Nodes, t.Values = nodes, values
	t.compile()
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

// walkCells bounds the cells that a walk lays out row by row at once: 1 MB.
const walkCells = 1 << 17

// walk calls visit for each tree and row of the block: row by row in memory.
func walk(list []*Tree, x Matrix, lo, hi int, visit func(tree, row int, leaf int32)) {
	p := len(x.Cols)
	step := min(hi-lo, walkCells/max(p, 1)+1)
	rows := make([]float64, step*p)
	for ; lo < hi; lo += step {
		n := min(step, hi-lo)
		x.rows(lo, lo+n, p, rows)
		for k, t := range list {
			for i := range n {
				visit(k, lo+i, t.find(rows[i*p:(i+1)*p]))
			}
		}
	}
}

// leaves is the leaf of each row.
func (t *Tree) leaves(x Matrix) []int32 {
	at := make([]int32, x.Rows)
	walk([]*Tree{t}, x, 0, x.Rows, func(_, i int, leaf int32) { at[i] = leaf })
	return at
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
	return &trees{[]*Tree{t}, len(x.Cols), run.Workers}, nil
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
	columns int
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
			sum -= float64(p * bitmath.Log2(p))
		} else if c == Gini {
			sum += float64(p * p)
		}
	}
	if c == Gini {
		return 1 - sum
	}
	return sum
}
