package train

import (
	"math"
	"testing"
)

// TestPairsAddUpToOneRow: n rows of one clip, then as many of the float32 just
// below one. A neighbour has one row more, so the sums must differ by one clip: to
// 2^-22 as DPSGD.lattice says. A plain float64 sum, whose later additions round by
// where it stands, is off by more.
func TestPairsAddUpToOneRow(t *testing.T) {
	const n = 1 << 22
	row := -float64(math.Float32frombits(math.Float32bits(1)-1)) * 0x1p-30
	sums := func(first float64) (plain, pair float64) {
		high, low := first*n, 0.0
		plain = first * n
		for range n {
			plain += row
			high, low = addPair(high, low, row)
		}
		return plain, high + low
	}
	plain, pair := sums(1)
	morePlain, morePair := sums(1 + 1.0/n) // one row more
	if off := math.Abs(morePair - pair - 1); off > 0x1p-22 {
		t.Errorf("pairs differ by one clip and %g, at most %g", off, 0x1p-22)
	}
	if off := math.Abs(morePlain - plain - 1); off < 0x1p-30 {
		t.Logf("a plain sum is off by %g here", off)
	}
	high, low := 1.0, 0.0
	for range 1 << 20 { // each addend is below half an ulp: a plain sum never moves
		high, low = addPair(high, low, 0x1p-54)
	}
	if got := high - 1 + low; math.Abs(got/0x1p-34-1) > 1e-9 {
		t.Errorf("2^20 times 2^-54 comes to %g, must be %g", got, 0x1p-34)
	}
}
