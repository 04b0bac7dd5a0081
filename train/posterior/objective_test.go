package posterior

import (
	"math"
	"testing"
)

// tests rows of every(): one of usual values, one without its Beta number, one at the ends.
func rowsOfEvery() [][]float64 {
	return [][]float64{{1, 2, 0.3, -0.4, 2, 0}, {0, 3, math.NaN(), 1.5, 0, 0}, {1, 0, 1e-6, -1, 40, 0}}
}

// TestGradientIsThatOfTheDensity: of every family, against central differences, and the
// squared norm is that of the gradient.
func TestGradientIsThatOfTheDensity(t *testing.T) {
	m := every()
	for seed := range uint64(3) {
		theta := somewhere(m.Params(), seed)
		o := objectiveOf(t, m, rowsOfEvery(), theta)
		for row := range int32(3) {
			gradient, square, _, _ := gradientOf(o, row)
			want := differences(theta, func() float64 {
				o.set(theta)
				_, _, _, log := gradientOf(o, row)
				return -log
			})
			o.set(theta)
			near(t, "gradient", gradient, want, 1e-6, 1e-6)
			sum := 0.0
			for _, v := range gradient {
				sum += v * v
			}
			near(t, "squared norm", []float64{square}, []float64{sum}, 1e-12, 1e-12)
		}
	}
}

// TestAbsentNumberSaysNothing: the density of a row without its Beta number is the sum over
// what it could have been, so that of the mixture without the column.
func TestAbsentNumberSaysNothing(t *testing.T) {
	m := Mixture{2, []Column{{Family: Bernoulli}, {Family: Beta}}}
	theta := []float64{0.3, 1, 0.2, 0.4, -1, 0.7, -0.3}
	_, _, _, log := gradientOf(objectiveOf(t, m, [][]float64{{1, math.NaN()}}, theta), 0)
	_, _, _, without := gradientOf(objectiveOf(t, Mixture{2, m.Columns[:1]}, [][]float64{{1}}, []float64{0.3, 1, -1}), 0)
	near(t, "log density", []float64{log}, []float64{without}, 1e-15, 0)
}

// strataOf is two strata: the second has no Beta column.
func strataOf(t *testing.T) *Objective {
	m := Mixture{2, []Column{{Family: Bernoulli}, {Family: Beta}}}
	values := []Values{{Cells: []uint16{0, 1, 1, 0}}, {Cells: []uint16{0, 1, 2, 0}, Numbers: []float64{0.2, 0.5, 0.9}}}
	o, err := New([]Stratum{{m, []int{0, 1}}, {Mixture{2, m.Columns[:1]}, []int{0}}}, values, []uint16{0, 1, 0, 1})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// TestStrataAreApart: a row's gradient is that of its own stratum, and zero elsewhere; what
// is fixed there has no parameter.
func TestStrataAreApart(t *testing.T) {
	o := strataOf(t)
	if o.Params() != 7+3 {
		t.Fatalf("%d parameters, must be 10", o.Params())
	}
	theta := somewhere(10, 4)
	o.set(theta)
	for row, stratum := range []int{0, 1, 0, 1} {
		gradient, _, _, _ := gradientOf(o, int32(row))
		for i, v := range gradient {
			if own := i < 7 == (stratum == 0); own == (v == 0) {
				t.Errorf("row %d of stratum %d: gradient %d is %g", row, stratum, i, v)
			}
		}
	}
}

// TestWorkerIsTheSumOfRows: a chunk's scaled sum is that of its rows' gradients, to the last
// bits of float32; rows of all strata, some not at all.
func TestWorkerIsTheSumOfRows(t *testing.T) {
	o := strataOf(t)
	w := make([]float32, o.Params())
	for i, v := range somewhere(len(w), 4) {
		w[i] = float32(v)
	}
	o.Prepare(w)
	index, scale := []int32{3, 0, 2, 1, 2}, []float32{0.5, 1, 0, 0.25, 1}
	want := make([]float64, len(w))
	for i, row := range index {
		g, _, _, _ := gradientOf(o, row)
		for j, v := range g {
			want[j] += float64(scale[i]) * v
		}
	}
	k, got := o.Worker(8), make([]float32, len(w))
	k.Run(w, index, nil, nil)
	k.Accumulate(got, scale)
	for j := range want {
		near(t, "sum", []float64{float64(got[j])}, want[j:j+1], 1e-6, 1e-7)
	}
}

// TestRefusesWhatIsNoRow: codes, strata and numbers that no row can have.
func TestRefusesWhatIsNoRow(t *testing.T) {
	beta, coin := Mixture{1, []Column{{Family: Beta}}}, Mixture{1, []Column{{Family: Bernoulli}}}
	for name, c := range map[string]struct {
		m  Mixture
		v  Values
		of uint16
	}{
		"a code":          {coin, Values{Cells: []uint16{2}}, 0},
		"a stratum":       {coin, Values{Cells: []uint16{1}}, 1},
		"a Beta number":   {beta, Values{Cells: []uint16{0}, Numbers: []float64{1}}, 0},
		"a missing row":   {coin, Values{}, 0},
		"no components":   {Mixture{0, coin.Columns}, Values{Cells: []uint16{1}}, 0},
		"another family":  {Mixture{1, []Column{{Family: "gamma"}}}, Values{Cells: []uint16{1}}, 0},
		"no categories":   {Mixture{1, []Column{{Family: Categorical}}}, Values{Cells: []uint16{0}}, 0},
		"a negative rate": {Mixture{1, []Column{{Family: Poisson}}}, Values{Cells: []uint16{0}, Numbers: []float64{-1}}, 0},
	} {
		if _, err := New([]Stratum{{c.m, []int{0}}}, []Values{c.v}, []uint16{c.of}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	two := []Stratum{{coin, []int{0}}, {Mixture{1, []Column{{Family: Categorical, Categories: 3}}}, []int{0}}}
	if _, err := New(two, []Values{{Cells: []uint16{1}}}, []uint16{0}); err == nil || err.Error() != "stratum 1: column 0: is categorical, must be bernoulli as in an earlier stratum" {
		t.Errorf("a column that is another one in a second stratum: %v", err)
	}
	two[1] = two[0]
	if _, err := New(two, []Values{{Cells: []uint16{1}}}, []uint16{1}); err != nil {
		t.Errorf("a column of two strata: %v", err)
	}
}
