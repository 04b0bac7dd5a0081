package graphical

import (
	"math"
	"slices"

	"weir/internal/bitmath"
	"weir/train/graphical"
)

// market is all that the selection of pairs may look at: released numbers and public
// facts. No private table can be reached from here.
type market struct {
	sizes  []int           // codes of each column
	ones   [][]float64     // counts by code of each column, in the independent model
	pairs  []graphical.Set // that may be measured
	scores []float64       // noisy half-L1 distance of each pair from that model
	weight []float64       // what the user wants of each pair
	tau    float64         // standard deviation of a score's noise
	budget float64         // squares that are left for histograms
	move   float64         // L2 sensitivity of a histogram
	limits graphical.Limits
	base   []graphical.Set // columns that the model ties together whatever is measured
}

// bargain is a pair to measure and its part of the budget.
type bargain struct {
	set  graphical.Set
	cost float64
}

const (
	orders       = 8    // greedy orders that are tried: gain over cells^(k/10)
	rounds       = 4    // of choosing pairs by the noise that the choice before gives them
	firstPairs   = 15   // pairs that the first guess shares the budget among
	mostPairs    = 5000 // candidates, by gain: a greedy tree looks at no more
	perCell      = 0.05 // of sigma: what noise costs in a cell that the model believes empty
	absoluteMean = 0.7978845608028654
)

// choose picks the pairs that are worth their noise and divides the budget among them
// (docs/marginals.md section 1, steps 5 to 7). An empty answer says that none is.
func (m *market) choose() []bargain {
	sigma := make([]float64, len(m.pairs))
	for i := range sigma {
		sigma[i] = m.move * math.Sqrt(firstPairs/m.budget)
	}
	var kept []bargain
	for range rounds {
		size, net := m.gains(sigma)
		chosen, y := m.share(m.tree(net), size)
		if len(chosen) == 0 {
			return nil
		}
		kept = kept[:0]
		whole := total(pick(y, chosen))
		for _, i := range chosen {
			kept = append(kept, bargain{m.pairs[i], m.budget * y[i] / whole})
		}
		for i := range sigma {
			sigma[i] = m.move * math.Sqrt(whole/(m.budget*y[i]))
		}
	}
	return m.held(kept)
}

// held leaves out the last pairs where one junction tree cannot hold all of them: the
// greedy tree held them in another order.
func (m *market) held(list []bargain) []bargain {
	for ; len(list) > 0; list = list[:len(list)-1] {
		sets := slices.Clone(m.base)
		for _, b := range list {
			sets = append(sets, b.set)
		}
		if _, err := graphical.NewTree(m.sizes, sets, m.limits); err == nil {
			return list
		}
	}
	return nil
}

// gains are, for each pair at its noise, how many cells noise harms, and what
// measuring it brings beyond that: the distance found, less one standard deviation of
// what was found by luck, less half of the L1 error of the measurement.
func (m *market) gains(sigma []float64) (size, net []float64) {
	size, net = make([]float64, len(m.pairs)), make([]float64, len(m.pairs))
	for i, set := range m.pairs {
		size[i] = harmed(m.ones[set[0]], m.ones[set[1]], sigma[i])
		net[i] = m.scores[i] - m.tau - float64(absoluteMean/2*sigma[i]*size[i])
	}
	return size, net
}

// harmed counts the cells of a pair by how much noise of sigma shows in them: one
// that the model believes empty takes little of it, since the fit stays positive.
func harmed(a, b []float64, sigma float64) float64 {
	n, cells := total(a), 0.0
	if n <= 0 {
		return float64(len(a) * len(b))
	}
	for _, x := range a {
		for _, y := range b {
			cells += min(1, x*y/n/sigma+perCell)
		}
	}
	return cells
}

// tree is the set of pairs of largest gain that one clique tree within the limits
// holds, of those that several greedy orders find.
func (m *market) tree(net []float64) []int {
	var best []int
	most := 0.0
	candidates := m.worth(net)
	for k := range orders {
		order := m.order(candidates, net, float64(k)/10)
		sets := make([]graphical.Set, len(order))
		for i, c := range order {
			sets[i] = m.pairs[c]
		}
		var kept []int
		gain := 0.0
		for _, at := range graphical.Grow(m.sizes, m.base, sets, m.limits) {
			kept, gain = append(kept, order[at]), gain+float64(m.weight[order[at]]*net[order[at]])
		}
		if gain > most {
			best, most = kept, gain
		}
	}
	return best
}

// worth lists the pairs with a gain, at most mostPairs of them.
func (m *market) worth(net []float64) []int {
	var list []int
	for i := range m.pairs {
		if m.weight[i]*net[i] > 0 {
			list = append(list, i)
		}
	}
	list = m.order(list, net, 0)
	return list[:min(len(list), mostPairs)]
}

// order sorts pairs by gain over a power of their cells.
func (m *market) order(list []int, net []float64, power float64) []int {
	key := make(map[int]float64, len(list))
	for _, i := range list {
		key[i] = m.weight[i] * net[i] / bitmath.Pow(m.cells(i), power)
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b int) int { return descending(key[a], key[b]) })
	return list
}

func (m *market) cells(i int) float64 {
	return float64(m.sizes[m.pairs[i][0]] * m.sizes[m.pairs[i][1]])
}

func descending(a, b float64) int {
	switch {
	case a > b:
		return -1
	case a < b:
		return 1
	}
	return 0
}

// share keeps those of the pairs of a tree for which the distance that is found is
// largest beside the noise that all kept ones then have. y[i] over their sum is a
// pair's part of the budget: with it the weighted L1 error of all is least.
func (m *market) share(tree []int, size []float64) (kept []int, y []float64) {
	y = make([]float64, len(m.pairs))
	for i := range y {
		y[i] = bitmath.Pow(max(m.weight[i], 0x1p-40)*size[i]*absoluteMean*m.move/2, 2./3)
	}
	order := slices.Clone(tree)
	slices.SortStableFunc(order, func(a, b int) int {
		return descending(m.weight[a]*m.scores[a]/y[a], m.weight[b]*m.scores[b]/y[b])
	})
	best, most, found, noise := 0, 0.0, 0.0, 0.0
	for n, i := range order {
		found, noise = found+float64(m.weight[i]*m.scores[i]), noise+y[i]
		if value := found - bitmath.Pow(noise, 1.5)/math.Sqrt(m.budget); value > most {
			best, most = n+1, value
		}
	}
	return order[:best], y
}

func pick(from []float64, places []int) []float64 {
	to := make([]float64, len(places))
	for k, i := range places {
		to[k] = from[i]
	}
	return to
}

func total(x []float64) (sum float64) {
	for _, v := range x {
		sum += v
	}
	return sum
}
