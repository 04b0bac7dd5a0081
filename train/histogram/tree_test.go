package histogram

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
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

// TestLevels: 4 parts, then halves: 5 cells have a part of 2, 65,536 have parts of 2^14.
func TestLevels(t *testing.T) {
	for cells, want := range map[int]int{1: 1, 4: 1, 5: 2, 8: 2, 9: 3, 16: 3, 256: 7, 4096: 11, 65536: 15} {
		if got := Levels(cells); got != want {
			t.Errorf("%d cells have %d levels, must be %d", cells, got, want)
		}
	}
}

// TestTreeCovers: leaves cover all cells from left to right and sum to what is public; each release asks
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
				pos, rows := 0, 0.0
				for _, l := range leaves {
					if l.Lo != pos || l.Hi <= l.Lo || !(l.Count >= 0) || !(l.Var > 0 || l.Hi > l.Lo+1) {
						t.Fatalf("%d cells: leaf %+v after cell %d", cells, l, pos)
					}
					pos, rows = l.Hi, rows+l.Count
				}
				if pos != cells || line.Total > 0 && missing == 0 && math.Abs(rows-line.Total) > 1e-6 || line.Total > 0 &&
					rows > line.Total+1e-6 {
					t.Errorf("%d cells, %d missing: leaves end at %d and hold %g of %g", cells, missing, pos, rows, line.Total)
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
		pos, start := 0, 0
		for _, n := range nodes {
			if n[0] != pos || n[1] <= n[0] {
				t.Fatalf("release %d asks %v after cell %d", i+1, n, pos)
			}
			pos = n[1]
			if i == 0 {
				continue
			}
			for a.asked[i-1][start][1] <= n[0] {
				start++
			}
			if n[1] > a.asked[i-1][start][1] {
				t.Fatalf("release %d asks %v, which is in no range of the one before", i+1, n)
			}
		}
		if pos != cells {
			t.Errorf("release %d asks %d of %d cells", i+1, pos, cells)
		}
	}
}

// heaps returns a column where one cell in 500 holds 1,000 rows, others none.
func heaps(cells, missing int, sd float64) *asker {
	a := &asker{counts: make([]float64, cells+missing), sd: sd, rng: rand.New(rand.NewPCG(uint64(cells), 5))}
	for i := range a.counts {
		if i%500 == 7 || i == cells {
			a.counts[i] = 1000
		}
	}
	return a
}

// TestTreeFindsHeaps: without noise the counts come back, since the tree goes to single cells.
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

// TestTreeDividesFromFiveSD: a range is divided from 5 sd of the noise that the rest of the budget buys. Of 8 cells
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
		var output [][2]int
		_, err := Line{Cells: 8, Total: 136, SD: 10}.Tree(func(part float64, nodes [][2]int) ([]float64, float64, error) {
			parts, output = append(parts, part), nodes
			return append(c.y, 0, 0)[:len(nodes)], 100 / part, nil
		})
		if d := cmp.Diff(c.want, output); err != nil || d != "" || len(parts) != 2 || math.Abs(parts[0]-5./11) > 1e-12 {
			t.Errorf("%v: parts %v, error %v, %s", c.y, parts, err, d)
		}
	}
}

// TestTreeVariances: variances of leaves below a first part sum to the variance of its estimate: by hand, of 8 cells
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

// TestTreeErrors: what ask says is passed on; a wrong number of answers is a fault, not a wrong tree.
func TestTreeErrors(t *testing.T) {
	refused := errors.New("refused")
	_, err := Line{Cells: 20, Total: 5, SD: 1}.Tree(func(float64, [][2]int) ([]float64, float64, error) {
		return nil, 0,
			refused
	})
	if !errors.Is(err, refused) {
		t.Errorf("error %v", err)
	}
	_, err = Line{Cells: 20, Total: 5, SD: 1}.Tree(func(float64, [][2]int) ([]float64, float64, error) {
		return []float64{1}, 1, nil
	})
	if err == nil {
		t.Error("one count for 4 ranges was taken")
	}
}

// TestHaarKeepsWhatIsExact: without noise nothing is levelled: the transform gives back what it was given, for
// every length, shifted to the total.
func TestHaarKeepsWhatIsExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 3, 7, 31, 32, 33, 256} {
		y := make([]float64, n)
		for i := range y {
			y[i] = rng.Float64() * 100
		}
		for i, v := range Haar(y, 0, sum(y)+float64(n)) {
			if math.Abs(v-y[i]-1) > 1e-9 {
				t.Errorf("length %d: cell %d is %v, must be %v", n, i, v, y[i]+1)
			}
		}
	}
}

// TestHaarThreshold: by hand, two cells: their half difference has sd sd/sqrt(2) and threshold .7 sd
// sqrt(2 ln 2)/sqrt(2) = .583 sd. Half of 1.1 is below, half of 1.2 above.
func TestHaarThreshold(t *testing.T) {
	if got := Haar([]float64{11.1, 10}, 1, 21.1); math.Abs(got[0]-10.55) > 1e-12 || math.Abs(got[1]-10.55) > 1e-12 {
		t.Errorf("a step of 1.1 becomes %v", got)
	}
	if got := Haar([]float64{11.2, 10}, 1, 21.2); math.Abs(got[0]-11.2) > 1e-12 {
		t.Errorf("a step of 1.2 becomes %v", got)
	}
}

// TestHaarSums: nothing below 0, and the total; nothing where that is not positive.
func TestHaarSums(t *testing.T) {
	for _, c := range []struct {
		y     []float64
		total float64
		want  []float64
	}{
		{[]float64{-100, 100}, 50, []float64{0, 50}},
		{[]float64{-9, -9, -9, -9}, 8, []float64{2, 2, 2, 2}},
		{[]float64{5, 5}, 0, []float64{0, 0}},
		{[]float64{5, 5}, -1, []float64{0, 0}},
		{[]float64{-5}, 3, []float64{3}},
		{nil, 3, []float64{}},
	} {
		if got := Haar(c.y, 1, c.total); !slices.Equal(got, c.want) {
			t.Errorf("%v to sum %v is %v, must be %v", c.y, c.total, got, c.want)
		}
	}
}

// TestHaarKeepsHeaps: a heap stands, a plain around it is averaged: 256 cells of 50 rows and one of 1,000,
// noise sd 10, 40 draws. The error of the plain's cells is below a third of the noise
// (without Haar: all of it), the heap is within 5 sd (the draws are fixed). Moving the
// ring moves the result.
func TestHaarKeepsHeaps(t *testing.T) {
	squares, cells := 0.0, 0
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 3))
		y, moved := make([]float64, 256), make([]float64, 256)
		for i := range y {
			y[i] = 50 + 10*rng.NormFloat64()
			if i == 77 {
				y[i] += 950
			}
			moved[(i+31)%256] = y[i]
		}
		x, ring := Haar(y, 10, 255*50+1000), Haar(moved, 10, 255*50+1000)
		for i, v := range x {
			if math.Abs(v-ring[(i+31)%256]) > 1e-9 {
				t.Fatalf("cell %d is %v, moved %v", i, v, ring[(i+31)%256])
			}
			if i != 77 {
				squares, cells = squares+(v-50)*(v-50), cells+1
			} else if math.Abs(v-1000) > 50 {
				t.Errorf("seed %d: the heap of 1000 is %v", seed, v)
			}
		}
	}
	if rms := math.Sqrt(squares / float64(cells)); rms > 10./3 {
		t.Errorf("error of the plain is %v, must be below a third of the noise 10", rms)
	}
}

// TestWeightsByHand: beside cells of a heap and its neighbour, leaves of 16 cells that
// hold 1.9 sd together, which noise explains, and of 256 cells that hold 4 sd.
func TestWeightsByHand(t *testing.T) {
	leaves := []Leaf{{0, 1, 90, 100}, {1, 2, 2, 100}, {2, 18, 12, 100}, {18, 34, 7, 100}, {34, 290, 30, 100},
		{290, 546, 10, 100}}
	want := []float64{87.5 + .5, .5, .5 / 16, .5 / 16, 25 + .5/256, 5 + .5/256}
	for i, w := range weights(leaves) {
		if math.Abs(w-want[i]) > 1e-12 {
			t.Errorf("leaf %d weighs %v, must weigh %v", i, w, want[i])
		}
	}
}

// treeOf returns a column behind a tree whose whole budget buys noise of standard deviation sd,
// its number of rows public, and its bins.
func treeOf(t *testing.T, cells []int, values int, sd float64, rng *rand.Rand) ([]Leaf, [][2]int) {
	t.Helper()
	before := make([]float64, values+1)
	for _, cell := range cells {
		before[cell+1]++
	}
	for i := range values {
		before[i+1] += before[i]
	}
	line := Line{Cells: values, Total: float64(len(cells)), SD: sd}
	found, err := line.Tree(func(part float64, nodes [][2]int) ([]float64, float64, error) {
		y := make([]float64, len(nodes))
		for i, node := range nodes {
			y[i] = math.Round(before[node[1]] - before[node[0]] + sd/math.Sqrt(part)*rng.NormFloat64())
		}
		return y, sd * sd / part, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	leaves := found.Leaves(line.Total)
	return leaves, Merge(leaves, line.Total, 9)
}

// placedMean returns the mean cell of rows that are placed by weights.
func placedMean(leaves []Leaf, bins [][2]int) float64 {
	rows, point := 0.0, 0.0
	for _, bin := range bins {
		ownValue := leaves[bin[0]:bin[1]]
		retained := 0.0
		for _, l := range ownValue {
			retained += l.Count
		}
		for i, share := range Shares(ownValue) {
			point += share * retained * float64(ownValue[i].Lo+ownValue[i].Hi-1) / 2
		}
		rows += retained
	}
	return point / rows
}

// TestLongTailsKeepTheirMean: log-normal amounts of 5,000 rows between 0 and 10,000,
// behind the noise that epsilon 1 leaves to one column of eight. Weights of the rule for
// narrow leaves alone make the mean 8 times what it is. Seeds are fixed.
func TestLongTailsKeepTheirMean(t *testing.T) {
	const rounds = 40
	for _, c := range []struct{ log, spread, most float64 }{{2, 1, .35}, {4, .8, .15}} {
		off := 0.0
		for seed := range uint64(rounds) {
			rng := rand.New(rand.NewPCG(seed, 12))
			cells, mean := make([]int, 5000), 0.0
			for i := range cells {
				x := min(math.Exp(c.log+c.spread*rng.NormFloat64()), 10000)
				cells[i] = int(x/.16 + .5)
				mean += float64(cells[i]) / 5000
			}
			leaves, bins := treeOf(t, cells, 62501, 28, rng)
			off += (placedMean(leaves, bins)/mean - 1) / rounds
		}
		if math.Abs(off) > c.most {
			t.Errorf("log-normal (%g, %g): the mean is off by %+.2f of itself, must be within %g", c.log, c.spread, off, c.most)
		}
	}
}
