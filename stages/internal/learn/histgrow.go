package learn

import (
	"math"

	"weir/train/parallel"
)

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
	parallel.Do(t.workers, len(t.codes), func(_, j int) {
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
			gain := float64(0.5*(g*g/(h+t.Lambda)+(l.g-g)*(l.g-g)/(l.h-h+t.Lambda)-base)) - t.Gamma
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
