package mixture

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/google/go-cmp/cmp"

	"weir/internal/stattest"
	"weir/pipeline/domain"
	"weir/schema"
	"weir/stages/model/artifact"
)

// drawnStrata counts, over many drawings of 6 rows from strata of the sizes, by the stratum of
// the first and of the last row, and by how many rows are of stratum 0.
func drawnStrata(sizes []int64, independent bool, shareOut func(*drawing)) (first, last, zeros []int) {
	m := &model{Sizes: sizes, layout: &layout{strata: make([]stratum, len(sizes))}}
	rng := rand.New(rand.NewPCG(4, 4))
	first, last, zeros = make([]int, len(sizes)), make([]int, len(sizes)), make([]int, 7)
	for range drawings {
		w := m.drawing(artifact.Drawing{Rows: 6, Independent: independent, Random: func(string) *rand.Rand { return rng }})
		shareOut(w)
		subject, zero := [6]int{}, 0
		for i := range subject {
			if subject[i] = w.stratum(); subject[i] == 0 {
				zero++
			}
		}
		first[subject[0]]++
		last[subject[5]]++
		zeros[zero]++
	}
	return first, last, zeros
}

const drawings = 20000

// largestRemainders returns how 6 rows would be shared out without a random start.
func largestRemainders(sizes []int64) []int64 {
	total, counts, left, rest := 0.0, int64(0), make([]int64, len(sizes)), make([]float64, len(sizes))
	for _, n := range sizes {
		total += float64(n)
	}
	for i, n := range sizes {
		left[i] = int64(6 * float64(n) / total)
		rest[i], counts = 6*float64(n)/total-float64(left[i]), counts+left[i]
	}
	for ; counts < 6; counts++ {
		most := slices.Index(rest, slices.Max(rest))
		left[most]++
		rest[most] = -1
	}
	return left
}

// TestFewRowsHaveTheLawOfStrata: of drawings of 6 rows each row is of each stratum with its share
// of the sizes, a stratum of which 6 p = .0503 are expected, too; chi-square at 3e-7, three tests
// a case: a false alarm in 1e6 runs. Rounded drawings have 0 or 1 row of stratum 0, of which
// 6 p = .5035 (72 of 858) are expected; independent ones have the binomial number. Largest
// remainders have always 1 of it, and none of the smaller one, and are rejected.
func TestFewRowsHaveTheLawOfStrata(t *testing.T) {
	const alpha = 3e-7
	sizes := []int64{72, 7, 0, 779}
	p := make([]float64, len(sizes))
	for i, n := range sizes {
		p[i] = float64(n) / 858
	}
	rounded, binomial := make([]float64, 7), make([]float64, 7)
	rounded[0], rounded[1] = 1-6*p[0], 6*p[0]
	for k, choose := range []float64{1, 6, 15, 20, 15, 6, 1} {
		binomial[k] = choose * math.Pow(p[0], float64(k)) * math.Pow(1-p[0], float64(6-k))
	}
	for _, c := range []struct {
		name        string
		independent bool
		shareOut    func(*drawing)
		zeros       []float64
		right       bool
	}{
		{"shared out", false, func(*drawing) {}, rounded, true},
		{"independent", true, func(*drawing) {}, binomial, true},
		{"shared out for independent", false, func(*drawing) {}, binomial, false},
		{"by largest remainders", false, func(w *drawing) { w.left, w.all = largestRemainders(sizes), 6 }, rounded, false},
	} {
		first, last, zeros := drawnStrata(sizes, c.independent, c.shareOut)
		least := min(stattest.ChiSquare(first, p, drawings), stattest.ChiSquare(last, p, drawings), stattest.ChiSquare(zeros,
			c.zeros, drawings))
		if (least >= alpha) != c.right {
			t.Errorf("%s: p %g; first rows %v, last rows %v, of 6 rows of stratum 0 %v", c.name, least, first, last, zeros)
		}
	}
}

// TestRowsAreSharedOut: a whole table has each stratum's share to within a row; where no stratum
// has a row, all are alike.
func TestRowsAreSharedOut(t *testing.T) {
	for _, c := range []struct {
		rows        int
		sizes, want []int64
	}{{1000, []int64{1, 1, 2}, []int64{250, 250, 500}}, {7, []int64{0, 5, 0}, []int64{0, 7, 0}},
		{4, []int64{0, 0}, []int64{2, 2}}, {1000, []int64{1 << 61, 1 << 61}, []int64{500, 500}}} {
		m := &model{Sizes: c.sizes, layout: &layout{strata: make([]stratum, len(c.sizes))}}
		w := m.drawing(artifact.Drawing{Rows: int64(c.rows), Random: func(string) *rand.Rand {
			return rand.New(rand.NewPCG(5, 5))
		}})
		got := make([]int64, len(c.sizes))
		for range c.rows {
			got[w.stratum()]++
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%d rows over %v (-want +got):\n%s", c.rows, c.sizes, diff)
		}
	}
}

// TestFixedValuesAreExact: of a number of more values than cells, each four a cell, and of one on a
// line, what a rule sets is drawn, never a neighbour in its cell: 0 and 3, ends of one cell, in two
// strata; 70 of a weight. Two rules that set neighbours in one stratum contradict each other.
func TestFixedValuesAreExact(t *testing.T) {
	d := &domain.Domain{Columns: []domain.Column{
		{Name: "adult", Type: domain.Boolean, Categories: []string{"no", "yes"}},
		{Name: "income", Type: domain.Integer, Bounds: &[2]float64{0, 200000}, Nullable: true},
		{Name: "weight", Type: domain.Numeric, Bounds: &[2]float64{30, 200}},
		{Name: "rich", Type: domain.Boolean, Categories: []string{"no", "yes"}},
	}}
	set := func(adult, income string) Structural {
		return Structural{Where: map[string]domain.Choice{"adult": {adult}},
			Set: map[string]schema.Text{"income": schema.Text(income), "weight": "70"}}
	}
	shape := Shape{Components: 2, Prior: UniformPrior(), Stratify: []string{"adult"},
		Structural: []Structural{set("no", "0"), set("yes", "3")}}
	var ps schema.Problems
	m := &model{Domain: d, Shape: shape, Sizes: []int64{1, 1}, PriorOnly: []int{0, 1}, layout: newLayout(shape, d, &ps)}
	must(t, ps.Err())
	if g := m.layout.grids[1]; g.Cell(0) != g.Cell(3) {
		t.Fatal("0 and 3 are in two cells: the test sees nothing")
	}
	rec := drawRows(t, m, 200)
	income, weight := rec.Column(1).(*array.Int64), rec.Column(2).(*array.Float64)
	for i, adult := range codes(rec, "adult") {
		if want := int64(3 * adult); income.IsNull(i) || income.Value(i) != want || weight.Value(i) != 70 {
			t.Fatalf("row %d, adult %d: income %s, weight %s, must be %d and 70", i, adult, income.ValueStr(i),
				weight.ValueStr(i), want)
		}
	}
	shape.Structural = append(shape.Structural, set("no", "1"))
	newLayout(shape, d, &ps)
	if err := ps.Err(); err == nil || !strings.Contains(err.Error(), "another value than an earlier rule sets") {
		t.Errorf("error %v", err)
	}
}
