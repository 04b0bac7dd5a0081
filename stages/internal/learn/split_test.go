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
