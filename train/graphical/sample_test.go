package graphical

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// loop returns a model of five columns with a loop and a mask.
func loop(t testing.TB, total float64) *Model {
	rng := rand.New(rand.NewPCG(21, 22))
	dom := []int{3, 4, 2, 5, 3}
	var factors []Factor
	for i := range dom {
		factors = append(factors, randomFactor(rng, dom, Set{i}.add((i+1)%5), 1))
	}
	mask := Mask{Vars: Set{1, 3}, Forbidden: make([]bool, 20)}
	for i := range mask.Forbidden {
		mask.Forbidden[i] = i%3 == 1
	}
	return build(t, dom, total, factors, []Mask{mask})
}

// tally counts rows of a table over vars.
func tally(m *Model, columns [][]uint16, vars Set) []float64 {
	counts := make([]float64, cellsOf(m.tree.dom, vars))
	for i := range columns[0] {
		pos := 0
		for _, c := range vars {
			pos = pos*m.tree.dom[c] + int(columns[c][i])
		}
		counts[pos]++
	}
	return counts
}

// TestSampleRoundsByGroup: in every clique, among the rows of one cell of its
// separator, each cell has its expected number rounded down or up. Independent draws
// are further off.
func TestSampleRoundsByGroup(t *testing.T) {
	m := loop(t, 1)
	for _, rows := range []int{1, 20, 1000, 300_000} {
		columns := m.Sample(rows, false, rand.New(rand.NewPCG(1, uint64(rows))))
		if d := furthest(m, columns); d >= 1+1e-6 {
			t.Errorf("%d rows: a cell is %g from its expectation in its group", rows, d)
		}
	}
	rng := rand.New(rand.NewPCG(1, 1))
	one := make([][]uint16, 5)
	for range 1000 {
		for c, column := range m.Sample(1, false, rng) {
			one[c] = append(one[c], column...)
		}
	}
	if d := furthest(m, one); d < 3 {
		t.Errorf("1000 independent rows are %g off at most: the test sees nothing", d)
	}
}

// furthest returns the most that a cell of a clique differs from the number of rows of its
// group times its probability there.
func furthest(m *Model, columns [][]uint16) float64 {
	most := 0.0
	for i, n := range m.tree.nodes {
		got, groups := tally(m, columns, n.vars), tally(m, columns, n.sepVars)
		cells, row := outward(m.tree.dom, n.vars, m.beliefs[i]), make([]uint16, len(m.tree.dom))
		sep := outward(m.tree.dom, n.sepVars, m.seps[i])
		for k, x := range cells {
			rest := k
			for _, c := range slices.Backward(n.vars) {
				row[c], rest = uint16(rest%m.tree.dom[c]), rest/m.tree.dom[c]
			}
			if g := place(m.tree.dom, n.sepVars, row); sep[g] > 0 {
				most = max(most, math.Abs(got[k]-groups[g]*x/sep[g]))
			}
		}
	}
	return most
}

// TestSampleMean: the mean of 1,000 samples of 50 rows is the model, in every pair of
// columns. A cell is at most 6.5 standard errors of independent draws off: of some 100
// cells, one passes by chance in 10^8 runs. Rounding only makes the errors smaller.
func TestSampleMean(t *testing.T) {
	m, rng := loop(t, 1), rand.New(rand.NewPCG(4, 4))
	const samples, rows = 1000, 50
	all := make([][]uint16, 5)
	for range samples {
		for c, column := range m.Sample(rows, false, rng) {
			all[c] = append(all[c], column...)
		}
	}
	for b := range 5 {
		for a := range b {
			want, err := m.Marginal(Set{a, b})
			if err != nil {
				t.Fatal(err)
			}
			if z := zOf(tally(m, all, Set{a, b}), want, samples*rows); z > 6.5 {
				t.Errorf("columns %d and %d: a cell is %.1f standard errors off", a, b, z)
			}
			slices.Reverse(want)
			if z := zOf(tally(m, all, Set{a, b}), want, samples*rows); z < 20 {
				t.Errorf("columns %d and %d: a wrong model is %.1f standard errors off: the test sees nothing", a, b, z)
			}
		}
	}
}

func zOf(counts, p []float64, n float64) float64 {
	z := 0.0
	for i, c := range counts {
		z = max(z, math.Abs(c-n*p[i])/math.Sqrt(n*p[i]*(1-p[i])+1e-9))
	}
	return z
}

// TestSampleIndependentRows: given its group, the order of a column's codes says
// nothing: neighbouring rows of a large sample agree as often as chance has it. The
// standard error is the standard error of a million draws; 6 of them pass by chance in 10^9 runs.
func TestSampleIndependentRows(t *testing.T) {
	m, rows := loop(t, 1), 1_000_000
	columns := m.Sample(rows, false, rand.New(rand.NewPCG(9, 9)))
	for c, column := range columns {
		p, err := m.Marginal(Set{c})
		if err != nil {
			t.Fatal(err)
		}
		want, same := 0.0, 0.0
		for _, x := range p {
			want += x * x
		}
		for i := 1; i < rows; i++ {
			if column[i] == column[i-1] {
				same++
			}
		}
		if z := math.Abs(same/float64(rows)-want) / math.Sqrt(want*(1-want)/float64(rows)); z > 6 {
			t.Errorf("column %d: neighbours agree %g of the time, must agree %g (%.1f standard errors)", c, same/float64(rows),
				want, z)
		}
	}
}

// TestIndependentRows: of two rows of a column with the law 1/2, 1/4, 1/4 the first that is not
// in the last cell is in the first with probability 2/3, and both are with 1/4; binomial tests of
// 20,000 samples, two at 2.5e-7 a side: a false alarm in 1e6 runs. Rounded rows, of which one
// always is in the first cell, have 3/4 and 0.
func TestIndependentRows(t *testing.T) {
	m, rng := build(t, []int{3}, 1, []Factor{{Vars: Set{0}, Log: []float64{math.Log(2), 0, 0}}}, nil),
		rand.New(rand.NewPCG(6, 6))
	for _, independent := range []bool{true, false} {
		count, first, both := 0, 0, 0
		for range 20000 {
			x := m.Sample(2, independent, rng)[0]
			if x[0] == 0 && x[1] == 0 {
				both++
			}
			if at := slices.IndexFunc(x, func(code uint16) bool { return code < 2 }); at >= 0 {
				count++
				if x[at] == 0 {
					first++
				}
			}
		}
		off := math.Abs(float64(first)-float64(count)*2/3) / math.Sqrt(float64(count)*2/9)
		offBoth := math.Abs(float64(both)-5000) / math.Sqrt(20000.*3/16)
		if right := off < 5.1 && offBoth < 5.1; right != independent {
			t.Errorf("independent: %v; first of those kept %d of %d, both %d of 20000: %.1f and %.1f deviations", independent,
				first, count, both, off, offBoth)
		}
	}
}

// TestIndependentRowsMean: independent rows have the model's law in every pair of columns, and none
// is in a cell that is masked. 6.5 standard errors: one run in 10^8 for some 100 cells.
func TestIndependentRowsMean(t *testing.T) {
	m := loop(t, 1)
	columns := m.Sample(50_000, true, rand.New(rand.NewPCG(4, 5)))
	for b := range 5 {
		for a := range b {
			want, err := m.Marginal(Set{a, b})
			if err != nil {
				t.Fatal(err)
			}
			got := tally(m, columns, Set{a, b})
			for i, p := range want {
				if p == 0 && got[i] > 0 {
					t.Errorf("columns %d and %d: %g rows in cell %d, which is masked", a, b, got[i], i)
				}
			}
			if z := zOf(got, want, 50_000); z > 6.5 {
				t.Errorf("columns %d and %d: a cell is %.1f standard errors off", a, b, z)
			}
			slices.Reverse(want)
			if z := zOf(got, want, 50_000); z < 20 {
				t.Errorf("columns %d and %d: a wrong model is %.1f standard errors off: the test sees nothing", a, b, z)
			}
		}
	}
}

// TestMasksHold: 0 of 10^6 rows are forbidden, whatever the tables say of the cells.
func TestMasksHold(t *testing.T) {
	m := loop(t, 1000)
	mask := m.masks[0]
	tables := []Table{{Vars: Set{1, 3}, Y: make([]float64, 20), Var: make([]float64, 20)},
		{Vars: Set{0, 1}, Y: make([]float64, 12), Var: make([]float64, 12)}}
	for _, x := range tables {
		for i := range x.Y {
			x.Y[i], x.Var[i] = 50, 9
		}
	}
	tree, err := NewTree(m.Domain(), []Set{{1, 3}, {0, 1}, {0, 2, 4}}, DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	fitted, _, err := Fit(context.Background(), tree, 1000, tables, m.masks, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, m := range map[string]*Model{"stored": m, "fitted": fitted} {
		counts := tally(m, m.Sample(1_000_000, false, rand.New(rand.NewPCG(2, 2))), mask.Vars)
		for i, no := range mask.Forbidden {
			if no && counts[i] > 0 || !no && counts[i] == 0 {
				t.Errorf("%s: cell %d (forbidden: %v) has %g rows", name, i, no, counts[i])
			}
		}
	}
}
