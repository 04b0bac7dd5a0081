package graphical

import (
	"context"
	"math"
	"strings"
	"testing"
)

// TestContradictoryMasks: masks that leave no row are an error, whether one does or
// two do together.
func TestContradictoryMasks(t *testing.T) {
	dom := []int{2, 2, 2}
	tree, err := NewTree(dom, []Set{{0, 1}, {1, 2}}, DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	one := Mask{Vars: Set{0, 1}, Forbidden: []bool{true, false, true, false}}
	two := Mask{Vars: Set{1, 2}, Forbidden: []bool{false, false, true, true}}
	for _, masks := range [][]Mask{{one, two}, {{Vars: Set{0}, Forbidden: []bool{true, true}}}} {
		if _, _, err := Fit(context.Background(), tree, 10, nil, masks, Options{}); err == nil || !strings.Contains(err.Error(), "masks") {
			t.Errorf("the error is %v, must name the masks", err)
		}
	}
	if _, _, err := Fit(context.Background(), tree, 10, nil, []Mask{one}, Options{}); err != nil {
		t.Error(err)
	}
}

// TestExactTables: tables of variance 0 are met, beside noisy ones that say otherwise,
// under both stops; exact tables that contradict each other are an error.
func TestExactTables(t *testing.T) {
	dom := []int{2, 3, 2}
	tree, err := NewTree(dom, []Set{{0, 1}, {1, 2}}, DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	exact := Table{Vars: Set{1}, Y: []float64{70, 0, 30}, Var: make([]float64, 3)}
	noisy := Table{Vars: Set{0, 1}, Y: []float64{10, 20, 30, 10, 20, 10}, Var: []float64{4, 4, 4, 4, 4, math.Inf(1)}}
	for _, stop := range []float64{0, -1} {
		m, r, err := Fit(context.Background(), tree, 100, []Table{exact, noisy}, nil, Options{Stop: stop})
		if err != nil {
			t.Fatal(err)
		}
		got, err := m.Marginal(Set{1})
		if d := worst(t, got, exact.Y); err != nil || d > 1e-6 {
			t.Errorf("stop %g: the exact table is %v (%+v), must be %v", stop, got, r, exact.Y)
		}
		if p := m.LogProb([]uint16{0, 1, 0}); !math.IsInf(p, -1) {
			t.Errorf("a row of an empty cell has log probability %g", p)
		}
	}
	other := Table{Vars: Set{1, 2}, Y: []float64{50, 10, 0, 0, 20, 20}, Var: make([]float64, 6)}
	if _, _, err := Fit(context.Background(), tree, 100, []Table{exact, other}, nil, Options{}); err == nil {
		t.Error("contradictory exact tables are taken")
	}
}
