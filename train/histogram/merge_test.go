package histogram

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// single makes leaves of one cell each.
func single(counts ...float64) []Leaf {
	var list []Leaf
	for i, n := range counts {
		list = append(list, Leaf{Lo: i, Hi: i + 1, Count: n, Var: 1})
	}
	return list
}

func noised(leaves []Leaf, sd float64) []Leaf {
	for i := range leaves {
		leaves[i].Var = sd * sd
	}
	return leaves
}

// TestMergeByHand: by hand, 100 rows in 4 bins of 25.
func TestMergeByHand(t *testing.T) {
	wide := single(10, 10, 60, 10, 10)
	wide[2].Hi = 9
	for name, c := range map[string]struct {
		leaves []Leaf
		sd     float64
		want   [][2]int
	}{
		"from the left to 25 rows": {single(10, 10, 10, 5, 5, 12, 12, 12, 12, 12), 1,
			[][2]int{{0, 3}, {3, 7}, {7, 10}}},
		"a heap alone": {single(8, 8, 60, 8, 8, 8), 1, [][2]int{{0, 2}, {2, 3}, {3, 6}}},
		"little before a heap joins": {single(12, 12, 2, 4, 60, 5, 12, 12, 12, 5), 1,
			[][2]int{{0, 4}, {4, 5}, {5, 8}, {8, 10}}},
		"little at the end joins":                 {single(9, 9, 9, 9, 9, 9, 5), 1, [][2]int{{0, 3}, {3, 7}}},
		"a heap within the noise":                 {single(10, 10, 60, 10, 10), 16, [][2]int{{0, 3}, {3, 5}}},
		"a wide leaf is no heap":                  {wide, 1, [][2]int{{0, 3}, {3, 5}}},
		"half a bin is no heap":                   {single(12.5, 12.5, 12.5, 12.5), 1, [][2]int{{0, 2}, {2, 4}}},
		"nothing but a heap":                      {single(100), 1, [][2]int{{0, 1}}},
		"nothing":                                 {single(0, 0, 0), 1, [][2]int{{0, 3}}},
		"no leaves":                               {nil, 1, nil},
		"a little before the first heap is alone": {single(1, 60, 39), 1, [][2]int{{0, 1}, {1, 2}, {2, 3}}},
	} {
		if d := cmp.Diff(c.want, Merge(noised(c.leaves, c.sd), 100, 4)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	for _, rows := range []float64{0, -5, math.NaN()} {
		if d := cmp.Diff([][2]int{{0, 3}}, Merge(single(5, 9, 3), rows, 4)); d != "" {
			t.Errorf("%v rows: %s", rows, d)
		}
	}
	if d := cmp.Diff([][2]int{{0, 3}}, Merge(single(5, 9, 3), 17, 0)); d != "" {
		t.Errorf("no bins: %s", d)
	}
}

// FuzzMerge: bins hold every leaf once, in order, and are at most twice as many as were
// asked for and the heaps.
func FuzzMerge(f *testing.F) {
	f.Add(uint64(1), uint16(300), uint8(16), 3.)
	f.Add(uint64(2), uint16(1), uint8(0), 0.)
	f.Add(uint64(3), uint16(77), uint8(200), 1e9)
	f.Fuzz(func(t *testing.T, seed uint64, n uint16, bins uint8, sd float64) {
		rng := rand.New(rand.NewPCG(seed, 1))
		leaves := single(make([]float64, n)...)
		rows := 0.0
		for i := range leaves {
			if leaves[i].Count = 10 * rng.Float64(); rng.IntN(20) == 0 {
				leaves[i].Count *= 100
			}
			rows += leaves[i].Count
		}
		pos, heaps := 0, 0
		list := Merge(noised(leaves, sd), rows, int(bins))
		for _, b := range list {
			if b[0] != pos || b[1] <= b[0] {
				t.Fatalf("bin %v after leaf %d", b, pos)
			}
			if pos = b[1]; b[1]-b[0] == 1 {
				heaps++
			}
		}
		if pos != int(n) || len(list) > int(bins)+2*heaps+1 {
			t.Errorf("%d bins end at leaf %d of %d; %d were asked for, %d are one leaf", len(list), pos, n, bins, heaps)
		}
	})
}
