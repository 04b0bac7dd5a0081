package histogram

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// asker answers releases from true counts with noise, and holds what was asked.
type asker struct {
	counts []float64 // missing values last
	sd     float64   // of a release that takes all
	rng    *rand.Rand
	parts  []float64
	asked  [][][2]int
	y      [][]float64
}

func (a *asker) ask(part float64, nodes [][2]int) ([]float64, float64, error) {
	a.parts, a.asked = append(a.parts, part), append(a.asked, nodes)
	y, sd := make([]float64, len(nodes)), a.sd/math.Sqrt(part)
	for i, n := range nodes {
		y[i] = sum(a.counts[n[0]:n[1]]) + math.RoundToEven(sd*a.rng.NormFloat64())
	}
	a.y = append(a.y, y)
	return y, sd * sd, nil
}

// 4 parts, then halves: 5 cells have a part of 2, 65,536 have parts of 2^14.
func TestLevels(t *testing.T) {
	for cells, want := range map[int]int{1: 1, 4: 1, 5: 2, 8: 2, 9: 3, 16: 3, 256: 7, 4096: 11, 65536: 15} {
		if got := Levels(cells); got != want {
			t.Errorf("%d cells have %d levels, must be %d", cells, got, want)
		}
	}
}

// Leaves cover all cells from left to right and sum to what is public; each release asks
// every cell once, in ranges of the release before or in parts of them; its parts of the
// budget sum to 1. Any length, with and without missing values, rows public or not.
func TestTreeCovers(t *testing.T) {
	for _, cells := range []int{1, 2, 3, 15, 16, 17, 255, 257, 300, 4096, 5000, 65536} {
		for _, missing := range []int{0, 1} {
			for _, public := range []bool{true, false} {
				a := heaps(cells, missing, 9)
				line := Line{Cells: cells, Missing: missing == 1, SD: a.sd}
				if public {
					line.Total = sum(a.counts)
				}
				found, err := line.Tree(a.ask)
				if err != nil {
					t.Fatal(err)
				}
				leaves := found.Leaves(line.Total)
				at, rows := 0, 0.0
				for _, l := range leaves {
					if l.Lo != at || l.Hi <= l.Lo || !(l.Count >= 0) || !(l.Var > 0 || l.Hi > l.Lo+1) {
						t.Fatalf("%d cells: leaf %+v after cell %d", cells, l, at)
					}
					at, rows = l.Hi, rows+l.Count
				}
				if at != cells || line.Total > 0 && missing == 0 && math.Abs(rows-line.Total) > 1e-6 || line.Total > 0 && rows > line.Total+1e-6 {
					t.Errorf("%d cells, %d missing: leaves end at %d and hold %g of %g", cells, missing, at, rows, line.Total)
				}
				nested(t, cells+missing, a)
			}
		}
	}
}

func nested(t *testing.T, cells int, a *asker) {
	t.Helper()
	if len(a.asked) > Levels(cells) || math.Abs(sum(a.parts)-1) > 1e-12 {
		t.Errorf("%d cells: %d releases of parts %v", cells, len(a.asked), a.parts)
	}
	for i, nodes := range a.asked {
		at, from := 0, 0
		for _, n := range nodes {
			if n[0] != at || n[1] <= n[0] {
				t.Fatalf("release %d asks %v after cell %d", i+1, n, at)
			}
			at = n[1]
			if i == 0 {
				continue
			}
			for a.asked[i-1][from][1] <= n[0] {
				from++
			}
			if n[1] > a.asked[i-1][from][1] {
				t.Fatalf("release %d asks %v, which is in no range of the one before", i+1, n)
			}
		}
		if at != cells {
			t.Errorf("release %d asks %d of %d cells", i+1, at, cells)
		}
	}
}

// heaps is a column where one cell in 500 holds 1,000 rows, others none.
func heaps(cells, missing int, sd float64) *asker {
	a := &asker{counts: make([]float64, cells+missing), sd: sd, rng: rand.New(rand.NewPCG(uint64(cells), 5))}
	for i := range a.counts {
		if i%500 == 7 || i == cells {
			a.counts[i] = 1000
		}
	}
	return a
}

// Without noise the counts come back, since the tree goes to single cells.
func TestTreeFindsHeaps(t *testing.T) {
	a := heaps(5000, 0, 1e-9)
	found, err := Line{Cells: 5000, Total: 10000, SD: a.sd}.Tree(a.ask)
	if err != nil {
		t.Fatal(err)
	}
	leaves := found.Leaves(10000)
	got, want := map[int]float64{}, map[int]float64{}
	for _, l := range leaves {
		if l.Count > 1e-6 {
			if l.Hi != l.Lo+1 {
				t.Errorf("leaf %+v", l)
			}
			got[l.Lo] = math.Round(l.Count*1e6) / 1e6
		}
	}
	for i, n := range a.counts {
		if n > 0 {
			want[i] = n
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// A range is divided from 5 sd of the noise that the rest of the budget buys. Of 8 cells
// at sd 10 the first of two releases takes .2/(1.2^2-1) = 5/11, so that the rest has a
// sd of 10 sqrt(11/6), 5 of which are 67.7. Where none is divided the second asks the
// same ranges again.
func TestTreeDividesFromFiveSD(t *testing.T) {
	for _, c := range []struct {
		y    []float64
		want [][2]int
	}{
		{[]float64{67, 68, 1, 0}, [][2]int{{0, 2}, {2, 3}, {3, 4}, {4, 6}, {6, 8}}},
		{[]float64{67, 67, 1, 1}, [][2]int{{0, 2}, {2, 4}, {4, 6}, {6, 8}}},
	} {
		var parts []float64
		var asked [][2]int
		_, err := Line{Cells: 8, Total: 136, SD: 10}.Tree(func(part float64, nodes [][2]int) ([]float64, float64, error) {
			parts, asked = append(parts, part), nodes
			return append(c.y, 0, 0)[:len(nodes)], 100 / part, nil
		})
		if d := cmp.Diff(c.want, asked); err != nil || d != "" || len(parts) != 2 || math.Abs(parts[0]-5./11) > 1e-12 {
			t.Errorf("%v: parts %v, error %v, %s", c.y, parts, err, d)
		}
	}
}

// Variances of leaves below a first part sum to that of its estimate: by hand, of 8 cells
// at sd 1, a part that is divided has 5/11 and its halves 6/11 of the budget, so that its
// count has a variance of 1/(5/11 + 6/11/2) = 11/8; one that is not divided has 1.
func TestTreeVariances(t *testing.T) {
	a := &asker{counts: []float64{500, 500, 0, 0, 0, 0, 0, 0}, sd: 1, rng: rand.New(rand.NewPCG(1, 1))}
	found, err := Line{Cells: 8, Total: 1000, SD: 1}.Tree(a.ask)
	var leaves []Leaf
	for i := range found.root.parts {
		leaves = found.root.parts[i].leaves(leaves, 1)
	}
	if err != nil || len(leaves) != 5 {
		t.Fatalf("leaves %v, error %v", leaves, err)
	}
	if two := leaves[0].Var + leaves[1].Var; math.Abs(two-11./8) > 1e-9 || math.Abs(leaves[2].Var-1) > 1e-9 {
		t.Errorf("variances %v, must be 11/8 of the first two together and 1 of the third", leaves)
	}
}

// What ask says is passed on; a wrong number of answers is a fault, not a wrong tree.
func TestTreeErrors(t *testing.T) {
	refused := errors.New("refused")
	_, err := Line{Cells: 20, Total: 5, SD: 1}.Tree(func(float64, [][2]int) ([]float64, float64, error) { return nil, 0, refused })
	if !errors.Is(err, refused) {
		t.Errorf("error %v", err)
	}
	_, err = Line{Cells: 20, Total: 5, SD: 1}.Tree(func(float64, [][2]int) ([]float64, float64, error) { return []float64{1}, 1, nil })
	if err == nil {
		t.Error("one count for 4 ranges was taken")
	}
}
