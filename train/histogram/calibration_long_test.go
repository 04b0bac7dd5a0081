//go:build long

package histogram

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// shape draws the cell of a row.
type shape struct {
	name  string
	cells int
	draw  func(*rand.Rand) float64
}

// shapes returns columns whose means a few rows of noise move: most rows 0 and a tail behind, amounts
// with a long tail, heaps among them, on few cells and on many.
func shapes() []shape {
	logNormal := func(median, sd float64) func(*rand.Rand) float64 {
		return func(r *rand.Rand) float64 { return median * math.Exp(sd*r.NormFloat64()) }
	}
	return []shape{
		{"zero-inflated counts", 61, func(r *rand.Rand) float64 {
			if r.Float64() < .9 {
				return 0
			}
			return math.Ceil(1.5 * r.ExpFloat64())
		}},
		{"log-normal, counted cell by cell", 151, logNormal(10, .4)},
		{"log-normal, by a tree", 20_000, logNormal(400, .8)},
		{"heaps, by a tree", 20_000, func(r *rand.Rand) float64 {
			switch u := r.Float64(); {
			case u < .9:
				return 0
			case u < .95:
				return 5000
			}
			return 1000 * math.Ceil(3*r.ExpFloat64())
		}},
	}
}

// TestMeansAreCalibrated draws 200 populations of 10,000 rows of each shape and releases each
// once, at a noise of 30 and of 3. The mean error of the mean, over the deviation of the column, is
// printed with its standard error. An estimate that is never below 0 has a bias: the rows that
// noise leaves in the tail beside those that it hides (docs/marginals.md section 5). It must be within .06 of a
// deviation, at the small noise .009, and the deviation from .7 to 1.9 of its own; of few cells a quarter of what
// the nearest counts that are not below 0 have, all cells counted once (Haar), at most. Standard errors are
// below .0027 and .0005, so that what was measured (.045, .026, .023 and .010 of a deviation; .006, .004, .005 and
// .001) fails at less than 1e-6.
func TestMeansAreCalibrated(t *testing.T) {
	for sd, most := range map[float64]float64{30: .06, 3: .009} {
		t.Run(fmt.Sprint("noise ", sd), func(t *testing.T) { meansAreCalibrated(t, sd, most) })
	}
}

func meansAreCalibrated(t *testing.T, sd, most float64) {
	populations := 200
	if testing.Short() {
		populations = 20
	}
	const rows = 10_000
	for _, s := range shapes() {
		var errs, ratios, before []float64
		for k := range populations {
			rng := rand.New(rand.NewPCG(11, uint64(k)))
			a := &asker{counts: make([]float64, s.cells), sd: sd, rng: rng}
			for range rows {
				a.counts[min(int(s.draw(rng)), s.cells-1)]++
			}
			mean, dev := momentsOf(released(t, Line{Cells: s.cells, Total: rows, SD: sd}, a))
			trueMean, trueDev := momentsOf(singles(a.counts))
			errs, ratios = append(errs, (mean-trueMean)/trueDev), append(ratios, dev/trueDev)
			once, _, err := a.ask(1, cellsOf(s.cells))
			if err != nil {
				t.Fatal(err)
			}
			mean, _ = momentsOf(singles(Haar(once, sd, rows)))
			before = append(before, (mean-trueMean)/trueDev)
		}
		bias, se := meanOf(errs)
		ratio, _ := meanOf(ratios)
		projected, _ := meanOf(before)
		t.Logf("%s: mean off by %+.4f deviations (standard error %.4f; projected %+.4f), deviation %.3f of the true one",
			s.name, bias, se, projected, ratio)
		if math.Abs(bias) > most || s.cells <= 256 && math.Abs(bias) > projected/4 || ratio < .7 || ratio > 1.9 {
			t.Errorf("%s: the mean is off by %.4f deviations, the deviation is %.3f of its own", s.name, bias, ratio)
		}
	}
}

func cellsOf(n int) (nodes [][2]int) {
	for cell := range n {
		nodes = append(nodes, [2]int{cell, cell + 1})
	}
	return nodes
}

func released(t *testing.T, line Line, a *asker) []Leaf {
	t.Helper()
	if line.Cells <= 256 {
		found, err := line.Scout(a.ask)
		if err != nil {
			t.Fatal(err)
		}
		return found.Leaves(line.Total)
	}
	found, err := line.Tree(a.ask)
	if err != nil {
		t.Fatal(err)
	}
	return found.Leaves(line.Total)
}

func singles(counts []float64) []Leaf {
	leaves := make([]Leaf, len(counts))
	for i, n := range counts {
		leaves[i] = Leaf{Lo: i, Hi: i + 1, Count: n}
	}
	return leaves
}

// momentsOf returns the mean and the deviation of rows spread evenly over each leaf.
func momentsOf(leaves []Leaf) (mean, sd float64) {
	n, square := 0.0, 0.0
	for _, l := range leaves {
		middle, width := float64(l.Lo+l.Hi-1)/2, float64(l.Hi-l.Lo)
		n, mean, square = n+l.Count, mean+l.Count*middle, square+l.Count*(middle*middle+(width*width-1)/12)
	}
	return mean / n, math.Sqrt(square/n - mean*mean/(n*n))
}

func meanOf(x []float64) (mean, se float64) {
	square := 0.0
	for _, v := range x {
		mean, square = mean+v/float64(len(x)), square+v*v/float64(len(x))
	}
	return mean, math.Sqrt((square - mean*mean) / float64(len(x)-1))
}
