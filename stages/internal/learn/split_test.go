package learn

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// keysOf draws n codes below bins above ascending places, as a node has them.
func keysOf(n, bins int) []uint64 {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(bins)))
	keys := make([]uint64, n)
	for i := range keys {
		keys[i] = rng.Uint64N(uint64(bins))<<32 | uint64(i)
	}
	return keys
}

// TestSortKeys: keys come in the order of slices.Sort, around each size at which the way of sorting changes, for codes
// of one to three bytes. Extreme codes are among them.
func TestSortKeys(t *testing.T) {
	for _, n := range []int{0, 1, fewKeys, fewKeys + 1, someKeys, someKeys + 1, 5000} {
		for _, bins := range []int{1, 2, 256, 257, 65536, 65537, 1 << 20} {
			keys := keysOf(n, bins)
			if n > 1 {
				keys[0], keys[n-1] = uint64(bins-1)<<32, uint64(n-1)
			}
			want := slices.Clone(keys)
			slices.Sort(want)
			if got := sortKeys(keys, make([]uint64, n+1), bins); !slices.Equal(got, want) {
				t.Errorf("%d keys of %d codes are out of order", n, bins)
			}
		}
	}
}

// TestFewRowsOfManyValues: one split parts the rows of a node by a number, where they are few among many values of the
// column: 98 and more are sorted by bytes, in two passes up to 65,536 values and in three above.
func TestFewRowsOfManyValues(t *testing.T) {
	for _, n := range []int{400, 20000, 200000} {
		rng := rand.New(rand.NewPCG(uint64(n), 3))
		x, y, w := NewMatrix(n, 1), Labels{make([]int, n), 2}, make([]float64, n)
		for i, v := range rng.Perm(n) {
			x.Cols[0][i] = float64(v)
			if v > n/3 {
				y.Y[i] = 1
			}
		}
		for i := range someKeys + 2 {
			w[i*(n/(someKeys+2))] = 1
		}
		g := newClassGrower(Growth{Criterion: Gini, MaxDepth: 1}, rank(x, 1), 2)
		tree, err := g.grow(t.Context(), classItems(y, w), rng)
		if err != nil {
			t.Fatal(err)
		}
		for i, leaf := range tree.leaves(x) {
			if v := tree.value(leaf); w[i] > 0 && v[1-y.Y[i]] != 0 {
				t.Fatalf("of %d values: a row of class %d lies in a leaf of weights %v", n, y.Y[i], v)
			}
		}
	}
}

// BenchmarkSortKeys compares sorting the rows of a node by value with the sort of the standard library.
func BenchmarkSortKeys(b *testing.B) {
	for _, n := range []int{64, 97, 192, 1000, 5000} {
		keys, spare, scratch := keysOf(n, 20000), make([]uint64, n), make([]uint64, n)
		b.Run(fmt.Sprintf("%d/bytes", n), func(b *testing.B) {
			for range b.N {
				copy(scratch, keys)
				sortKeys(scratch, spare, 20000)
			}
		})
		b.Run(fmt.Sprintf("%d/library", n), func(b *testing.B) {
			for range b.N {
				copy(scratch, keys)
				slices.Sort(scratch)
			}
		})
	}
}
