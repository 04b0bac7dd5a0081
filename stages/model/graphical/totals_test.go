package graphical

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"weir/pipeline/domain"
	"weir/train/graphical"
)

// TestPublicTotalsAreHeld: two totals that share a column, far from the counts of the
// table, are those of the model, and of rows to within what rounding leaves.
func TestPublicTotalsAreHeld(t *testing.T) {
	in := stays(2000)
	in.Header.Domain = in.Header.Domain.Clone()
	in.Header.Domain.Constraints = append(in.Header.Domain.Constraints,
		domain.Constraint{Total: []domain.Cell{
			{Where: map[string]domain.Choice{"ward": {"a", "b"}, "age": {"..29"}}, Count: 100},
			{Where: map[string]domain.Choice{"ward": {"a", "b"}, "age": {"30.."}}, Count: 300},
			{Where: map[string]domain.Choice{"ward": {"c", "d"}, "age": {"0.."}}, Count: 1600}}},
		domain.Constraint{Total: []domain.Cell{{Where: map[string]domain.Choice{"group": {"child"}}, Count: 80},
			{Where: map[string]domain.Choice{"group": {"adult", "senior"}}, Count: 1920}}})
	for _, multiplier := range []float64{0.05, 50} {
		m := attempt{stage: slim(marginalTreeKind())(), in: in, multiplier: multiplier}.model(t)
		ages, err := m.model.Marginal(graphical.Set{2, 4})
		must(t, err)
		young, north := 0.0, 0.0
		wards, bins := m.Columns[2].codeOf(), m.Columns[4].values(m.grids[4])
		for _, ward := range slices.Compact(wards[:2]) { // they may share a code
			for b, v := range bins {
				x := ages[int(ward)*len(bins)+b]
				if north += x; v.Ranges[0].Hi < 30 {
					young += x
				}
			}
		}
		groups, err := m.model.Marginal(graphical.Set{5})
		must(t, err)
		child := groups[m.Columns[5].codeOf()[0]]
		if math.Abs(young-100)+math.Abs(north-400)+math.Abs(child-80) > 1e-2 {
			t.Errorf("at %g: %g young and %g in all in the north, %g children; must be 100, 400 and 80", multiplier, young, north, child)
		}
		other, err := m.Copy(context.Background(), rand.New(rand.NewPCG(1, 2)), 1)
		must(t, err)
		groups, err = other.(*released).model.Marginal(graphical.Set{5})
		must(t, err)
		if child = groups[m.Columns[5].codeOf()[0]]; math.Abs(child-80) > 1e-2 {
			t.Errorf("at %g: %g children in a copy, must be 80", multiplier, child)
		}
		rec := drawn(t, m, 2000)
		if n := broken(t, m.Domain, rec); n > 0 {
			t.Errorf("at %g: %d rows break a rule", multiplier, n)
		}
		rows := 0.0
		for i := range 2000 {
			if number(rec.Column(5), i) == 0 {
				rows++
			}
		}
		if math.Abs(rows-80) > 20 {
			t.Errorf("at %g: %g children of 2000 rows, must be some 80", multiplier, rows)
		}
	}
}
