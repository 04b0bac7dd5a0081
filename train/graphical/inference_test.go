package graphical

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestAgainstEnumeration: log Z, all marginals of up to three columns and log
// probabilities of 50 random models of at most 2,000 rows of the domain, loops
// included, are those of the sum over all rows. Two models of three have masks.
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
				factors = append(factors, randomFactor(rng, dom, Set{i}.with((i+1)%4), 1.5))
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
