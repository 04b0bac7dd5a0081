package marginal

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestQueries(t *testing.T) {
	got, drawn := Queries(4, 2, 6, nil)
	if want := [][]int{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}; drawn || !cmp.Equal(got, want) {
		t.Errorf("all pairs of four are %v", got)
	}
	if got, _ := Queries(2, 3, 10, nil); len(got) != 0 {
		t.Errorf("triples of two are %v", got)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	got, drawn = Queries(30, 3, 50, rng)
	if !drawn || len(got) != 50 || !slices.IsSortedFunc(got, slices.Compare) {
		t.Errorf("%d triples, drawn %v", len(got), drawn)
	}
	for i, q := range got {
		if q[0] >= q[1] || q[1] >= q[2] || q[2] >= 30 || i > 0 && slices.Equal(q, got[i-1]) {
			t.Errorf("triple %v", q)
		}
	}
}
