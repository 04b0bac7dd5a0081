package source

import (
	"math"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/array"
	"gonum.org/v1/gonum/mat"
)

// TestARDHasPublishedCounts: rows, deaths and cases of Jälkö et al. 2021, within 6 standard
// deviations of a Poisson count and 1 % that printed shares leave (false alarm below 1e-8).
func TestARDHasPublishedCounts(t *testing.T) {
	s := drawnStudy(t)
	for sex, want := range [2]struct {
		rows, dead float64
		cases      [4]float64
	}{{208148, 40391, [4]float64{137, 254, 12, 117}}, {226372, 44789, [4]float64{714, 1052, 66, 480}}} {
		close := func(what string, got, want float64) {
			t.Helper()
			if math.Abs(got-want) > 6*math.Sqrt(want)+0.01*want {
				t.Errorf("sex %d: %s: %g, must be near %g", sex, what, got, want)
			}
		}
		close("rows", s.rows[sex], want.rows)
		close("dead", s.dead[sex], want.dead)
		for d := range 4 {
			close("cases", s.cases[sex][d], want.cases[d])
		}
	}
	if s.broken > 0 {
		t.Errorf("%d rows break a structural zero", s.broken)
	}
}

// TestARDRegressionFindsItsTruth: the Poisson regression that the paper runs, at its
// maximum, is within 6 standard errors of every planted coefficient (false alarm below 1e-7
// in all), and its standard errors of the drugs are near the printed ones.
func TestARDRegressionFindsItsTruth(t *testing.T) {
	s, sexes := drawnStudy(t), ardSexes()
	key, _ := hazards()
	printed := [2][3]float64{{.108, .304, .135}, {.049, .129, .063}}
	for sex := range 2 {
		beta, se := s.poisson(t, sex)
		truth := append([]float64{sexes[sex].intercept + key.age[0]}, sexes[sex].effect[1:]...)
		for _, a := range key.age[1:] {
			truth = append(truth, a-key.age[0])
		}
		truth = append(truth, key.perYear, key.statin, key.cancer, key.g03)
		for j := range beta {
			if math.Abs(beta[j]-truth[j]) > 6*se[j] {
				t.Errorf("sex %d: coefficient %d is %.3f +- %.3f, the truth is %.3f", sex, j, beta[j], se[j], truth[j])
			}
		}
		for j, want := range printed[sex] {
			if got := se[1+j]; got < 0.6*want || got > 1.8*want {
				t.Errorf("sex %d: standard error of drug %d is %.3f, printed is %.3f", sex, j, got, want)
			}
		}
	}
}

type cell struct{ sex, drug, age, year, statin, g03, cancer int32 }

// study holds what a Poisson regression needs of the rows.
type study struct {
	rows, dead   [2]float64
	cases        [2][4]float64
	events, time map[cell]float64
	broken       int
}

func drawnStudy(t *testing.T) *study {
	r, _ := collect(t, "ard", 0, 7, nil)
	code := func(j int) []int32 { return r.Column(j).(*array.Int32).Int32Values() }
	s := &study{events: map[cell]float64{}, time: map[cell]float64{}}
	year, duration := r.Column(4).(*array.Int64).Int64Values(), r.Column(8).(*array.Float64).Float64Values()
	sex, dead, drug, age, statin, g03, cancer, ard := code(0), code(1), code(2), code(3), code(5), code(6), code(7),
		code(9)
	for i := range sex {
		k := cell{sex[i], drug[i], age[i], int32(year[i]) - firstYear, statin[i], g03[i], cancer[i]}
		s.rows[sex[i]]++
		s.dead[sex[i]] += float64(dead[i])
		s.cases[sex[i]][drug[i]] += float64(ard[i])
		s.events[k] += float64(ard[i])
		s.time[k] += duration[i]
		if dead[i] == 0 && (ard[i] == 1 || duration[i] != 1) || sex[i] == 1 && g03[i] == 1 || !(duration[i] >= 0.001 &&
			duration[i] <= 1) {
			s.broken++
		}
	}
	return s
}

// row returns the intercept, drugs, ages, year, statin, cancer and, for women, g03.
func (k cell) row() []float64 {
	x := make([]float64, 12+1-k.sex)
	x[0] = 1
	if k.drug > 0 {
		x[k.drug] = 1
	}
	if k.age > 0 {
		x[3+k.age] = 1
	}
	x[9], x[10], x[11] = float64(k.year), float64(k.statin), float64(k.cancer)
	if k.sex == 0 {
		x[12] = float64(k.g03)
	}
	return x
}

// poisson maximises the likelihood by Newton's method.
func (s *study) poisson(t *testing.T, sex int) (beta, se []float64) {
	d := 13 - sex
	b := mat.NewVecDense(d, nil)
	b.SetVec(0, -5)
	var h *mat.SymDense
	for range 25 {
		h = mat.NewSymDense(d, nil)
		g := mat.NewVecDense(d, nil)
		for k, time := range s.time {
			if int(k.sex) != sex {
				continue
			}
			x := mat.NewVecDense(d, k.row())
			mu := time * math.Exp(mat.Dot(x, b))
			g.AddScaledVec(g, s.events[k]-mu, x)
			h.SymRankOne(h, mu, x)
		}
		var step mat.VecDense
		if err := step.SolveVec(h, g); err != nil {
			t.Fatal(err)
		}
		b.AddVec(b, &step)
	}
	var inverse mat.Dense
	if err := inverse.Inverse(h); err != nil {
		t.Fatal(err)
	}
	for j := range d {
		se = append(se, math.Sqrt(inverse.At(j, j)))
	}
	return b.RawVector().Data, se
}
