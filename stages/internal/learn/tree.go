package learn

import (
	"context"
	"math"
	"math/rand/v2"

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
	source, nodes, values := *t, make([]Node, 0, len(t.Nodes)), make([]float64, 0, len(t.Values))
	var place func(at int32) int32
	place = func(at int32) int32 {
		end := len(nodes)
		nodes, values = append(nodes, source.Nodes[at]), append(values, source.value(at)...)
		if n := nodes[end]; n.Feature >= 0 {
			l, r := place(n.Left), place(n.Right)
			nodes[end].Left, nodes[end].Right = l, r
		}
		return int32(end)
	}
	place(0)
	t.Nodes, t.Values = nodes, values
	t.compile()
}

// find returns the leaf of a row.
func (t *Tree) find(row []float64) int32 {
	pos := int32(0)
	for {
		s := &t.steps[pos]
		switch {
		case s.feature < 0:
			return pos
		case row[s.feature] <= s.threshold:
			pos++
		default:
			pos = s.right
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

// leaves returns the leaf of each row.
func (t *Tree) leaves(x Matrix) []int32 {
	at := make([]int32, x.Rows)
	walk([]*Tree{t}, x, 0, x.Rows, func(_, i int, leaf int32) { at[i] = leaf })
	return at
}

// value returns the part of Values of a node.
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

// impurity returns the impurity of class weights.
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

// item is a row of a node. For classes k is the class and a the weight; for
// numbers k is how often the row counts and a is k times its target.
type item struct {
	row, k int32
	a      float64
}

// grower grows trees on ranked columns. Its memory is reused from tree to tree;
// it serves one goroutine.
//
// Statistics of a set of rows are `stats` numbers: the weight of each class, or
// (for numbers) the count and the sum of targets.
type grower struct {
	Growth
	*ranked
	numbers bool
	stats   int
	rng     *rand.Rand
	tree    *Tree
	hist    []float64
	keys    []uint64
	spare   []uint64 // as many, for sorting keys
	order   []int32
	idle    []bool    // by column: constant in the node and so in those below it
	idled   []int32   // the columns that are idle, in the order found
	sums    blockSums // of the node
	total   []float64
	left    []float64
	right   []float64
}

func newClassGrower(g Growth, r *ranked, classes int) *grower { return newGrower(g, r, classes, false) }

func newNumberGrower(g Growth, r *ranked) *grower { return newGrower(g, r, 2, true) }

func newGrower(s Growth, r *ranked, stats int, numbers bool) *grower {
	g := &grower{Growth: s, ranked: r, stats: stats, numbers: numbers}
	g.MinSplit, g.MinLeaf = max(2, s.MinSplit), max(1, s.MinLeaf)
	if g.MaxFeatures <= 0 || g.MaxFeatures > len(r.values) {
		g.MaxFeatures = len(r.values)
	}
	widest := 0
	for j := range r.values {
		widest = max(widest, len(r.values[j]))
		g.order = append(g.order, int32(j))
	}
	g.idle, g.sums = make([]bool, len(r.values)), newBlockSums(r, stats)
	g.hist = make([]float64, widest*(stats+1))
	g.total, g.left, g.right = make([]float64, stats), make([]float64, stats), make([]float64, stats)
	return g
}

// classItems returns the rows with a positive weight (nil: all, weight 1).
func classItems(y Labels, w []float64) []item {
	items := make([]item, 0, len(y.Y))
	for i, k := range y.Y {
		if w == nil {
			items = append(items, item{int32(i), int32(k), 1})
		} else if w[i] > 0 {
			items = append(items, item{int32(i), int32(k), w[i]})
		}
	}
	return items
}

// numberItems returns the rows with a positive count (nil: all, once).
func numberItems(y []float64, count []int32) []item {
	items := make([]item, 0, len(y))
	for i, v := range y {
		n := int32(1)
		if count != nil {
			n = count[i]
		}
		if n > 0 {
			items = append(items, item{int32(i), n, float64(n) * v})
		}
	}
	return items
}

// grow grows one tree; it reorders items.
func (g *grower) grow(ctx context.Context, items []item, rng *rand.Rand) (*Tree, error) {
	g.tree, g.rng = &Tree{width: g.stats}, rng
	if cap(g.keys) < len(items) {
		g.keys, g.spare = make([]uint64, len(items)), make([]uint64, len(items))
	}
	for j := range g.order {
		g.order[j] = int32(j)
	}
	g.node(ctx, items, 0)
	g.tree.compile()
	return g.tree, ctx.Err()
}

// node adds the node of items and, in preorder, those below it.
func (g *grower) node(ctx context.Context, items []item, depth int) int32 {
	pos := int32(len(g.tree.Nodes))
	total := g.total
	clear(total)
	n := Node{Feature: -1, N: int32(len(items))}
	n.Weight, n.Impurity = g.summarise(items, total)
	g.tree.Nodes = append(g.tree.Nodes, n)
	g.tree.Values = append(g.tree.Values, total...)
	if g.numbers {
		g.tree.Values[int(pos)*g.stats] = total[1] / n.Weight
	}
	if g.final(n, depth) || len(items) > 4096 && ctx.Err() != nil {
		return pos
	}
	known := len(g.idled)
	defer g.wake(known)
	s := g.split(items, total)
	if !s.found {
		return pos
	}
	cut := g.partition(items, s)
	threshold := g.threshold(s)
	l := g.node(ctx, items[:cut], depth+1)
	r := g.node(ctx, items[cut:], depth+1)
	node := &g.tree.Nodes[pos]
	node.Feature, node.Threshold, node.Left, node.Right = int32(s.feature), threshold, l, r
	return pos
}

// wake lets the search try again the features that were found constant after the first known ones, below a node that is
// done.
func (g *grower) wake(known int) {
	for _, j := range g.idled[known:] {
		g.idle[j] = false
	}
	g.idled = g.idled[:known]
}

// final reports whether a node stays a leaf; an impurity of up to 2^-52 counts as the impurity of a pure
// node with rounding.
func (g *grower) final(n Node, depth int) bool {
	return g.MaxDepth > 0 && depth >= g.MaxDepth || int(n.N) < g.MinSplit || int(n.N) < 2*g.MinLeaf ||
		n.Impurity <= 0x1p-52
}

// summarise fills the statistics of items and returns weight and impurity.
func (g *grower) summarise(items []item, total []float64) (weight, impurity float64) {
	if !g.numbers {
		for _, it := range items {
			total[it.k] += it.a
		}
		for _, w := range total {
			weight += w
		}
		return weight, g.Criterion.impurity(total, weight)
	}
	for _, it := range items {
		total[0] += float64(it.k)
		total[1] += it.a
	}
	mean := total[1] / total[0]
	for _, it := range items {
		d := it.a/float64(it.k) - mean
		impurity += float64(float64(it.k) * d * d)
	}
	return total[0], impurity / total[0]
}

// partition moves the items of the left side to the front.
func (g *grower) partition(items []item, s split) int {
	if b := g.block[s.feature]; b >= 0 {
		k := uint32(s.feature - g.blocks[b].first)
		if c := g.blocks[b].small; c != nil {
			return setAside(items, c, uint8(k))
		}
		return setAside(items, g.blocks[b].large, k)
	}
	if c := g.small[s.feature]; c != nil {
		return partition(items, c, s.rank)
	}
	return partition(items, g.large[s.feature], s.rank)
}

func partition[T uint8 | uint32](items []item, codes []T, rank uint32) int {
	lo, hi := 0, len(items)-1
	for lo <= hi {
		if uint32(codes[items[lo].row]) <= rank {
			lo++
			continue
		}
		items[lo], items[hi] = items[hi], items[lo]
		hi--
	}
	return lo
}

// setAside moves the items with the given code, those with a 1, to the back.
func setAside[T uint8 | uint32](items []item, codes []T, code T) int {
	lo, hi := 0, len(items)-1
	for lo <= hi {
		if codes[items[lo].row] != code {
			lo++
			continue
		}
		items[lo], items[hi] = items[hi], items[lo]
		hi--
	}
	return lo
}

// threshold returns the midpoint of the neighbouring values of the node, or the drawn
// one; where the midpoint rounds up to the greater value it is the lesser.
func (g *grower) threshold(s split) float64 {
	if g.RandomThreshold {
		return s.drawn
	}
	v := g.values[s.feature]
	t := float64(v[s.rank]/2) + float64(v[s.next]/2)
	if t >= v[s.next] || math.IsInf(t, 0) {
		return v[s.rank]
	}
	return t
}
