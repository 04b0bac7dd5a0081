package prep

import (
	"math/rand/v2"
	"testing"

	"weir/pipeline/domain"
	"weir/stages/internal/columns"
)

// TestGridValuesAreRestored: what a marginal model draws from the grid of a column is what the column can hold:
// bringing it back to the column's step and bounds changes nothing.
func TestGridValuesAreRestored(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, kind := range []domain.ColumnType{domain.Numeric, domain.Integer, domain.Date} {
		for _, bounds := range [][2]float64{{0, 1}, {-7, 1e6}, {.5, 99.5}, {.05, 12.7}, {-1e12, 1e12}, {1e-3, 2}} {
			for _, step := range []float64{0, .1, .001, .25, .3, 1. / 3, 1, 2.5, 3, 7, 1000} {
				c := domain.Column{Name: "x", Type: kind, Bounds: &bounds, Step: step}
				g, err := columns.GridOf(c)
				if err != nil {
					t.Fatal(err)
				}
				back := restoring(c)
				for i := range 2000 {
					cell := rng.IntN(g.Values())
					if i < 2 {
						cell = i * (g.Values() - 1) // both ends
					}
					if x := g.Value(cell, rng); back.value(x) != x {
						t.Fatalf("%s in %v by %v: %v is restored to %v", kind, bounds, step, x, back.value(x))
					}
				}
			}
		}
	}
}
