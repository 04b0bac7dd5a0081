package histogram

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestTreeIsLeastSquares: where all counts are far above their noise, the estimate is the estimate of generalised least
// squares, here from the normal equations of all that was released: with an equation of
// weight 1e6 for a public total, and without.
func TestTreeIsLeastSquares(t *testing.T) {
	for _, public := range []float64{0, 1} {
		a := &asker{counts: []float64{900, 2000, 3000, 700, 5000, 800, 400, 900, 1000, 2500, 300}, sd: 20,
			rng: rand.New(rand.NewPCG(4, 4))}
		line := Line{Cells: 10, Missing: true, Total: public * sum(a.counts), SD: a.sd}
		found, err := line.Tree(a.ask)
		if err != nil {
			t.Fatal(err)
		}
		found.root.linear()
		leaves := found.root.leaves(nil, 1)
		last := a.asked[len(a.asked)-1]
		n := len(last)
		m := make([][]float64, n)
		for i := range m {
			m[i] = make([]float64, n+1)
		}
		equation(m, last, [2]int{0, 11}, line.Total, public*1e6)
		for i, nodes := range a.asked {
			for k, node := range nodes {
				equation(m, last, node, a.y[i][k], a.parts[i])
			}
		}
		want := solved(m)
		for i, l := range leaves {
			if l.Lo != last[i][0] || math.Abs(l.Count-want[i]) > 1e-2 {
				t.Errorf("public %g: leaf %+v of %v, must be %.6f", public, l, last[i], want[i])
			}
		}
	}
}

// equation adds weight times the square of (the leaves inside a range less y).
func equation(m [][]float64, leaves [][2]int, in [2]int, y, weight float64) {
	for i, l := range leaves {
		if l[0] < in[0] || l[1] > in[1] {
			continue
		}
		for k, o := range leaves {
			if o[0] >= in[0] && o[1] <= in[1] {
				m[i][k] += weight
			}
		}
		m[i][len(leaves)] += weight * y
	}
}

// solved returns Gauss and Jordan's elimination with pivots.
func solved(m [][]float64) []float64 {
	x := make([]float64, len(m))
	for i := range m {
		for r := i + 1; r < len(m); r++ {
			if math.Abs(m[r][i]) > math.Abs(m[i][i]) {
				m[i], m[r] = m[r], m[i]
			}
		}
		for r := range m {
			if r != i {
				f := m[r][i] / m[i][i]
				for k := range m[r] {
					m[r][k] -= f * m[i][k]
				}
			}
		}
	}
	for i := range m {
		x[i] = m[i][len(m)] / m[i][i]
	}
	return x
}

// TestNearest: the nearest point in units of noise meets the conditions of its optimum (Karush, Kuhn,
// Tucker): where it is positive (x - y)/v is one number, where it is 0 that is no less.
// With equal variances it is Simplex.
func TestNearest(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for range 2000 {
		n := 1 + rng.IntN(6)
		y, v, total := make([]float64, n), make([]float64, n), 20*rng.Float64()
		for i := range y {
			y[i], v[i] = 10*rng.NormFloat64(), math.Exp(2*rng.NormFloat64())
		}
		x := Nearest(y, v, total)
		common := math.NaN()
		for i := range x {
			if x[i] > 0 {
				common = (x[i] - y[i]) / v[i]
			}
		}
		for i := range x {
			at := (x[i] - y[i]) / v[i]
			if x[i] < 0 || x[i] > 0 && math.Abs(at-common) > 1e-8 || x[i] == 0 && at < common-1e-8 ||
				math.Abs(sum(x)-total) > 1e-9 {
				t.Fatalf("y %v, variances %v, total %g: %v", y, v, total, x)
			}
		}
		for i := range v {
			v[i] = 3
		}
		for i, want := range Simplex(y, total) {
			if got := Nearest(y, v, total)[i]; math.Abs(got-want) > 1e-9 {
				t.Fatalf("y %v, total %g: x[%d] is %g, of Simplex %g", y, total, i, got, want)
			}
		}
	}
	if x := Nearest([]float64{1, 2}, []float64{1, 1}, -1); x[0] != 0 || x[1] != 0 {
		t.Errorf("%v of a total below 0", x)
	}
}

// TestSeenRangesAreTheCoarsestThatShow: halves of 50 rows at a noise of 15 show 3.3 deviations each, together 4.7 of
// their 21.2: the range stands for both. A range with a half that shows stands for none, and neither does one that
// shows nothing; the cell of missing values is no range of the line.
func TestSeenRangesAreTheCoarsestThatShow(t *testing.T) {
	leaf := func(lo, hi int, count, sd float64) part { return part{lo: lo, hi: hi, count: count, variance: sd * sd} }
	combine := func(a, b part) part {
		p := leaf(a.lo, b.hi, a.count+b.count, math.Sqrt(a.variance+b.variance))
		p.parts = []part{a, b}
		return p
	}
	root := part{hi: 16, parts: []part{
		combine(leaf(0, 2, 50, 15), leaf(2, 4, 50, 15)),                            // stands for both
		combine(combine(leaf(4, 5, 90, 15), leaf(5, 6, 1, 15)), leaf(6, 8, 2, 15)), // has a half that shows
		combine(leaf(8, 10, 5, 15), leaf(10, 12, 5, 15)),                           // shows nothing
		leaf(12, 16, 200, 15), leaf(16, 17, 300, 15),
	}}
	list, any := root.seen(16)
	var places []int
	for _, p := range list {
		places = append(places, p.lo)
	}
	want := []int{0, 4, 5, 6, 8, 10, 12}
	if !any || len(places) != len(want) {
		t.Fatalf("ranges from %v show, %v, must be from %v", places, any, want)
	}
	for i := range want {
		if places[i] != want[i] {
			t.Fatalf("ranges from %v, must be from %v", places, want)
		}
	}
	none := combine(leaf(0, 4, 9, 15), leaf(4, 8, 9, 15))
	if list, any := none.seen(8); any || len(list) != 2 {
		t.Errorf("%d ranges, %v, of a line that shows nothing, must be both", len(list), any)
	}
}

// TestTailsBehindABodyOfHalves: 10,000 log-normal rows that fill a fiftieth of a wide line, each range of which is
// halved until its halves show little by themselves. Over 20 draws the root mean square error of the mean is at most
// .15 deviations of the column (.07; .31 where only ranges that show four deviations by themselves were the body), and
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
