package graphical

import (
	"math"
	"math/rand/v2"
	"testing"

	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
	"weir/train/graphical"
	"weir/train/histogram"
)

// admitted returns 3,000 rows of days of admission and of discharge, some days later.
func admitted() pipelinetest.Input {
	d := &domain.Domain{Columns: []domain.Column{
		{Name: "admission", Type: domain.Integer, Bounds: &[2]float64{0, 99}},
		{Name: "discharge", Type: domain.Integer, Bounds: &[2]float64{0, 120}}},
		Constraints: []domain.Constraint{{Order: []string{"admission", "discharge"}}}}
	rng := rand.New(rand.NewPCG(8, 8))
	rows := make([][]any, 2)
	for range 3000 {
		day := rng.IntN(100)
		rows[0] = append(rows[0], day)
		rows[1] = append(rows[1], day+int(min(4*rng.ExpFloat64(), 20)))
	}
	return pipelinetest.Input{Header: header(d, 3000), Rows: pipelinetest.Rows(d, rows...)}
}

// TestOrderLeavesColumnsAsTheyAre: where numbers in wide bins are to be in order, no row breaks
// that, and each column has the values that its histogram says, but for 1 in 20 rows: drawing
// rows that break the rule again, without swapping first, moves 1 in 7.
func TestOrderLeavesColumnsAsTheyAre(t *testing.T) {
	s := marginalTreeKind().New().(*MarginalTree)
	s.Bins = 5
	m := attempt{stage: s, in: admitted(), multiplier: .05}.model(t)
	rec := drawRows(t, m, 3000)
	if n := broken(t, m.Domain, rec); n > 0 {
		t.Errorf("%d rows break the rule", n)
	}
	for j := range m.Columns {
		counts, err := m.model.Marginal(graphical.Set{j})
		must(t, err)
		want, off := expected(&m.Columns[j], counts), 0.0
		for _, x := range valuesOf(rec, j) {
			want[m.grids[j].Cell(x)]--
		}
		for _, short := range want {
			off += math.Abs(short) / 2
		}
		t.Logf("%s: %.1f rows elsewhere", m.Domain.Columns[j].Name, off)
		if off > 3000./20 {
			t.Errorf("%s: %.0f of 3000 rows are elsewhere than their column says", m.Domain.Columns[j].Name, off)
		}
	}
}

// expected returns the rows of each cell of a number that the counts by code have.
func expected(c *coded, counts []float64) []float64 {
	out := make([]float64, c.Cells)
	for code, bin := range c.Bins {
		leaves := c.Leaves[bin[0]:bin[1]]
		for i, share := range histogram.Shares(leaves) {
			for cell := leaves[i].Lo; cell < leaves[i].Hi; cell++ {
				out[cell] = counts[code] * share / float64(leaves[i].Hi-leaves[i].Lo)
			}
		}
	}
	return out
}
