package mixture

import (
	"fmt"
	"math"
	"testing"

	"weir/internal/stattest"
)

// goldenCase is a case of kind mixture of bayes.json.
type goldenCase struct {
	ID, Kind string
	Inputs   struct {
		Components int
		Columns    []Column
		Theta      []float64
		Rows       [][]float64
	}
	Expected struct {
		LogDensity     []float64   `json:"log_density"`
		Responsibility [][]float64 `json:"responsibility"`
		Gradient       [][]float64 `json:"gradient_of_minus_log_density"`
		LogPrior       float64     `json:"log_prior"`
		PriorGradient  []float64   `json:"gradient_of_log_prior"`
	}
}

func goldenCases(t *testing.T) []goldenCase {
	var file struct{ Cases []goldenCase }
	stattest.LoadGolden(t, "bayes.json", &file)
	return file.Cases
}

// objectiveOf returns the objective of rows of numbers under one mixture, at theta.
func objectiveOf(t *testing.T, m MixtureShape, rows [][]float64, theta []float64) *Objective {
	t.Helper()
	var columns []Values
	var places []int
	for j, c := range m.Columns {
		v := Values{}
		for i, row := range rows {
			if c.coded() {
				v.Cells = append(v.Cells, uint16(row[j]))
			} else {
				v.Cells, v.Numbers = append(v.Cells, uint16(i)), append(v.Numbers, row[j])
			}
		}
		columns, places = append(columns, v), append(places, j)
	}
	o, err := NewObjective([]Stratum{{m, places}}, columns, make([]uint16, len(rows)))
	if err != nil {
		t.Fatal(err)
	}
	o.set(theta)
	return o
}

// gradientOf returns a row's gradient in float64, its squared norm, responsibilities and log density.
func gradientOf(o *Objective, row int32) (gradient []float64, square float64, share []float64, log float64) {
	k := o.Worker(1).(*worker)
	loss := make([]float64, 1)
	k.Run(nil, []int32{row}, nil, loss)
	s := o.of[row]
	share = append(share, k.share[:o.strata[s].Components]...)
	square, _ = k.length(0)
	gradient = make([]float64, o.Params())
	k.add(0, 1)
	k.sums[s].give(k.tables[s], gradient[o.from[s]:][:o.strata[s].Params()])
	return gradient, square, share, -loss[0]
}

func near(t *testing.T, what string, got, want []float64, relative, absolute float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers, must be %d", what, len(got), len(want))
	}
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= absolute+relative*math.Abs(want[i])) {
			t.Errorf("%s: number %d is %.15g, must be %.15g", what, i, got[i], want[i])
		}
	}
}

// TestGoldenMixture: densities, responsibilities, gradients and priors of every case of
// kind mixture, at the tolerance of the file.
func TestGoldenMixture(t *testing.T) {
	seen := 0
	for _, c := range goldenCases(t) {
		if c.Kind != "mixture" {
			continue
		}
		seen++
		m := MixtureShape{c.Inputs.Components, c.Inputs.Columns}
		if err := m.Check(); err != nil || m.Params() != len(c.Inputs.Theta) {
			t.Fatalf("%s: %v, %d parameters, must be %d", c.ID, err, m.Params(), len(c.Inputs.Theta))
		}
		o := objectiveOf(t, m, c.Inputs.Rows, c.Inputs.Theta)
		for i := range c.Inputs.Rows {
			gradient, square, share, log := gradientOf(o, int32(i))
			what := fmt.Sprintf("%s row %d", c.ID, i)
			near(t, what+" log density", []float64{log}, c.Expected.LogDensity[i:i+1], 1e-9, 1e-9)
			near(t, what+" responsibility", share, c.Expected.Responsibility[i], 1e-9, 1e-9)
			near(t, what+" gradient", gradient, c.Expected.Gradient[i], 1e-9, 1e-9)
			sum := 0.0
			for _, v := range c.Expected.Gradient[i] {
				sum += v * v
			}
			near(t, what+" squared norm", []float64{square}, []float64{sum}, 1e-9, 1e-9)
		}
		prior := make([]float64, m.Params())
		UniformPrior().gradient(o.tables[0], prior, c.Inputs.Theta)
		near(t, c.ID+" gradient of the prior", prior, c.Expected.PriorGradient, 1e-9, 1e-9)
		near(t, c.ID+" prior", []float64{logPrior(UniformPrior(), m, c.Inputs.Theta)}, []float64{c.Expected.LogPrior}, 1e-9,
			1e-9)
	}
	if seen == 0 {
		t.Error("there is no case of kind mixture")
	}
}
