package learn

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestStrengths: strengths are numpy.logspace(-4, 4, 20): the second is 10^(-4+8/19); the strong ones
// numpy.logspace(-4, 0, 20).
func TestStrengths(t *testing.T) {
	if c := (Search{Strong: true}).strengths(); len(c) != 20 || c[0] != 1e-4 || math.Abs(c[1]/1.623776739188721e-4-1) >
		1e-12 || c[19] != 1 {
		t.Errorf("strong strengths are %v", c)
	}
	c := Search{}.strengths()
	if len(c) != 20 || c[0] != 1e-4 || math.Abs(c[1]/2.6366508987303583e-4-1) > 1e-12 || math.Abs(c[19]/1e4-1) > 1e-12 {
		t.Errorf("strengths are %v", c)
	}
}

// TestSearchChooses: of ten columns one matters: the search must do as well as the unpenalised fit
// on fresh rows, and choose a strong penalty where nothing matters.
func TestSearchChooses(t *testing.T) {
	draw := func(seed uint64, effect float64) (Matrix, Labels) {
		rng := rand.New(rand.NewPCG(seed, 1))
		x, y := NewMatrix(400, 10), Labels{make([]int, 400), 2}
		for i := range y.Y {
			for j := range x.Cols {
				x.Cols[j][i] = rng.NormFloat64()
			}
			if rng.Float64() < Sigmoid(effect*x.Cols[0][i]) {
				y.Y[i] = 1
			}
		}
		return x, y
	}
	for _, effect := range []float64{3, 0} {
		x, y := draw(1, effect)
		s, err := Search{}.Fit(t.Context(), x, y, Run{Rand: rand.New(rand.NewPCG(3, 3)), Workers: 2})
		if err != nil {
			t.Fatal(err)
		}
		plain, err := Logistic{C: 1e4, Penalty: L2}.Fit(t.Context(), x, y, Run{Workers: 2})
		if err != nil {
			t.Fatal(err)
		}
		fresh, yf := draw(2, effect)
		if got, want := meanLoss(s.Scores(fresh), yf.Y), meanLoss(plain.Scores(fresh), yf.Y); got > want+0.01 {
			t.Errorf("effect %g: log loss %v, without penalty %v", effect, got, want)
		}
		if note := s.(*chosen).note; !strings.Contains(note, "C = ") {
			t.Errorf("the note is %q", note)
		}
	}
}

// TestStrongSearchOfSeparableRows: rows that one column parts have no optimum without a penalty; the strong search has
// one at each C.
func TestStrongSearchOfSeparableRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	x, y := NewMatrix(2000, 3), Labels{make([]int, 2000), 2}
	for i := range y.Y {
		for j := range x.Cols {
			x.Cols[j][i] = rng.Float64()
		}
		if x.Cols[0][i] > 0.5 {
			y.Y[i] = 1
		}
	}
	s, err := Search{Strong: true}.Fit(t.Context(), x, y, Run{Rand: rand.New(rand.NewPCG(3, 3)), Workers: 2})
	if err != nil || meanLoss(s.Scores(x), y.Y) > 0.2 {
		t.Errorf("%v: the loss must be small", err)
	}
}

func TestSearchNeedsRows(t *testing.T) {
	x, y := fromRows([][]float64{{1}, {2}}), Labels{[]int{0, 1}, 2}
	if _, err := (Search{}).Fit(t.Context(), x, y, Run{Rand: rand.New(rand.NewPCG(1, 1))}); err == nil {
		t.Error("two rows were parted")
	}
}
