package graphical

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"weir/pipeline"
	"weir/train/graphical"
)

// TestPublishedCellsComeBack: counts of 20 tables of two columns, published with noise of
// standard deviation 3. The mean of cells of 5 rows is off by no more than .5 (the sum
// of 120 deviates of 3 has a standard deviation of .27; the seeds are fixed), where the
// stop at the noise leaves it 1.5 too large. Noise that drowns the cells keeps the stop.
func TestPublishedCellsComeBack(t *testing.T) {
	truth := []float64{700, 5, 300, 5, 120, 5, 5, 450, 5, 260, 5, 140}
	for _, c := range []struct{ sigma, least, most float64 }{{3, -.5, .8}, {60, 35, 60}} {
		off := 0.0
		for seed := range uint64(20) {
			rng := rand.New(rand.NewPCG(seed, 9))
			y := make([]float64, len(truth))
			for k := range y {
				y[k] = truth[k] + math.Round(c.sigma*rng.NormFloat64())
			}
			f := front{rows: 2000, published: true, columns: make([]coded, 2),
				tables: []graphical.Table{{Vars: graphical.Set{0, 1}, Y: y, Var: repeated(c.sigma*c.sigma, len(y))}}}
			tree, err := graphical.NewTree([]int{2, 6}, []graphical.Set{{0, 1}}, graphical.Limits{Clique: 100, Total: 100})
			must(t, err)
			m, _, err := fitPublished(t.Context(), tree, f.rows, f.balanced(), nil, graphical.Options{Workers: 1})
			must(t, err)
			got, err := m.Marginal(graphical.Set{0, 1})
			must(t, err)
			for k, x := range truth {
				if x == 5 {
					off += (got[k] - 5) / 6 / 20
				}
			}
		}
		if off < c.least || off > c.most {
			t.Errorf("sigma %g: cells of 5 rows have %.2f more on average, must be within [%g, %g]", c.sigma, off, c.least, c.most)
		}
	}
}

// TestProblemsOfFilesNameLike: the table whose columns cannot be measured is that of the
// setting like; from is no setting of the kind.
func TestProblemsOfFilesNameLike(t *testing.T) {
	d := clinic()
	d.Columns[0].Bounds = nil
	s := &MarginalsFrom{Size: Size{40}, File: "x", Epsilon: 1, Unit: "a person", Noise: "gaussian", DeclaredBy: "an office"}
	_, err := s.Plan(pipeline.Headers{"like": header(d, 3)})
	if err == nil || !strings.Contains(err.Error(), "like: ") || strings.Contains(err.Error(), "from: ") {
		t.Errorf("%v, must name like", err)
	}
}
