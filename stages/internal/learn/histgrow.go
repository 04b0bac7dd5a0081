package learn

import "weir/train/parallel"

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
	t := &histGrower{HistBoosting: h, binned: bin(x, workers), workers: workers, rows: make([]int32, x.Rows), spare: make([]int32, x.Rows)}
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
		at := 0
		for i, l := range leaves {
			if l.best.gain > leaves[at].best.gain {
				at = i
			}
		}
		if leaves[at].best.gain <= 0 {
			break
		}
		a, b := t.part(leaves[at], len(leaves)+1 < t.MaxLeaves)
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

// apart is the number of rows times tiles from which more workers are worth waking.
const apart = 1 << 13

// search finds the best split of a leaf and of the sibling of it that holds their
// parent's histogram (nil: none), which becomes its own by subtraction.
func (t *histGrower) search(l, sibling *leafState) {
	l.hist = t.take()
	workers := t.workers
	if len(l.rows)*len(t.tiles) < apart {
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

// first is the best split, the first of equals.
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
	var at [tileGroups]int
	for k, g := range t.groups {
		at[k] = g.at
	}
	width := len(t.groups)
	for _, i := range rows {
		g, h := gh[2*i], gh[2*i+1]
		for k, code := range t.codes[int(i)*width : int(i)*width+width] {
			b := &hist[at[k&(tileGroups-1)]+int(code)]
			b.g += g
			b.h += h
			b.n++
		}
	}
}

func (t *tile) subtract(from, hist []histBin) {
	last := t.groups[len(t.groups)-1]
	lo, hi := t.groups[0].at, last.at+len(last.edges)+last.width+1
	to := from[lo:hi]
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
