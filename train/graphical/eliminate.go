package graphical

import (
	"math/bits"
	"math/rand/v2"

	"weir/internal/bitmath"
)

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

// neighbours are the columns linked to c, ascending.
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
		cliques = append(cliques, near.with(c))
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

// bySize is the logarithm of the clique's cells.
func bySize(g *graph, c int) float64 { return g.nearSize(c) + bitmath.Log(float64(g.dom[c])) }

// byGain is the logarithm of the clique's cells over the column's codes.
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

// byFill is the links that elimination would add.
func byFill(g *graph, c int) float64 {
	near, missing := g.neighbours(c), 0
	for _, n := range near {
		for w, word := range g.rows[c] {
			missing += bits.OnesCount64(word &^ g.rows[n][w])
		}
		missing-- // n is no neighbour of its own
	}
	return float64(missing) / 2
}

// perturbed is bySize with noise of half a unit.
func perturbed(rng *rand.Rand) rule {
	return func(g *graph, c int) float64 { return bySize(g, c) + float64(rng.Float64()) - .5 }
}
