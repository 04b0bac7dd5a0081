package graphical

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
)

// measured is a table of a model with noise of the given sd.
func measured(t testing.TB, m *Model, vars Set, sd float64, rng *rand.Rand) Table {
	t.Helper()
	y, err := m.Marginal(vars)
	if err != nil {
		t.Fatal(err)
	}
	x := Table{Vars: vars, Y: y, Var: make([]float64, len(y))}
	for i := range y {
		y[i] += sd * rng.NormFloat64()
		x.Var[i] = max(sd*sd, 1)
	}
	return x
}

// TestFitWithoutNoise: from exact tables 30 sweeps find what iterative scaling finds
// in 3000 rounds, the worst cell of a clique within .01 rows of 10,000.
func TestFitWithoutNoise(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 5 {
		dom := []int{4, 3, 5, 2, 4}
		truth := build(t, dom, 10000, []Factor{randomFactor(rng, dom, Set{0, 1, 2, 3, 4}, .5)}, nil)
		var tables []Table
		var sets []Set
		for _, s := range []Set{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {0, 4}, {1, 3}} {
			tables, sets = append(tables, measured(t, truth, s, 0, rng)), append(sets, s)
		}
		tree, err := NewTree(dom, sets, DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		m, _, err := Fit(context.Background(), tree, 10000, tables, nil, Options{Sweeps: 30, Stop: 1e-12})
		if err != nil {
			t.Fatal(err)
		}
		want := scaling(dom, 10000, tables, 3000)
		for _, c := range tree.Cliques() {
			got, err := m.Marginal(c)
			if err != nil {
				t.Fatal(err)
			}
			if d := worst(t, got, want.marginal(c)); d > .01 {
				t.Errorf("clique %v is off by %g rows", c, d)
			}
		}
	}
}

// scaling is iterative proportional fitting over all rows of the domain.
func scaling(dom []int, total float64, tables []Table, rounds int) *brute {
	b := enumerate(dom, nil, nil)
	for i := range b.prob {
		b.prob[i] *= total
	}
	for range rounds {
		for _, x := range tables {
			now := b.marginal(x.Vars)
			for i, r := range b.rows {
				at := place(dom, x.Vars, r)
				if now[at] > 0 {
					b.prob[i] *= x.Y[at] / now[at]
				}
			}
		}
	}
	return b
}

// TestStop: the default fit stops where the noise explains what is left, before one
// that goes on.
func TestStop(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	dom := []int{6, 5, 7, 4}
	truth := build(t, dom, 5000, []Factor{randomFactor(rng, dom, Set{0, 1, 2, 3}, .3)}, nil)
	sets := []Set{{0, 1}, {1, 2}, {2, 3}, {0}, {3}}
	tables := make([]Table, len(sets))
	for i, s := range sets {
		tables[i] = measured(t, truth, s, 8, rng)
	}
	tree, err := NewTree(dom, sets, DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	_, r, err := Fit(context.Background(), tree, 5000, tables, nil, Options{})
	if err != nil || r.Loss > r.Target || r.Sweeps >= 60 || r.Cells != 103 || math.Abs(r.Target-.45*98) > 1e-9 {
		t.Errorf("the fit ends with %+v, %v", r, err)
	}
}
