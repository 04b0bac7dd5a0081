package histogram

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestSeenRangesAreTheCoarsestThatShow: halves of 50 rows at a noise of 15 show 3.3 deviations each, together 4.7 of
// their 21.2: the range stands for both. A range with a half that shows stands for none, and neither does one that
// shows nothing; the cell of missing values is no range of the line.
func TestSeenRangesAreTheCoarsestThatShow(t *testing.T) {
	leaf := func(lo, hi int, count, sd float64) part { return part{lo: lo, hi: hi, count: count, variance: sd * sd} }
	over := func(a, b part) part {
		p := leaf(a.lo, b.hi, a.count+b.count, math.Sqrt(a.variance+b.variance))
		p.parts = []part{a, b}
		return p
	}
	root := part{hi: 16, parts: []part{
		over(leaf(0, 2, 50, 15), leaf(2, 4, 50, 15)),                         // stands for both
		over(over(leaf(4, 5, 90, 15), leaf(5, 6, 1, 15)), leaf(6, 8, 2, 15)), // has a half that shows
		over(leaf(8, 10, 5, 15), leaf(10, 12, 5, 15)),                        // shows nothing
		leaf(12, 16, 200, 15), leaf(16, 17, 300, 15),
	}}
	list, any := root.seen(16)
	var at []int
	for _, p := range list {
		at = append(at, p.lo)
	}
	want := []int{0, 4, 5, 6, 8, 10, 12}
	if !any || len(at) != len(want) {
		t.Fatalf("ranges from %v show, %v, must be from %v", at, any, want)
	}
	for i := range want {
		if at[i] != want[i] {
			t.Fatalf("ranges from %v, must be from %v", at, want)
		}
	}
	none := over(leaf(0, 4, 9, 15), leaf(4, 8, 9, 15))
	if list, any := none.seen(8); any || len(list) != 2 {
		t.Errorf("%d ranges, %v, of a line that shows nothing, must be both", len(list), any)
	}
}

// TestTailsBehindABodyOfHalves: 10,000 log-normal rows that fill a fiftieth of a wide line, each range of which is
// halved until its halves show little by themselves. Over 20 draws the root mean square error of the mean is at most .15
// deviations of the column (.07; .31 where only ranges that show four deviations by themselves were the body), and
// deviations are 1.9 times the true ones on average at most (1.5; 2.4). Draws are of fixed seeds.
func TestTailsBehindABodyOfHalves(t *testing.T) {
	const rows, cells, sd, draws = 10_000, 20_000, 50, 20
	square, ratio := 0.0, 0.0
	for k := range draws {
		rng := rand.New(rand.NewPCG(11, uint64(k)))
		a := &asker{counts: make([]float64, cells), sd: sd, rng: rng}
		sum, squares := 0.0, 0.0
		for range rows {
			x := min(int(430*math.Exp(.55*rng.NormFloat64())), cells-1)
			a.counts[x]++
			sum, squares = sum+float64(x), squares+float64(x*x)
		}
		mean := sum / rows
		deviation := math.Sqrt(squares/rows - mean*mean)
		found, err := Line{Cells: cells, Total: rows, SD: sd}.Tree(a.ask)
		if err != nil {
			t.Fatal(err)
		}
		got, gotSquares := 0.0, 0.0
		for _, l := range found.Leaves(rows) {
			middle, wide := float64(l.Lo+l.Hi-1)/2, float64(l.Hi-l.Lo)
			got, gotSquares = got+l.Count*middle, gotSquares+l.Count*(middle*middle+(wide*wide-1)/12)
		}
		got /= rows
		ratio += math.Sqrt(gotSquares/rows-got*got) / deviation / draws
		square += (got - mean) * (got - mean) / deviation / deviation / draws
	}
	if rms := math.Sqrt(square); rms > .15 || ratio > 1.9 {
		t.Errorf("means are off by %.3f deviations, deviations %.2f times the true ones", rms, ratio)
	}
}
