package learn

import (
	"context"
	"math"
	"slices"

	"weir/stages/internal/parallel"
)

// HistBoosting is second-order gradient boosting on binned columns: XGBoost's
// split gain and leaf weights (Chen, Guestrin 2016, equations 5 and 7) on at
// most 255 quantile bins a column, trees grown best gain first. With the zero
// values it is HistGradientBoostingClassifier: 100 rounds, rate 0.1, 31 leaves
// of at least 20 rows, no penalty. XGBoost's defaults are in XGBoostDefaults.
type HistBoosting struct {
	Rounds, MaxLeaves, MaxDepth, MinRows int
	Rate                                 float64
	Lambda, Gamma                        float64 // penalty of a squared leaf weight; of a leaf
	MinHessian                           float64
}

// XGBoostDefaults are those of XGBoost's classifier: 100 rounds, rate 0.3,
// depth 6, lambda 1, min_child_weight 1.
func XGBoostDefaults() HistBoosting {
	return HistBoosting{Rounds: 100, MaxLeaves: 64, MaxDepth: 6, MinRows: 1, Rate: 0.3, Lambda: 1, MinHessian: 1}
}

func (h HistBoosting) defaults() HistBoosting {
	if h.Rounds == 0 {
		h.Rounds, h.MaxLeaves, h.MinRows, h.Rate, h.MinHessian = 100, 31, 20, 0.1, 1e-3
	}
	return h
}

// maxBins is the number of bins a column: codes fit a byte.
const maxBins = 255

// binned holds the bin of each value, and the upper edges of bins.
type binned struct {
	codes [][]uint8
	edges [][]float64 // bin b holds values <= edges[b], the last bin the rest
}

func bin(x Matrix, workers int) *binned {
	b := &binned{make([][]uint8, len(x.Cols)), make([][]float64, len(x.Cols))}
	parallel.Do(len(x.Cols), workers, func(j int) {
		edges := quantileEdges(x.Cols[j])
		codes := make([]uint8, x.Rows)
		for i, v := range x.Cols[j] {
			at, _ := slices.BinarySearch(edges, v)
			codes[i] = uint8(at)
		}
		b.codes[j], b.edges[j] = codes, edges
	})
	return b
}

// quantileEdges are midpoints between distinct values, or where there are more
// than maxBins of these, the maxBins-1 inner percentiles, each the midpoint of
// its neighbours (as _BinMapper).
func quantileEdges(c []float64) []float64 {
	values := distinct(c)
	var edges []float64
	if len(values) <= maxBins {
		for i := 1; i < len(values); i++ {
			edges = append(edges, values[i-1]/2+values[i]/2)
		}
		return edges
	}
	sorted := slices.Clone(c)
	slices.Sort(sorted)
	for k := 1; k < maxBins; k++ {
		at := k * (len(sorted) - 1)
		lo := at / maxBins
		hi := min(lo+min(at%maxBins, 1), len(sorted)-1)
		edges = append(edges, sorted[lo]/2+sorted[hi]/2)
	}
	return slices.Compact(edges)
}

// Fit implements Classifier: one output of two classes, else one a class.
func (h HistBoosting) Fit(ctx context.Context, x Matrix, y Labels, run Run) (Scorer, error) {
	h = h.defaults()
	m := &additiveClasses{additive{start: startLogits(y), workers: run.Workers}}
	f, targets := NewMatrix(x.Rows, len(m.start)), make([][]float64, len(m.start))
	for k := range targets {
		if targets[k] = y.is(k); len(targets) == 1 {
			targets[k] = y.is(1)
		}
		for i := range f.Cols[k] {
			f.Cols[k][i] = m.start[k]
		}
	}
	g := &histGrower{HistBoosting: h, binned: bin(x, run.Workers), workers: run.Workers}
	for range h.Rounds {
		p, round := NewMatrix(x.Rows, len(m.start)), make([]*Tree, len(m.start))
		for k := range f.Cols {
			copy(p.Cols[k], f.Cols[k])
		}
		shares(p)
		for k := range round {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			round[k] = g.grow(gradients(targets[k], p.Cols[k]), f.Cols[k])
		}
		m.list = append(m.list, round)
	}
	return m, nil
}

// gradients holds gradient and hessian of each row in turn.
func gradients(target, p []float64) []float64 {
	gh := make([]float64, 2*len(p))
	for i, v := range p {
		gh[2*i], gh[2*i+1] = v-target[i], v*(1-v)
	}
	return gh
}

// HistBoostingNumbers is HistBoosting with the squared loss.
type HistBoostingNumbers struct{ HistBoosting }

// Fit implements Regressor.
func (h HistBoostingNumbers) Fit(ctx context.Context, x Matrix, y []float64, run Run) (Predictor, error) {
	s := h.defaults()
	mean, _ := Moments(y)
	m := &additive{start: []float64{mean}, workers: run.Workers}
	g := &histGrower{HistBoosting: s, binned: bin(x, run.Workers), workers: run.Workers}
	f, gh := make([]float64, len(y)), make([]float64, 2*len(y))
	for i := range f {
		f[i] = mean
	}
	for range s.Rounds {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for i, v := range f {
			gh[2*i], gh[2*i+1] = v-y[i], 1
		}
		m.list = append(m.list, []*Tree{g.grow(gh, f)})
	}
	return m, nil
}

// leafState is a leaf that may be split: its rows, sums and best split.
type leafState struct {
	node, depth int
	rows        []int32
	g, h        float64
	hist        []histBin // of all columns, maxBins each
	gain        float64   // 0: none
	feature     int
	bin         uint8
}

type histBin struct {
	g, h float64
	n    int32
}

type histGrower struct {
	HistBoosting
	*binned
	workers int
	gh      []float64
	tree    *Tree
	free    [][]histBin
}

// grow grows one tree on gradients and adds its leaves to f.
func (t *histGrower) grow(gh, f []float64) *Tree {
	t.gh, t.tree = gh, &Tree{width: 1}
	rows := make([]int32, len(f))
	for i := range rows {
		rows[i] = int32(i)
	}
	root := t.leaf(rows, 0)
	root.hist = t.histogram(rows)
	t.best(root)
	leaves := []*leafState{root}
	for count := 1; count < t.MaxLeaves; count++ {
		at := 0
		for i, l := range leaves {
			if l.gain > leaves[at].gain {
				at = i
			}
		}
		if leaves[at].gain <= 0 {
			break
		}
		a, b := t.part(leaves[at])
		leaves[at] = a
		leaves = append(leaves, b)
	}
	for _, l := range leaves {
		v := t.tree.Values[l.node]
		for _, i := range l.rows {
			f[i] += v
		}
		t.release(l)
	}
	return t.tree
}

// leaf adds a leaf with weight -rate G/(H+lambda).
func (t *histGrower) leaf(rows []int32, depth int) *leafState {
	l := &leafState{node: len(t.tree.Nodes), depth: depth, rows: rows}
	for _, i := range rows {
		l.g += t.gh[2*i]
		l.h += t.gh[2*i+1]
	}
	t.tree.Nodes = append(t.tree.Nodes, Node{Feature: -1, N: int32(len(rows)), Weight: l.h})
	t.tree.Values = append(t.tree.Values, -t.Rate*l.g/max(l.h+t.Lambda, 1e-300))
	return l
}

func (t *histGrower) take() []histBin {
	if n := len(t.free); n > 0 {
		h := t.free[n-1]
		t.free = t.free[:n-1]
		clear(h)
		return h
	}
	return make([]histBin, len(t.codes)*maxBins)
}

func (t *histGrower) release(l *leafState) {
	if l.hist != nil {
		t.free, l.hist = append(t.free, l.hist), nil
	}
}

func (t *histGrower) histogram(rows []int32) []histBin {
	all := t.take()
	parallel.Do(len(t.codes), t.workers, func(j int) {
		h, codes := all[j*maxBins:(j+1)*maxBins], t.codes[j]
		for _, i := range rows {
			b := &h[codes[i]]
			b.g += t.gh[2*i]
			b.h += t.gh[2*i+1]
			b.n++
		}
	})
	return all
}

// best finds the split of greatest gain
// 0.5 (GL^2/(HL+l) + GR^2/(HR+l) - G^2/(H+l)) - gamma.
func (t *histGrower) best(l *leafState) {
	if t.MaxDepth > 0 && l.depth >= t.MaxDepth || len(l.rows) < 2*t.MinRows {
		return
	}
	base := l.g * l.g / (l.h + t.Lambda)
	for j, edges := range t.edges {
		g, h, n := 0.0, 0.0, 0
		for b := range edges {
			cell := l.hist[j*maxBins+b]
			g, h, n = g+cell.g, h+cell.h, n+int(cell.n)
			if cell.n == 0 || n < t.MinRows || h < t.MinHessian {
				continue
			}
			if len(l.rows)-n < t.MinRows || l.h-h < t.MinHessian {
				break
			}
			gain := 0.5*(g*g/(h+t.Lambda)+(l.g-g)*(l.g-g)/(l.h-h+t.Lambda)-base) - t.Gamma
			if gain > l.gain && !math.IsInf(gain, 0) {
				l.gain, l.feature, l.bin = gain, j, uint8(b)
			}
		}
	}
}

// part splits a leaf; the histogram of the larger side is the difference.
func (t *histGrower) part(l *leafState) (a, b *leafState) {
	codes := t.codes[l.feature]
	var left, right []int32
	for _, i := range l.rows {
		if codes[i] <= l.bin {
			left = append(left, i)
		} else {
			right = append(right, i)
		}
	}
	a = t.leaf(left, l.depth+1)
	b = t.leaf(right, l.depth+1)
	n := &t.tree.Nodes[l.node]
	n.Feature, n.Threshold = int32(l.feature), t.edges[l.feature][l.bin]
	n.Left, n.Right = int32(a.node), int32(b.node)
	small, large := a, b
	if len(left) > len(right) {
		small, large = b, a
	}
	small.hist, large.hist = t.histogram(small.rows), l.hist
	for i, c := range small.hist {
		h := &large.hist[i]
		h.g, h.h, h.n = h.g-c.g, h.h-c.h, h.n-c.n
	}
	t.best(a)
	t.best(b)
	return a, b
}
