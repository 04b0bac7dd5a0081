package graphical

import (
	"math"
	"testing"

	"weir/train/graphical"
)

// stall returns a market of n columns of four codes and 10,000 rows, in which every pair
// has the given score.
func stall(n int, score, budget float64) *market {
	m := &market{tau: 10, budget: budget, move: math.Sqrt2, limits: graphical.DefaultLimits()}
	for i := range n {
		m.sizes, m.ones = append(m.sizes, 4), append(m.ones, []float64{2500, 2500, 2500, 2500})
		for j := range i {
			m.pairs, m.scores, m.weight = append(m.pairs, graphical.Set{j, i}), append(m.scores, score), append(m.weight, 1)
		}
	}
	return m
}

// TestChooseSpendsTheBudget on pairs whose distance is beyond their noise, on none
// whose is not.
func TestChooseSpendsTheBudget(t *testing.T) {
	chosen, sum := stall(5, 1000, 0.05).choose(), 0.0
	for _, b := range chosen {
		sum += b.cost
	}
	if len(chosen) != 10 || math.Abs(sum/0.05-1) > 1e-12 {
		t.Errorf("%d of 10 pairs are chosen for %g of .05", len(chosen), sum)
	}
	if chosen := stall(5, 5, 0.05).choose(); chosen != nil {
		t.Errorf("%v are chosen, of scores below their noise", chosen)
	}
	// sigma of all 10 pairs at .00005 is 632, 16 cells of which hide 4,000 rows.
	if chosen := stall(5, 1000, 0.00005).choose(); chosen != nil {
		t.Errorf("%v are chosen, of marginals that noise drowns", chosen)
	}
}

// TestCostsMakeErrorsLeast: of pairs of unequal cells the cost goes by (cells)^(2/3),
// which is where no shift of cost from one to another lessens the sum of L1 errors.
func TestCostsMakeErrorsLeast(t *testing.T) {
	m := stall(3, 1000, 0.05)
	m.sizes[2], m.ones[2] = 2, []float64{5000, 5000}
	chosen := m.choose()
	if len(chosen) != 3 {
		t.Fatalf("%d of 3 pairs are chosen", len(chosen))
	}
	eval := func(shift float64) (sum float64) {
		for i, b := range chosen {
			cost := b.cost + shift*[]float64{1, -0.5, -0.5}[i]
			sum += harmed(m.ones[b.set[0]], m.ones[b.set[1]], 30) * m.move / math.Sqrt(cost)
		}
		return sum
	}
	if least := eval(0); eval(1e-4) < least || eval(-1e-4) < least {
		t.Errorf("the error is %.9g, shifted %.9g and %.9g", least, eval(1e-4), eval(-1e-4))
	}
}

// TestWeights: of two equal pairs that one model cannot both hold the heavier is kept,
// and weight 0 is out.
func TestWeights(t *testing.T) {
	m := stall(3, 1000, 0.05)
	m.limits = graphical.Limits{Clique: 16, Total: 20} // one pair of 16 cells beside a column of four
	for heavy := range m.pairs {
		m.weight = []float64{1, 1, 1}
		m.weight[heavy] = 1.5
		if chosen := m.choose(); len(chosen) != 1 || chosen[0].set[0] != m.pairs[heavy][0] ||
			chosen[0].set[1] != m.pairs[heavy][1] {
			t.Errorf("%v is chosen, must be %v", chosen, m.pairs[heavy])
		}
	}
	m = stall(3, 1000, 0.05)
	m.weight[1] = 0
	if chosen := m.choose(); len(chosen) != 2 {
		t.Errorf("%v are chosen, one of no weight", chosen)
	}
}

// TestLimitsHold: whatever is chosen, one junction tree within the limits holds it.
func TestLimitsHold(t *testing.T) {
	m := stall(12, 1000, 0.5)
	m.limits = graphical.Limits{Clique: 256, Total: 3000}
	chosen := m.choose()
	var sets []graphical.Set
	for _, b := range chosen {
		sets = append(sets, b.set)
	}
	if tree, err := graphical.NewTree(m.sizes, sets, m.limits); err != nil || len(sets) < 12 {
		t.Errorf("%d pairs: %v, %v", len(sets), tree, err)
	}
}

// TestRareCategories: those below three standard deviations share a code, one alone
// keeps its own, at most 63 have one, and every cell has exactly one place.
func TestRareCategories(t *testing.T) {
	for what, c := range map[string]struct {
		y     []float64
		codes int
	}{
		"two rare": {[]float64{100, 2, 50, -4}, 3}, "one rare": {[]float64{100, 2, 50, 40}, 4},
		"all rare": {[]float64{1, 2, -5}, 1},
		"many":     {repeated(1000, 200), 64}, "as many as fit": {repeated(1000, 64), 64}, "one": {[]float64{-3}, 1},
	} {
		column := ofCategories(noisy{c.y, 4})
		dst := column.codeOf()
		if column.codes() != c.codes || len(dst) != len(c.y) {
			t.Errorf("%s: %d codes of %d cells, must be %d", what, column.codes(), len(dst), c.codes)
		}
		for place, cell := range column.Order {
			if dst[cell] != uint16(min(place, c.codes-1)) {
				t.Errorf("%s: cell %d has code %d", what, cell, dst[cell])
			}
		}
	}
}
