package graphical

import (
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"

	"weir/internal/bitmath"
)

// Tree is a junction tree of the columns of a domain: the cliques of each column are
// connected. Every column is in at least one clique.
type Tree struct {
	dom    []int
	limits Limits
	nodes  []node // depth first, the root first
}

// node is a clique and its link to the one above.
type node struct {
	vars     Set
	axes     []int // of its table, by domain
	cells    int
	parent   int // -1: the root
	children []int
	sepVars  Set   // of the separator from the parent; none: one cell
	sep      []int // axes of its table
	sepCells int
	above    view // the separator within the parent's table
	own      view // and within this one
}

// perturbations returns how many random eliminations NewTree tries besides three greedy
// ones; a wide table gets few.
func perturbations(columns int) int {
	if columns > 60 {
		return 3
	}
	return 20
}

// NewTree finds a junction tree that holds every set. It tries greedy eliminations
// (by size of the clique, by size over the column's own codes, by fill), random
// perturbations of the first, and the tree that Grow makes of the sets in their
// order, and keeps the one of fewest cells. Where none keeps to the limits the error
// names the clique that exceeds them.
func NewTree(dom []int, sets []Set, l Limits) (*Tree, error) {
	errs := []error{checkDomain(dom)}
	for i, s := range sets {
		errs = append(errs, checkSet(fmt.Sprintf("graphical: sets[%d]", i), dom, s))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	best := grown(dom, sets)
	try := func(r rule) {
		if c := maximal(newGraph(dom, sets).eliminate(r)); l.better(dom, c, best) {
			best = c
		}
	}
	try(bySize)
	try(byGain)
	try(byFill)
	rng := rand.New(rand.NewPCG(1, 2))
	for range perturbations(len(dom)) {
		try(perturbed(rng))
	}
	if err := l.check(dom, best); err != nil {
		return nil, err
	}
	return span(dom, best, l), nil
}

// better reports whether a keeps to the limits and b does not, or else a has fewer
// cells.
func (l Limits) better(dom []int, a, b []Set) bool {
	if fits := l.check(dom, a) == nil; fits != (l.check(dom, b) == nil) {
		return fits
	}
	return totalCells(dom, a) < totalCells(dom, b)
}

func totalCells(dom []int, cliques []Set) int64 {
	total := int64(0)
	for _, c := range cliques {
		total = plus(total, cellsOf(dom, c))
	}
	return total
}

// maximal drops the cliques of an elimination that an earlier one holds.
func maximal(cliques []Set) []Set {
	var retained []Set
	for _, c := range cliques {
		if !slices.ContainsFunc(retained, c.within) {
			retained = append(retained, c)
		}
	}
	return retained
}

// Cells returns the cells of all cliques.
func (t *Tree) Cells() int64 { return totalCells(t.dom, t.Cliques()) }

// Cliques returns the sets of columns of the tree's cliques.
func (t *Tree) Cliques() []Set {
	var all []Set
	for _, n := range t.nodes {
		all = append(all, n.vars)
	}
	return all
}

// holder returns the smallest clique that holds a set; -1 if there is none.
func (t *Tree) holder(s Set) int {
	best := -1
	for i := range t.nodes {
		if s.within(t.nodes[i].vars) && (best < 0 || t.nodes[i].cells < t.nodes[best].cells) {
			best = i
		}
	}
	return best
}

// rule scores a column for elimination; the lowest goes first.
type rule func(g *graph, column int) float64

// graph links columns that some set holds together.
type graph struct {
	dom  []int
	rows [][]uint64 // bit b of row a: a and b are linked
	left []bool     // not yet eliminated
}

func newGraph(dom []int, sets []Set) *graph {
	g := &graph{dom: dom, rows: make([][]uint64, len(dom)), left: make([]bool, len(dom))}
	for c := range g.rows {
		g.rows[c], g.left[c] = make([]uint64, (len(dom)+63)/64), true
	}
	for _, s := range sets {
		g.connect(s)
	}
	return g
}

// connect links all columns of a set.
func (g *graph) connect(s Set) {
	for _, a := range s {
		for _, b := range s {
			if a != b {
				g.rows[a][b/64] |= 1 << (b % 64)
			}
		}
	}
}

// neighbours returns the columns linked to c, ascending.
func (g *graph) neighbours(c int) Set {
	var s Set
	for w, word := range g.rows[c] {
		for ; word != 0; word &= word - 1 {
			s = append(s, 64*w+bits.TrailingZeros64(word))
		}
	}
	return s
}

// eliminate takes the columns out one by one, by the rule, and returns the cliques
// that they form with their neighbours.
func (g *graph) eliminate(r rule) []Set {
	var cliques []Set
	score := make([]float64, len(g.dom))
	for c := range score {
		score[c] = r(g, c)
	}
	for range g.dom {
		c := g.lowest(score)
		near := g.neighbours(c)
		cliques = append(cliques, near.add(c))
		g.remove(c, near)
		for _, n := range near {
			score[n] = r(g, n)
		}
	}
	return cliques
}

func (g *graph) lowest(score []float64) int {
	best := -1
	for c, left := range g.left {
		if left && (best < 0 || score[c] < score[best]) {
			best = c
		}
	}
	return best
}

func (g *graph) remove(c int, near Set) {
	g.left[c] = false
	g.connect(near)
	for _, n := range near {
		g.rows[n][c/64] &^= 1 << (c % 64)
	}
}

// bySize returns the logarithm of the clique's cells.
func bySize(g *graph, c int) float64 { return g.nearSize(c) + bitmath.Log(float64(g.dom[c])) }

// byGain returns the logarithm of the clique's cells over the column's codes.
func byGain(g *graph, c int) float64 { return g.nearSize(c) }

func (g *graph) nearSize(c int) float64 {
	size := 0.0
	for w, word := range g.rows[c] {
		for ; word != 0; word &= word - 1 {
			size += bitmath.Log(float64(g.dom[64*w+bits.TrailingZeros64(word)]))
		}
	}
	return size
}

// byFill returns the links that elimination would add.
func byFill(g *graph, c int) float64 {
	near, missing := g.neighbours(c), 0
	for _, n := range near {
		for w, word := range g.rows[c] {
			missing += bits.OnesCount64(word &^ g.rows[n][w])
		}
		missing-- // n is not a neighbour of its own
	}
	return float64(missing) / 2
}

// perturbed returns bySize with noise of half a unit.
func perturbed(rng *rand.Rand) rule {
	return func(g *graph, c int) float64 { return bySize(g, c) + float64(rng.Float64()) - .5 }
}

// span makes the tree of maximal cliques: a spanning tree of greatest separators,
// from the clique of most cells. It depends on the cliques alone and not on their
// order, so that a tree that is read back draws the same rows.
func span(dom []int, cliques []Set, l Limits) *Tree {
	cliques = slices.Clone(cliques)
	slices.SortFunc(cliques, func(a, b Set) int { return slices.Compare(a, b) })
	root := 0
	for i, c := range cliques {
		if cellsOf(dom, c) > cellsOf(dom, cliques[root]) {
			root = i
		}
	}
	t := &Tree{dom: slices.Clone(dom), limits: l}
	t.place(cliques, spanning(cliques, root), root, -1)
	return t
}

// spanning lists the children of each clique in a spanning tree whose separators hold
// the most columns (Prim).
func spanning(cliques []Set, root int) [][]int {
	children := make([][]int, len(cliques))
	shared, dst := make([]int, len(cliques)), make([]int, len(cliques))
	for i := range cliques {
		shared[i], dst[i] = len(cliques[i].and(cliques[root])), root
	}
	shared[root] = -1
	for range len(cliques) - 1 {
		next := slices.Index(shared, slices.Max(shared))
		children[dst[next]] = append(children[dst[next]], next)
		shared[next] = -1
		for i := range cliques {
			if shared[i] < 0 {
				continue
			}
			if n := len(cliques[i].and(cliques[next])); n > shared[i] {
				shared[i], dst[i] = n, next
			}
		}
	}
	return children
}

// place adds clique c and those below it, depth first.
func (t *Tree) place(cliques []Set, children [][]int, c, parent int) int {
	pos := len(t.nodes)
	n := node{vars: cliques[c], axes: byDomain(t.dom, cliques[c]), cells: int(cellsOf(t.dom, cliques[c])), parent: parent,
		sepCells: 1}
	if parent >= 0 {
		shared := n.vars.and(t.nodes[parent].vars)
		n.sepVars, n.sep, n.sepCells = shared, byDomain(t.dom, shared), int(cellsOf(t.dom, shared))
		n.above, n.own = partOf(t.dom, t.nodes[parent].axes, shared), partOf(t.dom, n.axes, shared)
	}
	t.nodes = append(t.nodes, n)
	for _, child := range children[c] {
		t.nodes[pos].children = append(t.nodes[pos].children, t.place(cliques, children, child, pos))
	}
	return pos
}

// connected reports whether the cliques of every column are connected: a column in k
// cliques is in k-1 separators.
func (t *Tree) connected() bool {
	balance := make([]int, len(t.dom))
	for _, n := range t.nodes {
		for _, c := range n.vars {
			balance[c]++
		}
		for _, c := range n.sep {
			balance[c]--
		}
	}
	return !slices.ContainsFunc(balance, func(b int) bool { return b != 1 })
}
