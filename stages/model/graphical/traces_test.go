package graphical

import (
	"math"
	"testing"

	"weir/pipeline/domain"
	"weir/stages/internal/columns"
	"weir/train/histogram"
)

// TestTracesOfCounts: hand-computed logarithms of likelihoods, (y - 1/2) / sigma^2 for a canary alone in its cell and
// (y - 1) / (sigma^2 + 1/4) for each of two; a cell that others share says nothing, as does a column that is unknown.
func TestTracesOfCounts(t *testing.T) {
	m := &released{Columns: []coded{{Cells: 4, Leaves: []histogram.Leaf{{Hi: 4}}, Bins: [][2]int{{0, 1}}}},
		grids: make([]columns.Grid, 1)}
	x := measured{Columns: []int{0}, Y: []float64{9, 0.75, 2.5, 0}, Sigma: 2}
	place, counted := m.locating(x)
	if !counted {
		t.Fatal("cells are not located")
	}
	canaries := tracked{5, [][]int{{0, 1, 2, 2, -1}}}
	scores := make([]float64, 5)
	canaries.trace(x, place, tracked{1, [][]int{{0}}}, scores)
	for i, want := range []float64{0, 0.25 / 4, 1.5 / 4.25, 1.5 / 4.25, 0} {
		if math.Abs(scores[i]-want) > 1e-15 {
			t.Errorf("canary %d has %v, must have %v", i, scores[i], want)
		}
	}
	ranges := m.code(measured{Columns: []int{0}, Cells: [][2]int{{0, 2}, {3, 5}}}, 0)
	for cell, want := range []int{0, 0, -1, 1, 1, -1} {
		if got := ranges(cell); got != want {
			t.Errorf("cell %d lies in range %d, must in %d", cell, got, want)
		}
	}
	if _, counted := m.locating(measured{Columns: []int{0}, Within: []int{1}}); counted {
		t.Error("points within cells are located")
	}
}

// TestCategoriesAreKnownBySpelling: a list that was cut or turned round since the source is still understood.
func TestCategoriesAreKnownBySpelling(t *testing.T) {
	code := recoded([]string{"a", "b", "c"}, domain.Categories{"c", "a"})
	for k, want := range []float64{1, -1, 0, -1} {
		got, known := code(k)
		if known != (want >= 0) || known && got != want {
			t.Errorf("category %d has code %v (%t), must have %v", k, got, known, want)
		}
	}
}
