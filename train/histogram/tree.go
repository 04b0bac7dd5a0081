package histogram

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Leaf is a range of grid cells [Lo, Hi) that is not divided further: its estimated
// count and the variance of its noise.
type Leaf struct {
	Lo, Hi     int
	Count, Var float64
}

// branching is into how many parts a node is divided.
const branching = 16

// expandAt is the least estimate that is divided, in sds of a level.
const expandAt = 5

// Levels is how many levels lead from all cells to single ones: the least l with
// 16^l >= cells, at least one.
func Levels(cells int) int {
	levels := 1
	for reach := branching; reach < cells; reach *= branching {
		levels++
	}
	return levels
}

// Tree finds where the counts of a line of cells lie, level by level. Node k of level
// l is the cells from k cells/16^l to (k+1) cells/16^l, both rounded down; level 1 is
// asked whole, each later one below the nodes whose estimate is at least 5 sd.
//
// ask releases one level: the noisy counts, of noise sd, of disjoint ranges of cells
// [lo, hi), which it must charge as one histogram whatever the ranges are. Tree sees
// no other count, so that all that it chooses is chosen from released numbers. It is
// called for levels 1, 2 and so on while any node is left to divide; levels it is not
// called for are not released.
//
// root is called once, after level 1: the count of all cells and its variance, given
// the noisy sum of level 1. Variance 0 says that it is public; +Inf, that only the
// sum is known.
//
// A node's children share t, the precision-weighted mean of its estimate and their
// sum ((16 parent + sum)/17), by the projection Simplex: dense children stay
// unbiased, sparse ones lose what noise added. Leaves come from left to right and
// cover all cells. An error is that of ask, or names a wrong number of answers.
func Tree(cells, levels int, sd float64, root func(sum float64) (total, variance float64), ask func(level int, nodes [][2]int) ([]float64, error)) ([]Leaf, error) {
	g := grower{cells: cells, sd: sd, open: []Leaf{{Lo: 0, Hi: cells}}}
	for at := 1; at <= levels && len(g.open) > 0; at++ {
		children, nodes := g.children(at)
		y, err := ask(at, nodes)
		if err != nil {
			return nil, err
		}
		if len(y) != len(nodes) {
			return nil, fmt.Errorf("histogram: internal error: %d counts for the %d nodes of level %d", len(y), len(nodes), at)
		}
		if at == 1 {
			g.open[0].Count, g.open[0].Var = root(sum(y))
		}
		g.divide(children, y, at == levels)
	}
	slices.SortFunc(g.leaves, func(a, b Leaf) int { return cmp.Compare(a.Lo, b.Lo) })
	return g.leaves, nil
}

type grower struct {
	cells  int
	sd     float64
	open   []Leaf // nodes to divide
	leaves []Leaf
}

// children lists those of each open node at a level, and all of them in one line.
func (g *grower) children(at int) (each [][][2]int, nodes [][2]int) {
	parts := int64(1)
	for range at {
		parts = min(parts*branching, int64(g.cells))
	}
	for _, parent := range g.open {
		own := divided(parent, int64(g.cells), parts)
		each, nodes = append(each, own), append(nodes, own...)
	}
	return each, nodes
}

// divided lists the nodes of a level of `parts` parts inside the parent.
func divided(parent Leaf, cells, parts int64) (list [][2]int) {
	for lo := int64(parent.Lo); lo < int64(parent.Hi); {
		k := ((lo+1)*parts - 1) / cells // the node that holds cell lo
		hi := min((k+1)*cells/parts, int64(parent.Hi))
		list = append(list, [2]int{int(lo), int(hi)})
		lo = hi
	}
	return list
}

// divide puts the answers in place of the open nodes.
func (g *grower) divide(children [][][2]int, y []float64, last bool) {
	parents := g.open
	g.open = nil
	for i, parent := range parents {
		own := y[:len(children[i])]
		y = y[len(own):]
		for k, count := range Simplex(own, g.shared(parent, own)) {
			leaf := Leaf{Lo: children[i][k][0], Hi: children[i][k][1], Count: count, Var: g.sd * g.sd}
			if !last && leaf.Hi-leaf.Lo > 1 && count >= expandAt*g.sd {
				g.open = append(g.open, leaf)
			} else {
				g.leaves = append(g.leaves, leaf)
			}
		}
	}
}

// shared is what the children of a node hold together.
func (g *grower) shared(parent Leaf, y []float64) float64 {
	below := float64(len(y)) * g.sd * g.sd // variance of their sum
	switch {
	case parent.Var == 0:
		return parent.Count
	case math.IsInf(parent.Var, 1):
		return sum(y)
	}
	return (parent.Count*below + sum(y)*parent.Var) / (below + parent.Var)
}

func sum(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v
	}
	return s
}
