package graphical

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir/train/histogram"
)

// years returns cells of one year each from 0 on, of so many rows.
func years(counts ...float64) (leaves []histogram.Leaf) {
	for i, n := range counts {
		leaves = append(leaves, histogram.Leaf{Lo: i, Hi: i + 1, Count: n, Var: 1})
	}
	return leaves
}

func equal(n int) []float64 { return repeated(10, n) }

// TestBordersAreRoundNumbers: expected borders by hand: the nearest multiple of the unit, which is 5 for bins of 2.5 to
// 12.5 years and 10 up to 25, from least.
func TestBordersAreRoundNumbers(t *testing.T) {
	source := func(least float64) func(int) float64 { return func(cell int) float64 { return least + float64(cell) } }
	for name, c := range map[string]struct {
		least  float64
		bins   [][2]int
		expect [][2]int
	}{
		"to the nearest five": {0, [][2]int{{0, 6}, {6, 14}, {14, 21}, {21, 30}}, [][2]int{{0, 5}, {5, 15}, {15, 20},
			{20, 30}}},
		"of values, not of cells":   {17, [][2]int{{0, 6}, {6, 14}, {14, 30}}, [][2]int{{0, 8}, {8, 13}, {13, 30}}},
		"below 0":                   {-28, [][2]int{{0, 6}, {6, 14}, {14, 30}}, [][2]int{{0, 8}, {8, 13}, {13, 30}}},
		"tens where bins are wide":  {0, [][2]int{{0, 14}, {14, 30}}, [][2]int{{0, 10}, {10, 30}}},
		"single years stay":         {0, [][2]int{{0, 2}, {2, 4}, {4, 30}}, [][2]int{{0, 2}, {2, 4}, {4, 30}}},
		"borders that meet are one": {0, [][2]int{{0, 4}, {4, 6}, {6, 12}}, [][2]int{{0, 5}, {5, 12}}},
		"beside a heap stays":       {0, [][2]int{{0, 6}, {6, 7}, {7, 30}}, [][2]int{{0, 6}, {6, 7}, {7, 30}}},
		"one bin":                   {0, [][2]int{{0, 30}}, [][2]int{{0, 30}}},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(c.expect, rounded(years(equal(30)...), c.bins, source(c.least))); d != "" {
				t.Errorf("bins (-expected +got):\n%s", d)
			}
		})
	}
}

// FuzzBordersKeepLeaves: all leaves stay in bins that follow each other, wherever bins began.
func FuzzBordersKeepLeaves(f *testing.F) {
	f.Add(uint64(0b10010010), 3.5)
	f.Add(^uint64(0), -0.25)
	f.Fuzz(func(t *testing.T, borders uint64, least float64) {
		var bins [][2]int
		first := 0
		for leaf := 1; leaf <= 64; leaf++ {
			if leaf == 64 || borders>>leaf&1 == 1 {
				bins, first = append(bins, [2]int{first, leaf}), leaf
			}
		}
		pos := 0
		for _, b := range rounded(years(equal(64)...), bins, func(cell int) float64 { return least + float64(cell)/4 }) {
			if b[0] != pos || b[1] <= b[0] {
				t.Fatalf("bin %v begins not at %d", b, pos)
			}
			pos = b[1]
		}
		if pos != 64 {
			t.Fatalf("bins end at %d of 64", pos)
		}
	})
}

// TestFewNumbersHaveFineBins: max(2.2 q^(-1/3), 1.4) (n mu)^(1/4), n mu = 10^4: 22, 17.46, 15.25, 14, and 14 from 4 on.
func TestFewNumbersHaveFineBins(t *testing.T) {
	for q, expect := range []int{22, 22, 17, 15, 14, 14} {
		if got := binsOf(1e4, 1, q); got != expect {
			t.Errorf("%d numbers have %d bins, must %d", q, got, expect)
		}
	}
}
