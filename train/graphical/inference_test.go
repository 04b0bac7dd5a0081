package graphical

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestAgainstEnumeration: log Z, all marginals of up to three columns and log
// probabilities of 50 random models of at most 2,000 rows of the domain, loops
// included, are as the sum over all rows gives them. Two models of three have masks.
func TestAgainstEnumeration(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	for model := range 50 {
		dom := randomDomain(rng)
		var factors []Factor
		for range 1 + rng.IntN(7) {
			factors = append(factors, randomFactor(rng, dom, randomSet(rng, len(dom), 3), 1.5))
		}
		if len(dom) > 3 { // a loop
			for i := range 4 {
				factors = append(factors, randomFactor(rng, dom, Set{i}.add((i+1)%4), 1.5))
			}
		}
		var masks []Mask
		if model%3 > 0 {
			masks = append(masks, randomMask(rng, dom))
		}
		agree(t, dom, factors, masks, rng)
	}
}

func randomDomain(rng *rand.Rand) []int {
	for {
		dom := make([]int, 2+rng.IntN(6))
		cells := 1
		for i := range dom {
			dom[i] = 1 + rng.IntN(5)
			cells *= dom[i]
		}
		if cells <= 2000 {
			return dom
		}
	}
}

// randomMask forbids cells, of which the first stays allowed.
func randomMask(rng *rand.Rand, dom []int) Mask {
	m := Mask{Vars: randomSet(rng, len(dom), 3)}
	m.Forbidden = make([]bool, cellsOf(dom, m.Vars))
	for i := range m.Forbidden {
		m.Forbidden[i] = i > 0 && rng.IntN(3) == 0
	}
	return m
}

func agree(t *testing.T, dom []int, factors []Factor, masks []Mask, rng *rand.Rand) {
	t.Helper()
	const total = 1000
	m, b := build(t, dom, total, factors, masks), enumerate(dom, factors, masks)
	if d := math.Abs(m.LogPartition() - b.logZ); d > 1e-9 {
		t.Errorf("domain %v: log partition is %g, must be %g", dom, m.LogPartition(), b.logZ)
	}
	for range 30 {
		vars := randomSet(rng, len(dom), 3)
		got, err := m.Marginal(vars)
		if err != nil {
			t.Fatal(err)
		}
		want := b.marginal(vars)
		for i := range want {
			want[i] *= total
		}
		if d := worst(t, got, want); d > 1e-9*total {
			t.Errorf("domain %v, cliques %v: marginal of %v is off by %g rows", dom, m.Cliques(), vars, d)
		}
	}
	for i, r := range b.rows {
		if got, want := m.LogProb(r), math.Log(b.prob[i]); math.Abs(got-want) > 1e-9 && got != want {
			t.Fatalf("domain %v: log probability of %v is %g, must be %g", dom, r, got, want)
		}
	}
}

// TestDegenerate: one column, one category, negative measurements, none, tiny and huge
// noise: the model is a distribution of the total, and rows can be drawn.
func TestDegenerate(t *testing.T) {
	inf := math.Inf(1)
	for name, c := range map[string]struct {
		dom    []int
		total  float64
		tables []Table
	}{
		"one column":   {[]int{3}, 20, []Table{{Set{0}, []float64{5, 5, 10}, []float64{1, 1, 1}}}},
		"one category": {[]int{1, 1}, 20, []Table{{Set{0, 1}, []float64{25}, []float64{4}}}},
		"all negative": {[]int{2, 2}, 20, []Table{{Set{0, 1}, []float64{-5, -900, -4, -1}, []float64{9, 9, 9, 9}},
			{Set{0}, []float64{-3, -1}, []float64{9, 9}}}},
		"not measured": {[]int{2, 3}, 20, []Table{{Set{0, 1}, make([]float64, 6), []float64{inf, inf, inf, inf, inf, inf}}}},
		"some cells":   {[]int{3}, 20, []Table{{Set{0}, []float64{4, math.NaN(), 6}, []float64{1, inf, 1}}}},
		"none":         {[]int{2, 3}, 20, nil},
		"huge noise": {[]int{2, 2}, 20, []Table{{Set{0, 1}, []float64{1e9, -1e9, 3e9, 1}, []float64{1e18, 1e18, 1e18,
			1e18}}}},
		"tiny noise": {[]int{2, 2}, 1e9, []Table{{Set{0, 1}, []float64{1e9, 0, 0, 0}, []float64{1e-9, 1e-9, 1e-9, 1e-9}}}},
		"one row":    {[]int{2, 2}, 1, []Table{{Set{0, 1}, []float64{1, 0, 0, 0}, []float64{1, 1, 1, 1}}}},
		"mixed noise": {[]int{2, 2}, 100, []Table{{Set{0}, []float64{80, 20}, []float64{1e-6, 1e-6}},
			{Set{0, 1}, []float64{-1e6, 1e6, 5, 3}, []float64{1e12, 1e12, 1, 1}}}},
		"endless noise": {[]int{2, 2}, 100, []Table{{Set{0}, []float64{80, 20}, []float64{4, 4}},
			{Set{0, 1}, []float64{-1e6, 1e6, 5, 3}, []float64{1e300, 1e300, 1e300, 1e300}}}},
	} {
		for _, stop := range []float64{0, -1, 1e-9} {
			sound(t, name, c.dom, c.total, c.tables, Options{Stop: stop, Sweeps: 300})
		}
	}
}

func sound(t *testing.T, name string, dom []int, total float64, tables []Table, o Options) {
	t.Helper()
	var sets []Set
	for _, x := range tables {
		sets = append(sets, x.Vars)
	}
	tree, err := NewTree(dom, sets, DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	m, r, err := Fit(context.Background(), tree, total, tables, nil, o)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for c := range dom {
		counts, err := m.Marginal(Set{c})
		sum := 0.0
		for _, x := range counts {
			sum += x
		}
		if err != nil || !(math.Abs(sum-total) <= 1e-9*total) || slices.Min(counts) < 0 || math.IsNaN(r.Loss) {
			t.Errorf("%s, stop %g: column %d has counts %v (%+v), must sum to %g", name, o.Stop, c, counts, r, total)
		}
	}
	if rows := m.Sample(20, false, rand.New(rand.NewPCG(1, 1))); len(rows) != len(dom) || len(rows[0]) != 20 {
		t.Errorf("%s: %d columns are drawn", name, len(rows))
	}
	if rows := m.Sample(0, false, rand.New(rand.NewPCG(1, 1))); len(rows[0]) != 0 {
		t.Errorf("%s: rows are drawn where none are asked for", name)
	}
}

// TestWorkers: one worker and five give the same bits, on cliques large enough to be
// shared.
func TestWorkers(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	dom := []int{60, 70, 80, 4}
	var tables []Table
	sets := []Set{{0, 1}, {1, 2}, {0, 2}, {2, 3}}
	for _, s := range sets {
		x := Table{Vars: s, Y: make([]float64, cellsOf(dom, s)), Var: make([]float64, cellsOf(dom, s))}
		for i := range x.Y {
			x.Y[i], x.Var[i] = 5*rng.Float64(), 4
		}
		tables = append(tables, x)
	}
	tree, err := NewTree(dom, sets, DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	var models []*Model
	for _, workers := range []int{1, 5} {
		m, _, err := Fit(context.Background(), tree, 10000, tables, nil, Options{Workers: workers, Sweeps: 3})
		if err != nil {
			t.Fatal(err)
		}
		models = append(models, m)
	}
	for i, b := range models[0].beliefs {
		if !slices.Equal(b, models[1].beliefs[i]) {
			t.Errorf("clique %v depends on the number of workers", tree.nodes[i].vars)
		}
	}
}

// TestFitEnds: a fit ends with its context.
func TestFitEnds(t *testing.T) {
	tree, err := NewTree([]int{2}, nil, DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	tables := []Table{{Set{0}, []float64{1, 9}, []float64{1, 1}}}
	for _, stop := range []float64{0, -1} {
		if _, _, err := Fit(ctx, tree, 10, tables, nil, Options{Stop: stop}); err == nil {
			t.Error("a fit goes on after its context ended")
		}
	}
}
