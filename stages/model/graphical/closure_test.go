package graphical

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"weir/pipeline/domain"
	"weir/train/graphical"
)

// TestClosure: the sets inside two marginals, by hand, and their weights, which are the
// workload's times the columns in common.
func TestClosure(t *testing.T) {
	list := closure([]candidate{{graphical.Set{0, 1, 3}, 1}, {graphical.Set{1, 2}, 2.5}})
	want := "[{[0] 1} {[0 1] 4.5} {[0 1 3] 5.5} {[0 3] 2} {[1] 3.5} {[1 2] 6} {[1 3] 4.5} {[2] 2.5} {[3] 1}]"
	if got := fmt.Sprint(list); got != want {
		t.Errorf("the closure is %s, must be %s", got, want)
	}
}

// TestDefaultWorkload: triples of 13 columns, 377 sets; pairs of 40; all of one and two.
func TestDefaultWorkload(t *testing.T) {
	for columns, want := range map[int][2]int{1: {1, 1}, 2: {1, 3}, 13: {286, 377}, 30: {4060, 4525}, 40: {780, 820}} {
		list := everySet(columns)
		if got := [2]int{len(list), len(inside(list))}; got != want {
			t.Errorf("%d columns: %v marginals and sets, must be %v", columns, got, want)
		}
	}
	long := candidate{first(60), 1}
	if n := len(inside([]candidate{long})); n <= mostCandidates {
		t.Errorf("a marginal of 60 columns has %d sets", n)
	}
}

// TestTargetWeight: the marginals that hold the target count so many times.
func TestTargetWeight(t *testing.T) {
	d := &domain.Domain{Columns: []domain.Column{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "d"}}}
	s := Aim{Target: "c", TargetWeight: 3}
	if got := fmt.Sprint(s.workload(d)); got != "[{[0 1 2] 3} {[0 1 3] 1} {[0 2 3] 3} {[1 2 3] 3}]" {
		t.Errorf("the workload is %s", got)
	}
	s.Workload = []Wanted{{Columns: []string{"d", "a"}, Weight: 2}, {Columns: []string{"c", "b"}}}
	if got := fmt.Sprint(s.workload(d)); got != "[{[0 3] 2} {[1 2] 3}]" {
		t.Errorf("the workload is %s", got)
	}
}

// TestFitting: what the limits leave, and what is inside a measured set whatever they
// are.
func TestFitting(t *testing.T) {
	sizes := []int{4, 5, 6}
	list := []candidate{{set: graphical.Set{0}}, {set: graphical.Set{0, 1}}, {set: graphical.Set{1, 2}},
		{set: graphical.Set{0, 1, 2}}}
	for cells, want := range map[int64]string{10: "[0 1]", 26: "[0 1]", 50: "[0 1 2]", 200: "[0 1 2 3]"} {
		measured := append(alone(3), graphical.Set{0, 1})
		if got := fmt.Sprint(fitting(sizes, measured, list, graphical.Limits{Clique: cells, Total: cells})); got != want {
			t.Errorf("%d cells: %s, must be %s", cells, got, want)
		}
	}
}

// TestPace: rounds of AIM by its published rule, with rho_used, sigma and epsilon as in
// the paper (algorithm 3 and 4): halved sigma and doubled epsilon where the model moved
// by no more than noise, all of the rest where less than two rounds are left.
func TestPace(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		columns, rho, part := 1+rng.IntN(20), math.Exp(4*rng.NormFloat64()), 0.1+0.3*rng.Float64()
		p := newPace(2*rho, columns, part)
		sigma, epsilon := math.Sqrt(16*float64(columns)/(2*(1-part)*rho)), math.Sqrt(8*part*rho/(16*float64(columns)))
		left := rho
		for last := false; !last; {
			var choice, measure float64
			choice, measure, last = p.next(2 * left)
			cost := 1/(2*sigma*sigma) + epsilon*epsilon/8
			if near := math.Abs(left-2*cost) < 1e-9*cost; last != (left < 2*cost) && !near {
				t.Fatalf("%g of %g is left with rounds of %g: the last is %v", left, rho, cost, last)
			}
			if last {
				sigma, epsilon = math.Sqrt(1/(2*(1-part)*left)), math.Sqrt(8*part*left)
			}
			if math.Abs(1/math.Sqrt(measure)-sigma) > 1e-6*sigma || math.Abs(2*math.Sqrt(choice)-epsilon) > 1e-6*epsilon {
				t.Fatalf("a round has sigma %g and epsilon %g, must have %g and %g", 1/math.Sqrt(measure), 2*math.Sqrt(choice),
					sigma, epsilon)
			}
			left -= (choice + measure) / 2
			moved := absoluteMean * sigma * 7 * rng.Float64() * 2
			p.learned(moved, sigma, 7)
			if moved <= absoluteMean*sigma*7 {
				sigma, epsilon = sigma/2, 2*epsilon
			}
		}
		if math.Abs(left) > 1e-12*rho {
			t.Fatalf("%g of %g is left", left, rho)
		}
	}
}

// TestTablesOfOneSet: two tables of a set and their mean fit alike: the sum of squares
// differs by a constant.
func TestTablesOfOneSet(t *testing.T) {
	a := graphical.Table{Vars: graphical.Set{0}, Y: []float64{3, 8}, Var: []float64{1, 4}}
	b := graphical.Table{Vars: graphical.Set{0}, Y: []float64{5, 2}, Var: []float64{3, 4}}
	m := onePerSet([]graphical.Table{a, b})[0]
	square := func(t graphical.Table, x []float64) (sum float64) {
		for i := range x {
			sum += (x[i] - t.Y[i]) * (x[i] - t.Y[i]) / t.Var[i]
		}
		return sum
	}
	base := square(a, m.Y) + square(b, m.Y)
	for _, x := range [][]float64{{0, 0}, {4, 1}, {-3, 9}} {
		if both, one := square(a, x)+square(b, x), square(m, x)+base; math.Abs(both-one) > 1e-9 {
			t.Errorf("at %v: %g and %g", x, both, one)
		}
	}
	if got := sumBySet([]graphical.Factor{{Vars: graphical.Set{0}, Log: []float64{1, 2}},
		{Vars: graphical.Set{1}, Log: []float64{9}}, {Vars: graphical.Set{0}, Log: []float64{.5, -1}}}); fmt.Sprint(got) !=
		"[{[0] [1.5 1]} {[1] [9]}]" {
		t.Errorf("factors together are %v", got)
	}
}
