package graphical

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestEachPair: every pair of 40 random models, with loops, masks and unconnected columns, comes once and is the
// marginal that elimination finds.
func TestEachPair(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 2))
	for model := range 40 {
		dom := randomDomain(rng)
		var factors []Factor
		for range 1 + rng.IntN(5) {
			factors = append(factors, randomFactor(rng, dom, randomSet(rng, len(dom), 3), 1.5))
		}
		var masks []Mask
		if model%2 > 0 {
			masks = append(masks, randomMask(rng, dom))
		}
		m, seen := build(t, dom, 1000, factors, masks), map[[2]int]bool{}
		m.EachPair(func(a, b int, table []float64) {
			if seen[[2]int{a, b}] {
				t.Fatalf("pair %d, %d comes twice", a, b)
			}
			seen[[2]int{a, b}] = true
			want, err := m.Marginal(Set{a, b})
			if err != nil {
				t.Fatal(err)
			}
			for k := range want {
				if math.Abs(table[k]-want[k]) > 1e-9*1000 {
					t.Fatalf("model %d, pair %d, %d of %v: cell %d is %v, must be %v", model, a, b, dom, k, table[k], want[k])
				}
			}
		})
		if n := len(dom); len(seen) != n*(n-1)/2 {
			t.Fatalf("%d pairs of %d columns", len(seen), n)
		}
	}
}
