package projection

import "math"

// Transport is the exact Wasserstein-1 distance of two lists of as many points:
// the mean Euclidean cost of the best assignment, by the Hungarian method with
// shortest augmenting paths (Jonker, Volgenant 1987), in n^3 steps. NaN for none.
func Transport(a, b [][]float64) float64 {
	n := len(a)
	if n == 0 {
		return math.NaN()
	}
	h := &assignment{cost: costs(a, b), u: make([]float64, n+1), v: make([]float64, n+1), row: make([]int, n+1), way: make([]int, n+1)}
	for i := 1; i <= n; i++ {
		h.augment(i)
	}
	total := 0.0
	for j := 1; j <= n; j++ {
		total += h.cost[h.row[j]-1][j-1]
	}
	return total / float64(n)
}

func costs(a, b [][]float64) [][]float64 {
	c := make([][]float64, len(a))
	for i, p := range a {
		c[i] = make([]float64, len(b))
		for j, q := range b {
			s := 0.0
			for k, v := range p {
				s += float64((v - q[k]) * (v - q[k]))
			}
			c[i][j] = math.Sqrt(s)
		}
	}
	return c
}

// assignment holds potentials u, v and the row assigned to each column; places
// count from 1, and column 0 is the free one.
type assignment struct {
	cost     [][]float64
	u, v     []float64
	row, way []int
}

// augment assigns row i along a shortest path.
func (h *assignment) augment(i int) {
	n := len(h.cost)
	least, used := make([]float64, n+1), make([]bool, n+1)
	for j := range least {
		least[j] = math.Inf(1)
	}
	h.row[0] = i
	at := 0
	for h.row[at] != 0 {
		used[at] = true
		at = h.relax(at, least, used)
	}
	for at != 0 {
		h.row[at] = h.row[h.way[at]]
		at = h.way[at]
	}
}

// relax extends the tree from column `at` and returns the nearest free column.
func (h *assignment) relax(at int, least []float64, used []bool) int {
	i, next, delta := h.row[at], 0, math.Inf(1)
	for j := 1; j < len(least); j++ {
		if used[j] {
			continue
		}
		if c := h.cost[i-1][j-1] - h.u[i] - h.v[j]; c < least[j] {
			least[j], h.way[j] = c, at
		}
		if least[j] < delta {
			delta, next = least[j], j
		}
	}
	for j := range least {
		if used[j] {
			h.u[h.row[j]] += delta
			h.v[j] -= delta
		} else {
			least[j] -= delta
		}
	}
	return next
}
