package graphical

import (
	"math"
	"testing"

	"weir/pipeline"
	"weir/stages/internal/columns"
)

// TestRoot: what a tree divides is exact only where its number is public: of a column that
// may miss values it is the rows less the noisy count of missing ones.
func TestRoot(t *testing.T) {
	for _, c := range []struct {
		rows           float64
		nullable       bool
		want, variance float64
	}{{100, false, 100, 0}, {100, true, 70, 4}, {0, false, 90, math.Inf(1)}, {0, true, 90, math.Inf(1)}} {
		grid, err := columns.GridOf(pipeline.Column{Name: "x", Type: pipeline.Integer, Bounds: &[2]float64{0, 9999}, Nullable: c.nullable})
		must(t, err)
		o := oneWay{grid: grid, rows: c.rows, missing: 30, level: noisy{Variance: 4}}
		if rows, variance := o.root(90); rows != c.want || variance != c.variance {
			t.Errorf("%+v: %g of variance %g", c, rows, variance)
		}
	}
}
