package projection

import "math"

// Transport is the exact Wasserstein-1 distance of two lists of as many points:
// the mean Euclidean cost of the best assignment. Points of a are assigned one after the other,
// each along a shortest path on which those before it change places (Jonker, Volgenant
// 1987, without their first phases), in n^3 steps. NaN for none, and where a
// distance is not finite.
func Transport(a, b [][]float64) float64 {
	n, cost := len(a), costs(a, b)
	if n == 0 || !finite(cost) {
		return math.NaN()
	}
	s := &assignment{cost: cost, price: make([]float64, n), place: make([]int, n), holder: make([]int, n)}
	for j := range s.holder {
		s.holder[j] = nobody
	}
	for i := range a {
		s.assign(i)
	}
	total := 0.0
	for j, i := range s.holder {
		total += s.cost[i][j]
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

func finite(cost [][]float64) bool {
	for _, row := range cost {
		for _, c := range row {
			if !(c <= math.MaxFloat64) {
				return false
			}
		}
	}
	return true
}

// assignment gives places, points of b, to points of a. The price of a place is such that no
// holder finds another place cheaper, cost less price, than its own.
type assignment struct {
	cost   [][]float64
	price  []float64
	place  []int // of each point that has one
	holder []int // of each place, or nobody
}

const nobody = -1

// paths are the shortest ones from a point to the places: by whom each is reached, how
// long it is, and whether that is final.
type paths struct {
	length []float64
	by     []int
	final  []bool
}

// assign finds a place for point i, and other places for those that make room.
func (s *assignment) assign(i int) {
	p := paths{make([]float64, len(s.price)), make([]int, len(s.price)), make([]bool, len(s.price))}
	for j := range p.length {
		p.length[j] = math.Inf(1)
	}
	p.reach(s, i, 0)
	at := p.nearest()
	for ; s.holder[at] != nobody; at = p.nearest() {
		p.final[at] = true
		k := s.holder[at]
		p.reach(s, k, p.length[at]-(s.cost[k][at]-s.price[at]))
	}
	for j, final := range p.final {
		if final {
			s.price[j] += p.length[j] - p.length[at]
		}
	}
	for mover := nobody; mover != i; {
		mover = p.by[at]
		s.holder[at], s.place[mover], at = mover, at, s.place[mover]
	}
}

// reach shortens paths by those over point i, whose ways to places begin at a length.
func (p *paths) reach(s *assignment, i int, begin float64) {
	for j, c := range s.cost[i] {
		if to := begin + (c - s.price[j]); !p.final[j] && to < p.length[j] {
			p.length[j], p.by[j] = to, i
		}
	}
}

// nearest is the place of the shortest path that is not final.
func (p *paths) nearest() int {
	at := nobody
	for j, length := range p.length {
		if !p.final[j] && (at == nobody || length < p.length[at]) {
			at = j
		}
	}
	return at
}
