package histogram

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestWeightsByHand: beside cells of a heap and its neighbour, leaves of 16 cells that
// hold 1.9 sd together, which noise explains, and of 256 cells that hold 4 sd.
func TestWeightsByHand(t *testing.T) {
	leaves := []Leaf{{0, 1, 90, 100}, {1, 2, 2, 100}, {2, 18, 12, 100}, {18, 34, 7, 100}, {34, 290, 30, 100}, {290, 546, 10, 100}}
	want := []float64{87.5 + .5, .5, .5 / 16, .5 / 16, 25 + .5/256, 5 + .5/256}
	for i, w := range weights(leaves) {
		if math.Abs(w-want[i]) > 1e-12 {
			t.Errorf("leaf %d weighs %v, must weigh %v", i, w, want[i])
		}
	}
}

// treeOf is a column behind a tree whose whole budget buys noise of standard deviation sd,
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

// placedMean is the mean cell of rows that are placed by weights.
func placedMean(leaves []Leaf, bins [][2]int) float64 {
	rows, at := 0.0, 0.0
	for _, bin := range bins {
		own := leaves[bin[0]:bin[1]]
		held := 0.0
		for _, l := range own {
			held += l.Count
		}
		for i, share := range Shares(own) {
			at += share * held * float64(own[i].Lo+own[i].Hi-1) / 2
		}
		rows += held
	}
	return at / rows
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
