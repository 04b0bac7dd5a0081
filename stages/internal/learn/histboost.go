package learn

import (
	"context"
	"math"
	"slices"

	"weir/train/parallel"
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

// XGBoostDefaults returns the defaults of XGBoost's classifier: 100 rounds, rate 0.3,
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

// Fit implements Classifier: one output of two classes, else one a class.
func (h HistBoosting) Fit(ctx context.Context, x Matrix, y Labels, run Run) (Scorer, error) {
	h = h.defaults()
	m := &additiveClasses{additive{start: startLogits(y), workers: run.Workers}}
	f, targets := NewMatrix(x.Rows, len(m.start)), make([][]float64, len(m.start))
	for k := range targets {
		if targets[k] = y.indicator(k); len(targets) == 1 {
			targets[k] = y.indicator(1)
		}
		for i := range f.Cols[k] {
			f.Cols[k][i] = m.start[k]
		}
	}
	g := newHistGrower(h, x, run.Workers)
	p, gh := NewMatrix(x.Rows, len(m.start)), make([]float64, 2*x.Rows)
	for range h.Rounds {
		round := make([]*Tree, len(m.start))
		for k := range f.Cols {
			copy(p.Cols[k], f.Cols[k])
		}
		shares(p)
		for k := range round {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			gradients(targets[k], p.Cols[k], gh)
			round[k] = g.grow(gh, f.Cols[k])
		}
		m.list = append(m.list, round)
	}
	return m, nil
}

// gradients puts gradient and hessian of each row in turn into gh.
func gradients(target, p, gh []float64) {
	for i, v := range p {
		gh[2*i], gh[2*i+1] = v-target[i], v*(1-v)
	}
}

// HistBoostingNumbers is HistBoosting with the squared loss.
type HistBoostingNumbers struct{ HistBoosting }

// Fit implements Regressor.
func (h HistBoostingNumbers) Fit(ctx context.Context, x Matrix, y []float64, run Run) (Predictor, error) {
	s := h.defaults()
	mean, _ := Moments(y)
	m := &additive{start: []float64{mean}, workers: run.Workers}
	g := newHistGrower(s, x, run.Workers)
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

// maxBins is the number of bins a column: codes fit a byte.
const maxBins = 255

// binned holds the bins of all values in tiles of a few groups, so that the sums of
// a tile stay in the cache.
type binned struct {
	tiles []*tile
	bins  int // of all groups
}

// tile holds the bins of some groups row by row: codes[i*len(groups)+k] of row i and
// group k.
type tile struct {
	groups []group
	codes  []uint8
}

// group is a stored column with the upper edges of its bins: bin b holds values <=
// edges[b], the last bin the rest. Or it is up to maxBins columns of a block: bin k
// holds the rows with a 1 in the k-th of them, and bin width those with none.
type group struct {
	column int // the first
	at     int // of its first bin among the bins of all groups
	edges  []float64
	width  int // columns of a block; 0: a stored column
}

// tileGroups is the number of groups in a tile: 8 times 255 bins fit a second-level
// cache.
const tileGroups = 8

func bin(x Matrix, workers int) *binned {
	b := &binned{}
	var fill []func(to []uint8, stride int)
	add := func(g group, f func([]uint8, int)) {
		if last := len(b.tiles) - 1; last < 0 || len(b.tiles[last].groups) == tileGroups {
			b.tiles = append(b.tiles, &tile{})
		}
		t := b.tiles[len(b.tiles)-1]
		t.groups, fill = append(t.groups, g), append(fill, f)
	}
	edges := make([][]float64, len(x.Cols))
	parallel.Do(workers, len(x.Cols), func(_, j int) { edges[j] = quantileEdges(x.Cols[j]) })
	x.each(func(j int, c []float64) {
		add(group{column: j, edges: edges[j]}, func(to []uint8, stride int) { binNumbers(c, edges[j], to, stride) })
	}, func(a Block) {
		for lo := 0; lo < a.Width; lo += maxBins {
			width := min(maxBins, a.Width-lo)
			add(group{column: a.First + lo, width: width}, func(to []uint8, stride int) {
				binCodes(a.Codes, lo, width, to,
					stride)
			})
		}
	})
	b.lay(x.Rows, workers, fill)
	return b
}

// lay places the bins of groups one after the other and fills the codes.
func (b *binned) lay(rows, workers int, fill []func([]uint8, int)) {
	for _, t := range b.tiles {
		t.codes = make([]uint8, rows*len(t.groups))
		for k := range t.groups {
			t.groups[k].at = b.bins
			b.bins += len(t.groups[k].edges) + t.groups[k].width + 1
		}
	}
	parallel.Do(workers, len(fill), func(_, k int) {
		t := b.tiles[k/tileGroups]
		if rows > 0 {
			fill[k](t.codes[k%tileGroups:], len(t.groups))
		}
	})
}

func binNumbers(c, edges []float64, dst []uint8, stride int) {
	for i, v := range c {
		at, _ := slices.BinarySearch(edges, v)
		dst[i*stride] = uint8(at)
	}
}

func binCodes(codes []int32, lo, width int, to []uint8, stride int) {
	for i, k := range codes {
		to[i*stride] = uint8(min(uint32(k-int32(lo)), uint32(width)))
	}
}

// quantileEdges returns midpoints between distinct values, or where there are more
// than maxBins of these, the maxBins-1 inner percentiles, each the midpoint of
// its neighbours.
func quantileEdges(c []float64) []float64 {
	values := distinct(c)
	var edges []float64
	if len(values) <= maxBins {
		for i := 1; i < len(values); i++ {
			edges = append(edges, float64(values[i-1]/2)+float64(values[i]/2))
		}
		return edges
	}
	sorted := slices.Clone(c)
	slices.Sort(sorted)
	for k := 1; k < maxBins; k++ {
		at := k * (len(sorted) - 1)
		lo := at / maxBins
		hi := min(lo+min(at%maxBins, 1), len(sorted)-1)
		edges = append(edges, float64(sorted[lo]/2)+float64(sorted[hi]/2))
	}
	return slices.Compact(edges)
}

// leafState is a leaf that may be split: its rows, sums and best split.
type leafState struct {
	node, depth int
	rows        []int32
	g, h        float64
	hist        []histBin // of all groups
	best        histSplit
}

// histSplit is a way to part a leaf: rows up to bin go left or, of a block, the rows
// of every other bin.
type histSplit struct {
	gain        float64 // 0: none
	tile, group int
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
	rows    []int32
	spare   []int32        // room for the right side of a leaf
	found   [2][]histSplit // by leaf and tile
}

func newHistGrower(h HistBoosting, x Matrix, workers int) *histGrower {
	t := &histGrower{HistBoosting: h, binned: bin(x, workers), workers: workers, rows: make([]int32, x.Rows),
		spare: make([]int32, x.Rows)}
	for k := range t.found {
		t.found[k] = make([]histSplit, len(t.tiles))
	}
	return t
}

// grow grows one tree on gradients and adds its leaves to f.
func (t *histGrower) grow(gh, f []float64) *Tree {
	t.gh, t.tree = gh, &Tree{width: 1}
	for i := range t.rows {
		t.rows[i] = int32(i)
	}
	root := t.leaf(t.rows, 0)
	t.search(root, nil)
	leaves := []*leafState{root}
	for len(leaves) < t.MaxLeaves {
		pos := 0
		for i, l := range leaves {
			if l.best.gain > leaves[pos].best.gain {
				pos = i
			}
		}
		if leaves[pos].best.gain <= 0 {
			break
		}
		a, b := t.part(leaves[pos], len(leaves)+1 < t.MaxLeaves)
		leaves[pos] = a
		leaves = append(leaves, b)
	}
	for _, l := range leaves {
		v := t.tree.Values[l.node]
		for _, i := range l.rows {
			f[i] += v
		}
		t.release(l)
	}
	t.tree.preorder()
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
	return make([]histBin, t.bins)
}

func (t *histGrower) release(l *leafState) {
	if l.hist != nil {
		t.free, l.hist = append(t.free, l.hist), nil
	}
}

// divisible reports whether a leaf may be split at all.
func (t *histGrower) divisible(l *leafState) bool {
	return (t.MaxDepth == 0 || l.depth < t.MaxDepth) && len(l.rows) >= 2*t.MinRows
}

// leastParallel is the number of rows times tiles from which more workers are worth waking.
const leastParallel = 1 << 13

// search finds the best split of a leaf and of the sibling of it that holds their
// parent's histogram (nil: none), which becomes its own by subtraction.
func (t *histGrower) search(l, sibling *leafState) {
	l.hist = t.take()
	workers := t.workers
	if len(l.rows)*len(t.tiles) < leastParallel {
		workers = 1
	}
	parallel.Do(workers, len(t.tiles), func(_, k int) {
		t.tiles[k].add(l.hist, l.rows, t.gh)
		t.found[0][k] = t.best(l, k)
		if sibling != nil {
			t.tiles[k].subtract(sibling.hist, l.hist)
			t.found[1][k] = t.best(sibling, k)
		}
	})
	l.best = first(t.found[0])
	if sibling != nil {
		sibling.best = first(t.found[1])
	}
}

// first returns the best split, the first of equals.
func first(found []histSplit) histSplit {
	var best histSplit
	for _, s := range found {
		if s.gain > best.gain {
			best = s
		}
	}
	return best
}

// add adds rows to the bins of the tile, by row, so that neighbouring sums do not
// wait for each other.
func (t *tile) add(hist []histBin, rows []int32, gh []float64) {
	var places [tileGroups]int
	for k, g := range t.groups {
		places[k] = g.at
	}
	width := len(t.groups)
	for _, i := range rows {
		g, h := gh[2*i], gh[2*i+1]
		for k, code := range t.codes[int(i)*width : int(i)*width+width] {
			b := &hist[places[k&(tileGroups-1)]+int(code)]
			b.g += g
			b.h += h
			b.n++
		}
	}
}

func (t *tile) subtract(src, hist []histBin) {
	last := t.groups[len(t.groups)-1]
	lo, hi := t.groups[0].at, last.at+len(last.edges)+last.width+1
	to := src[lo:hi]
	for i, c := range hist[lo:hi] {
		b := &to[i]
		b.g, b.h, b.n = b.g-c.g, b.h-c.h, b.n-c.n
	}
}

// part splits a leaf; the histogram of the larger side is the difference. Without
// further splits no histogram is needed.
func (t *histGrower) part(l *leafState, further bool) (a, b *leafState) {
	tile, s := t.tiles[l.best.tile], l.best
	g := tile.groups[s.group]
	cut := t.partition(l.rows, tile, s, g.width > 0)
	a = t.leaf(l.rows[:cut], l.depth+1)
	b = t.leaf(l.rows[cut:], l.depth+1)
	n := &t.tree.Nodes[l.node]
	if n.Feature, n.Threshold = int32(g.column), 0.5; g.width > 0 {
		n.Feature += int32(s.bin)
	} else {
		n.Threshold = g.edges[s.bin]
	}
	n.Left, n.Right = int32(a.node), int32(b.node)
	small, large := a, b
	if len(a.rows) > len(b.rows) {
		small, large = b, a
	}
	if further && t.divisible(large) {
		large.hist, l.hist = l.hist, nil
		t.search(small, large)
	}
	t.release(l)
	return a, b
}

// partition moves the rows of the left side to the front; both sides keep their order.
func (t *histGrower) partition(rows []int32, of *tile, s histSplit, block bool) int {
	lo, hi, width := 0, 0, len(of.groups)
	codes, right := of.codes[s.group:], t.spare
	for _, i := range rows {
		code := codes[int(i)*width]
		rows[lo], right[hi] = i, i // one of them stays
		if goesLeft := code <= s.bin && !block || code != s.bin && block; goesLeft {
			lo++
		} else {
			hi++
		}
	}
	copy(rows[lo:], right[:hi])
	return lo
}

// best finds the split of a leaf of greatest gain among the groups of tile k.
func (t *histGrower) best(l *leafState, k int) histSplit {
	best := histSplit{tile: k}
	if !t.divisible(l) {
		return best
	}
	for pos, g := range t.tiles[k].groups {
		bins := l.hist[g.at : g.at+len(g.edges)+g.width+1]
		if g.width > 0 {
			t.bestOfBlock(l, pos, bins[:g.width], &best)
		} else {
			t.bestOfColumn(l, pos, bins[:len(g.edges)], &best)
		}
	}
	return best
}

// bestOfColumn sends the rows of bins up to one to the left.
func (t *histGrower) bestOfColumn(l *leafState, pos int, bins []histBin, best *histSplit) {
	g, h, n := 0.0, 0.0, 0
	for b, c := range bins {
		g, h, n = g+c.g, h+c.h, n+int(c.n)
		if c.n > 0 {
			t.offer(l, histSplit{0, best.tile, pos, uint8(b)}, g, h, n, best)
		}
		if len(l.rows)-n < t.MinRows {
			break
		}
	}
}

// bestOfBlock sends the rows of all bins but one to the left: those with a 0.
func (t *histGrower) bestOfBlock(l *leafState, pos int, bins []histBin, best *histSplit) {
	for b, c := range bins {
		if c.n > 0 {
			t.offer(l, histSplit{0, best.tile, pos, uint8(b)}, l.g-c.g, l.h-c.h, len(l.rows)-int(c.n), best)
		}
	}
}

// offer keeps a split with the sums g, h and n on its left where its gain
// 0.5 (GL^2/(HL+l) + GR^2/(HR+l) - G^2/(H+l)) - gamma is greater.
func (t *histGrower) offer(l *leafState, s histSplit, g, h float64, n int, best *histSplit) {
	if n < t.MinRows || h < t.MinHessian || len(l.rows)-n < t.MinRows || l.h-h < t.MinHessian {
		return
	}
	right := l.g - g
	sum := g*g/(h+t.Lambda) + right*right/(l.h-h+t.Lambda) - l.g*l.g/(l.h+t.Lambda)
	s.gain = float64(0.5*sum) - t.Gamma
	if s.gain > best.gain && !math.IsInf(s.gain, 0) {
		*best = s
	}
}
