package graphical

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
)

// measured returns a table of a model with noise of the given sd.
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

// scaling returns iterative proportional fitting over all rows of the domain.
func scaling(dom []int, total float64, tables []Table, rounds int) *brute {
	b := enumerate(dom, nil, nil)
	for i := range b.prob {
		b.prob[i] *= total
	}
	for range rounds {
		for _, x := range tables {
			current := b.marginal(x.Vars)
			for i, r := range b.rows {
				at := place(dom, x.Vars, r)
				if current[at] > 0 {
					b.prob[i] *= x.Y[at] / current[at]
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

// adult returns a domain as Adult has in bins of MARGINALS section 1, and tables of
// pairs in a tree of at most the given cells, all of it made up.
func adult(b testing.TB, cells int64) (*Tree, []Table) {
	dom := []int{16, 9, 16, 7, 15, 6, 5, 2, 12, 12, 16, 42, 2}
	return wide(b, dom, Limits{Clique: 1e6, Total: cells})
}

// wide returns a tree of pairs in random order within limits, and noisy tables.
func wide(b testing.TB, dom []int, l Limits) (*Tree, []Table) {
	rng := rand.New(rand.NewPCG(11, 12))
	var pairs, sets []Set
	for j := range dom {
		sets = append(sets, Set{j})
		for i := range j {
			pairs = append(pairs, Set{i, j})
		}
	}
	rng.Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
	for _, k := range Grow(dom, nil, pairs, l) {
		sets = append(sets, pairs[k])
	}
	tree, err := NewTree(dom, sets, l)
	if err != nil {
		b.Fatal(err)
	}
	rows := madeUp(b, dom, rng)
	tables := make([]Table, len(sets))
	for i, s := range sets {
		tables[i] = counted(dom, s, rows, 20, rng)
	}
	return tree, tables
}

// madeUp returns 32,561 rows of skewed columns that go together as a random tree of pairs.
func madeUp(b testing.TB, dom []int, rng *rand.Rand) [][]uint16 {
	var factors []Factor
	for c := range dom {
		s := Set{c}
		if c > 0 {
			s = s.add(rng.IntN(c))
		}
		f := randomFactor(rng, dom, s, 1)
		for i := range f.Log {
			f.Log[i] -= 3 * float64(i) / float64(len(f.Log))
		}
		factors = append(factors, f)
	}
	return build(b, dom, 1, factors, nil).Sample(32_561, false, rng)
}

// counted returns the table of rows with noise.
func counted(dom []int, s Set, rows [][]uint16, sd float64, rng *rand.Rand) Table {
	x := Table{Vars: s, Y: make([]float64, cellsOf(dom, s)), Var: make([]float64, cellsOf(dom, s))}
	for i := range rows[0] {
		pos := 0
		for _, c := range s {
			pos = pos*dom[c] + int(rows[c][i])
		}
		x.Y[pos]++
	}
	for i := range x.Y {
		x.Y[i] += sd * rng.NormFloat64()
		x.Var[i] = sd * sd
	}
	return x
}

func perCell(b *testing.B, cells int64, times int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(cells)/float64(times), "ns/cell")
}

// BenchmarkSweep is the time of a sweep by the cells of the tree.
func BenchmarkSweep(b *testing.B) {
	for _, cells := range []int64{50_000, 200_000, 400_000, 4_000_000} {
		tree, tables := adult(b, cells)
		b.Run(size(tree), func(b *testing.B) {
			m, err := newModel(tree, 32561, nil, nil)
			if err != nil {
				b.Fatal(err)
			}
			f := newFitting(m, tables, Options{Workers: 1})
			for b.Loop() {
				f.visit(0)
			}
			perCell(b, tree.Cells(), 1)
		})
	}
}

// BenchmarkFit is a whole fit to made-up tables.
func BenchmarkFit(b *testing.B) {
	for _, cells := range []int64{200_000, 400_000} {
		tree, tables := adult(b, cells)
		b.Run(size(tree), func(b *testing.B) {
			sweeps, loss := 0, 0.0
			for b.Loop() {
				_, r, err := Fit(context.Background(), tree, 32561, tables, nil, Options{Workers: 1})
				if err != nil {
					b.Fatal(err)
				}
				sweeps, loss = r.Sweeps, r.Loss/float64(r.Cells)*2
			}
			b.ReportMetric(float64(sweeps), "sweeps")
			b.ReportMetric(loss, "loss/cell")
		})
	}
}

func size(t *Tree) string {
	n := t.Cells()
	return string(rune('0'+n/1e6)) + "." + string(rune('0'+n/1e5%10)) + string(rune('0'+n/1e4%10)) + "Mcells"
}

// BenchmarkCalibrate makes a model of stored potentials.
func BenchmarkCalibrate(b *testing.B) {
	tree, tables := adult(b, 400_000)
	m, _, err := Fit(context.Background(), tree, 32561, tables, nil, Options{Sweeps: 2})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := newModel(tree, m.total, m.factors, nil); err != nil {
			b.Fatal(err)
		}
	}
	perCell(b, tree.Cells(), 1)
}

// BenchmarkSample is the time of a row of 13 columns, few rows and many.
func BenchmarkSample(b *testing.B) {
	tree, tables := adult(b, 200_000)
	m, _, err := Fit(context.Background(), tree, 32561, tables, nil, Options{Sweeps: 10})
	if err != nil {
		b.Fatal(err)
	}
	for _, rows := range []int{32_561, 1_000_000, 10_000_000} {
		b.Run(size(tree)+"/"+map[int]string{32_561: "adult", 1_000_000: "1M", 10_000_000: "10M"}[rows], func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 1))
			for b.Loop() {
				m.Sample(rows, false, rng)
			}
			perCell(b, int64(rows), 1)
		})
	}
}

// BenchmarkGrow takes 5,000 pairs of 179 columns into a tree.
func BenchmarkGrow(b *testing.B) {
	dom, rng := make([]int, 179), rand.New(rand.NewPCG(1, 1))
	for c := range dom {
		dom[c] = 8
	}
	var pairs []Set
	for range 5000 {
		i, j := rng.IntN(179), rng.IntN(178)
		if j >= i {
			j++
		}
		pairs = append(pairs, Set{i}.add(j))
	}
	for b.Loop() {
		Grow(dom, nil, pairs, DefaultLimits())
	}
}
