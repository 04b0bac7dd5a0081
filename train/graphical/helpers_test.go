package graphical

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// brute is the distribution of a small model by enumeration of all rows.
type brute struct {
	dom  []int
	rows [][]uint16
	prob []float64
	logZ float64
}

func enumerate(dom []int, factors []Factor, masks []Mask) *brute {
	b := &brute{dom: dom, rows: [][]uint16{{}}}
	for _, n := range dom {
		var next [][]uint16
		for _, r := range b.rows {
			for code := range n {
				next = append(next, append(slices.Clone(r), uint16(code)))
			}
		}
		b.rows = next
	}
	b.prob = make([]float64, len(b.rows))
	sum := 0.0
	for i, r := range b.rows {
		log := 0.0
		for _, f := range factors {
			log += f.Log[place(dom, f.Vars, r)]
		}
		for _, m := range masks {
			if m.Forbidden[place(dom, m.Vars, r)] {
				log = math.Inf(-1)
			}
		}
		b.prob[i] = math.Exp(log)
		sum += b.prob[i]
	}
	b.logZ = math.Log(sum)
	for i := range b.prob {
		b.prob[i] /= sum
	}
	return b
}

func (b *brute) marginal(vars Set) []float64 {
	out := make([]float64, cellsOf(b.dom, vars))
	for i, r := range b.rows {
		out[place(b.dom, vars, r)] += b.prob[i]
	}
	return out
}

// randomSet is up to most columns of so many.
func randomSet(rng *rand.Rand, columns, most int) Set {
	s := Set(rng.Perm(columns)[:1+rng.IntN(min(most, columns))])
	slices.Sort(s)
	return s
}

func randomFactor(rng *rand.Rand, dom []int, vars Set, spread float64) Factor {
	f := Factor{Vars: vars, Log: make([]float64, cellsOf(dom, vars))}
	for i := range f.Log {
		f.Log[i] = spread * rng.NormFloat64()
	}
	return f
}

// build makes the model of factors and masks on a tree of their sets.
func build(t testing.TB, dom []int, total float64, factors []Factor, masks []Mask) *Model {
	t.Helper()
	var sets []Set
	for _, f := range factors {
		sets = append(sets, f.Vars)
	}
	for _, m := range masks {
		sets = append(sets, m.Vars)
	}
	tree, err := NewTree(dom, sets, DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	m, err := FromPotentials(Potentials{Domain: dom, Total: total, Cliques: tree.Cliques(), Factors: factors, Masks: masks}, DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// worst is the largest difference of two tables.
func worst(t testing.TB, got, want []float64) float64 {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d cells, must be %d", len(got), len(want))
	}
	d := 0.0
	for i := range got {
		if e := math.Abs(got[i] - want[i]); !(e <= d) {
			d = e
		}
	}
	return d
}
