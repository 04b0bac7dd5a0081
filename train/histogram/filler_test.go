package histogram

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"weir/internal/stattest"
)

// TestSystematic: shares are rounded down or up, sum to n, and are right on average over the offset:
// 1,000 offsets in equal distance give the mean to within one row in 1,000.
func TestSystematic(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 3))
	for _, n := range []int64{0, 1, 7, 1000, 1e15} {
		w := make([]float64, 37)
		for i := range w {
			w[i] = rng.ExpFloat64() * float64(i%5)
		}
		total, mean := sum(w), make([]float64, len(w))
		for k := range 1000 {
			got, all := Systematic(w, n, (float64(k)+.5)/1000), int64(0)
			for i, v := range got {
				share := w[i] / total * float64(n)
				if math.Abs(float64(v)-share) > 1+1e-12*float64(n) || w[i] == 0 && v != 0 {
					t.Fatalf("%d rows: %d of share %v", n, v, share)
				}
				all += v
				mean[i] += (float64(v) - share) / 1000
			}
			if all != n {
				t.Fatalf("%d rows of %d", all, n)
			}
		}
		for i, off := range mean {
			if math.Abs(off) > .001+1e-12*float64(n) {
				t.Errorf("%d rows: share %d is off by %v on average", n, i, off)
			}
		}
	}
}

// example returns three bins of five leaves: one leaf, two single cells, two wide ones.
func example() ([]Leaf, [][2]int) {
	return []Leaf{{0, 4, 50, 4}, {4, 5, 30, 4}, {5, 6, 10, 4}, {6, 16, 1, 100}, {16, 20, 99, 100}},
		[][2]int{{0, 1}, {1, 3}, {3, 5}}
}

// TestFillerSharesOut: over a drawing each leaf gets its share of the bin's rows to within one, whatever the
// batches; those do not show in the cells; what is no bin keeps its distance.
func TestFillerSharesOut(t *testing.T) {
	leaves, bins := example()
	rng := rand.New(rand.NewPCG(4, 4))
	codes, rows := make([]uint16, 20001), make([]int64, 3)
	for i := range codes {
		if codes[i] = uint16(rng.IntN(4)); codes[i] < 3 {
			rows[codes[i]]++
		}
	}
	whole := make([]uint16, len(codes))
	NewFiller(leaves, bins, rows, rand.New(rand.NewPCG(5, 5))).Fill(whole, codes)
	parts, f := make([]uint16, len(codes)), NewFiller(leaves, bins, rows, rand.New(rand.NewPCG(5, 5)))
	for lo := 0; lo < len(codes); lo += 4096 {
		hi := min(lo+4096, len(codes))
		f.Fill(parts[lo:hi], codes[lo:hi])
	}
	if !slices.Equal(whole, parts) {
		t.Error("batches show in the cells")
	}
	got := make([]float64, 5)
	for i, cell := range whole {
		pos := slices.IndexFunc(leaves, func(l Leaf) bool { return l.Lo <= int(cell) && int(cell) < l.Hi })
		switch {
		case codes[i] == 3 && cell != 20:
			t.Fatalf("what is missing is cell %d", cell)
		case codes[i] < 3 && (pos < bins[codes[i]][0] || pos >= bins[codes[i]][1]):
			t.Fatalf("bin %d has cell %d", codes[i], cell)
		case pos >= 0:
			got[pos]++
		}
	}
	// weights by hand: 29.6, 9.6; .5 over 2 (10 cells beside 4 are a level up), 97
	want := []float64{1, 29.6 / 39.2, 9.6 / 39.2, .25 / 97.25, 97 / 97.25}
	for i, bin := range []int{0, 1, 1, 2, 2} {
		if share := want[i] * float64(rows[bin]); math.Abs(got[i]-share) > 1 {
			t.Errorf("leaf %d has %v rows, must have %v", i, got[i], share)
		}
	}
}

// TestFillerOrder: each row of a bin is as likely in each leaf and cell as any other row: the cells of
// the first, the 4th and the last of 7 rows over 20,000 drawings, chi-square at 1e-6.
// Without shuffling the first row would always be in the first leaf.
func TestFillerOrder(t *testing.T) {
	leaves := []Leaf{{0, 1, 3, 0}, {1, 5, 4, 0}}
	probabilities := []float64{3. / 7, 1. / 7, 1. / 7, 1. / 7, 1. / 7}
	var seen [7][]int
	for i := range seen {
		seen[i] = make([]int, 5)
	}
	rng := rand.New(rand.NewPCG(6, 6))
	for range 20000 {
		f := NewFiller(leaves, [][2]int{{0, 2}}, []int64{7}, rng)
		for i := range seen {
			seen[i][f.Cell(0)]++
		}
	}
	for _, i := range []int{0, 3, 6} {
		if p := stattest.ChiSquare(seen[i], probabilities, 20000); p < 1e-6 {
			t.Errorf("row %d: cells %v, p %v", i, seen[i], p)
		}
	}
	if p := stattest.ChiSquare([]int{20000, 0, 0, 0, 0}, probabilities, 20000); p >= 1e-6 {
		t.Errorf("rows in the order of leaves pass, p %v", p)
	}
}

// TestFillerIndependent: a filler that knows no rows places each by itself: the leaves of two rows of a bin, 20,000
// times, are independent; chi-square at 1e-6. Rows that are shared out are not.
func TestFillerIndependent(t *testing.T) {
	leaves := []Leaf{{0, 1, 3, 0}, {1, 2, 0, 0}, {2, 3, 1, 0}}
	p, rng := []float64{9. / 16, 0, 3. / 16, 0, 0, 0, 3. / 16, 0, 1. / 16}, rand.New(rand.NewPCG(6, 7))
	for independent, rows := range map[bool][]int64{true: nil, false: {2}} {
		pairs := make([]int, 9)
		for range 20000 {
			f := NewFiller(leaves, [][2]int{{0, 3}}, rows, rng)
			pairs[3*f.Cell(0)+f.Cell(0)]++
		}
		if got := stattest.ChiSquare(pairs, p, 20000); (got >= 1e-6) != independent {
			t.Errorf("independent: %v; pairs of cells are %v, p %g", independent, pairs, got)
		}
	}
}

// TestUrn: an urn gives each leaf its count, for every number of leaves, and then starts anew.
func TestUrn(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for n := 1; n < 70; n++ {
		counts := make([]int64, n)
		rows := int64(0)
		for i := range counts {
			counts[i] = rng.Int64N(4)
			rows += counts[i]
		}
		if rows == 0 {
			continue
		}
		u := newUrn(10, counts)
		for round := range 2 {
			got := make([]int64, n)
			for range rows {
				got[u.draw(rng)-10]++
			}
			if n > 1 && !slices.Equal(got, counts) {
				t.Errorf("round %d: %v, must be %v", round, got, counts)
			}
		}
	}
}

// TestFillerDegenerate: leaves without counts and noise are filled evenly; a bin of no rows still answers.
func TestFillerDegenerate(t *testing.T) {
	f := NewFiller([]Leaf{{0, 1, 0, 0}, {1, 4, 0, 0}}, [][2]int{{0, 2}}, []int64{400}, rand.New(rand.NewPCG(8, 8)))
	first := 0
	for range 400 {
		if f.Cell(0) == 0 {
			first++
		}
	}
	if first != 100 {
		t.Errorf("%d of 400 rows in one cell of four", first)
	}
	f = NewFiller([]Leaf{{0, 1, 0, 1}, {1, 2, -5, 1}}, [][2]int{{0, 2}}, []int64{0}, rand.New(rand.NewPCG(8, 8)))
	if c := f.Cell(0); c < 0 || c > 1 {
		t.Errorf("cell %d", c)
	}
}

// BenchmarkFiller places rows of 16 bins of 16 leaves each, beside independent draws by
// cumulative sums; ns a row.
func BenchmarkFiller(b *testing.B) {
	const rows = 1 << 20
	rng := rand.New(rand.NewPCG(9, 9))
	leaves, bins, counts := single(make([]float64, 256)...), make([][2]int, 16), make([]int64, 16)
	for i := range leaves {
		leaves[i].Count = 100 * rng.Float64()
	}
	codes, cells := make([]uint16, rows), make([]uint16, rows)
	for i := range codes {
		codes[i] = uint16(rng.IntN(16))
		counts[codes[i]]++
	}
	for i := range bins {
		bins[i] = [2]int{16 * i, 16*i + 16}
	}
	for b.Loop() {
		NewFiller(leaves, bins, counts, rng).Fill(cells, codes)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
}
