package histogram

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// asker answers levels from true counts with noise, and holds what was asked.
type asker struct {
	counts []float64
	sd     float64
	rng    *rand.Rand
	asked  [][][2]int
}

func (a *asker) ask(level int, nodes [][2]int) ([]float64, error) {
	if level != len(a.asked)+1 {
		return nil, errors.New("levels out of order")
	}
	a.asked = append(a.asked, nodes)
	y := make([]float64, len(nodes))
	for i, n := range nodes {
		y[i] = sum(a.counts[n[0]:n[1]])
		if a.sd > 0 {
			y[i] += math.RoundToEven(a.sd * a.rng.NormFloat64())
		}
	}
	return y, nil
}

func public(n float64) func(float64) (float64, float64) {
	return func(float64) (float64, float64) { return n, 0 }
}

func TestLevels(t *testing.T) {
	for cells, want := range map[int]int{1: 1, 16: 1, 17: 2, 256: 2, 257: 3, 4096: 3, 4097: 4, 65536: 4} {
		if got := Levels(cells); got != want {
			t.Errorf("%d cells have %d levels, must be %d", cells, got, want)
		}
	}
}

// Leaves cover all cells from left to right; what is asked at a level is disjoint and
// inside one node of the level before; level 1 is whole. Any length, any levels.
func TestTreeCovers(t *testing.T) {
	for _, cells := range []int{1, 2, 15, 16, 17, 255, 257, 300, 4096, 5000, 65536} {
		for levels := 1; levels <= Levels(cells)+1; levels++ {
			a := heaps(cells, 9)
			leaves, err := Tree(cells, levels, a.sd, public(sum(a.counts)), a.ask)
			if err != nil {
				t.Fatal(err)
			}
			at := 0
			for _, l := range leaves {
				if l.Lo != at || l.Hi <= l.Lo || l.Count < 0 || l.Var != 9*9 {
					t.Fatalf("%d cells, %d levels: leaf %+v after cell %d", cells, levels, l, at)
				}
				at = l.Hi
			}
			if at != cells {
				t.Errorf("%d cells, %d levels: leaves end at %d", cells, levels, at)
			}
			nested(t, cells, a.asked)
		}
	}
}

func nested(t *testing.T, cells int, asked [][][2]int) {
	t.Helper()
	whole := 0
	for i, nodes := range asked {
		for k, n := range nodes {
			if i == 0 {
				whole += n[1] - n[0]
			}
			if n[0] >= n[1] || k > 0 && n[0] < nodes[k-1][1] {
				t.Fatalf("level %d asks %v after %v", i+1, n, nodes[max(k-1, 0)])
			}
			inside := i == 0
			for _, p := range asked[max(i-1, 0)] {
				inside = inside || p[0] <= n[0] && n[1] <= p[1] && p[1]-p[0] > 1
			}
			if !inside {
				t.Fatalf("level %d asks %v, which is in no node of the level before", i+1, n)
			}
		}
		if len(nodes) > len(asked[max(i-1, 0)])*branching {
			t.Fatalf("level %d asks %d nodes", i+1, len(nodes))
		}
	}
	if whole != cells {
		t.Errorf("level 1 asks %d of %d cells", whole, cells)
	}
}

// heaps is a column where one cell in 500 holds 1,000 rows, others none.
func heaps(cells int, sd float64) *asker {
	a := &asker{counts: make([]float64, cells), sd: sd, rng: rand.New(rand.NewPCG(uint64(cells), 5))}
	for i := range a.counts {
		if i%500 == 7 {
			a.counts[i] = 1000
		}
	}
	return a
}

// Without noise the counts come back wherever the tree goes to single cells.
func TestTreeFindsHeaps(t *testing.T) {
	a := heaps(5000, 0)
	leaves, err := Tree(5000, Levels(5000), 1e-9, public(10000), a.ask)
	if err != nil {
		t.Fatal(err)
	}
	got := map[int]float64{}
	for _, l := range leaves {
		if l.Count > 1e-6 {
			if l.Hi != l.Lo+1 {
				t.Errorf("leaf %+v", l)
			}
			got[l.Lo] = math.Round(l.Count*1e6) / 1e6
		}
	}
	want := map[int]float64{}
	for i, n := range a.counts {
		if n > 0 {
			want[i] = n
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// The root by hand, on two cells with noisy counts 60 and 30 of sd 3: public, uncertain
// as a missing cell leaves it ((2 parent + sum)/3), and unknown.
func TestTreeRoot(t *testing.T) {
	for _, c := range []struct{ total, variance, want float64 }{
		{100, 0, 100}, {99, 9, (2*99 + 90) / 3.}, {-1, math.Inf(1), 90},
	} {
		ask := func(int, [][2]int) ([]float64, error) { return []float64{60, 30}, nil }
		root := func(sum float64) (float64, float64) {
			if sum != 90 {
				t.Errorf("the sum of level 1 is %v", sum)
			}
			return c.total, c.variance
		}
		leaves, err := Tree(2, 1, 3, root, ask)
		if err != nil || math.Abs(leaves[0].Count+leaves[1].Count-c.want) > 1e-9 || math.Abs(leaves[0].Count-leaves[1].Count-30) > 1e-9 {
			t.Errorf("root %v of variance %v: leaves %v, error %v", c.total, c.variance, leaves, err)
		}
	}
}

// A node is divided from 5 sd on: 49 and 51 rows of sd 10 in two halves of 32 cells.
func TestTreeDividesFromFiveSD(t *testing.T) {
	levels := 0
	ask := func(level int, nodes [][2]int) ([]float64, error) {
		levels = level
		y := make([]float64, len(nodes))
		if level == 1 {
			y[0], y[15] = 49, 51
		} else if nodes[0] != [2]int{30, 31} || len(nodes) != 2 {
			t.Errorf("level 2 asks %v", nodes)
		}
		return y, nil
	}
	if _, err := Tree(32, 2, 10, public(100), ask); err != nil || levels != 2 {
		t.Errorf("%d levels, error %v", levels, err)
	}
}

// What ask says is passed on; a wrong number of answers is a fault, not a wrong tree.
func TestTreeErrors(t *testing.T) {
	refused := errors.New("refused")
	_, err := Tree(20, 2, 1, public(5), func(int, [][2]int) ([]float64, error) { return nil, refused })
	if !errors.Is(err, refused) {
		t.Errorf("error %v", err)
	}
	_, err = Tree(20, 2, 1, public(5), func(int, [][2]int) ([]float64, error) { return []float64{1}, nil })
	if err == nil {
		t.Error("one count for 16 nodes was taken")
	}
}
