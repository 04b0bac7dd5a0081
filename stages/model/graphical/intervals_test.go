package graphical

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
	"weir/train/graphical"
)

// TestIntervalIsExact: an interval is as narrow as whole numbers allow and holds 95 %
// of rounded normal noise, by its distribution: P(|round(N)| <= h) = 2 Phi((h+.5)/s) - 1.
// One row less does not.
func TestIntervalIsExact(t *testing.T) {
	covers := func(h, s float64) float64 { return math.Erf((h + .5) / s / math.Sqrt2) }
	for _, s := range []float64{0.01, 0.2, 0.3, 1, 3.7, 51.9, 1e6} {
		x := measured{Y: []float64{100}, Sigma: math.Sqrt(s*s + 1./12)}
		low, high := x.interval(0)
		h := high - 100
		if 100-low != h || h != math.Trunc(h) || !(covers(h, s) >= 0.95-1e-9) || h > 0 && covers(h-1, s) >= 0.95 {
			t.Errorf("sigma %g: %g to %g holds %.4f, one row less %.4f", s, low, high, covers(h, s), covers(h-1, s))
		}
	}
	// of Laplace noise P(|X| > x) = exp(-x/b), sd b sqrt(2)
	x := measured{Y: []float64{0.5}, Sigma: 3, Noise: laplace}
	if _, high := x.interval(0); math.Abs(math.Exp(-(high-.5)/(3/math.Sqrt2))-.05) > 1e-12 {
		t.Errorf("an interval of Laplace noise goes up to %g", high)
	}
}

// TestIntervalsOfNetworksHold: the tables of a network have discrete Laplace noise, whose
// tails are longer than normal ones: by its distribution (Ghosh et al. 2009) at least 95 %
// lie inside, and one row less is not enough.
func TestIntervalsOfNetworksHold(t *testing.T) {
	for _, multiplier := range []float64{0.02, 0.1, 1} {
		m := attempt{stage: privBayesKind().New(), in: ward(200), multiplier: multiplier}.model(t)
		x := m.Measured[len(m.Measured)-1]
		low, high := x.interval(0)
		h, a := high-x.Y[0], math.Exp(-2*math.Asinh(1/(math.Sqrt2*x.Sigma)))
		beyond := func(h float64) float64 { return 2 * math.Pow(a, h+1) / (1 + a) }
		if x.Y[0]-low != h || h != math.Trunc(h) || beyond(h) > .05+1e-9 {
			t.Errorf("multiplier %g, sigma %g: %.4f lie beyond %g rows", multiplier, x.Sigma, beyond(h), h)
		}
	}
}

// TestWeightsThatNoNumberHolds are refused by the plan: a score would be none, after the
// charge.
func TestWeightsThatNoNumberHolds(t *testing.T) {
	huge := Aim{TargetWeight: 2, Workload: []Wanted{{Columns: []string{"age", "smoker"}, Weight: 1e308},
		{Columns: []string{"age", "region"}, Weight: 1e308}}}
	tree, mst, aim := marginalTreeKind().New().(*MarginalTree), mstKind().New().(*MST), aimKind().New().(*AIM)
	tree.Aim, mst.Aim, aim.Aim = huge, huge, huge
	for _, s := range []pipeline.Stage{tree, mst, aim} {
		if _, err := s.Plan(pipeline.Headers{"in": ward(40).Header}); err == nil || !strings.Contains(err.Error(),
			"workload") {
			t.Errorf("%T: %v, must be about the workload", s, err)
		}
	}
}

// TestCoverage: over 250 keys the exact intervals of every cell of a measured column
// hold its count 95 times in 100 or more, and the intervals of combined measurements nearly so.
// Half as wide they would hold 67: the bound of .93 is passed by chance at most once in
// 10^6 (5 binomial sd below .95 over 250 x 5 cells). A run's cells are independent.
func TestCoverage(t *testing.T) {
	in := small()
	truth := map[string]float64{}
	for i := range 300 {
		truth[[]string{"a", "b", "a", "b", "b", "c"}[i%6]]++
	}
	cells, inside, half := 0, 0, 0
	for key := range byte(250) {
		m := attempt{stage: independentKind().New(), in: in, multiplier: 8, key: key}.model(t)
		for _, x := range m.Measured {
			if x.Columns[0] != 1 || len(x.Y) != 5 {
				continue
			}
			for k, name := range m.Domain.Columns[1].Categories {
				low, high := x.interval(k)
				cells++
				if truth[name] >= low && truth[name] <= high {
					inside++
				}
				if math.Abs(truth[name]-x.Y[k]) <= (high-x.Y[k])/2 {
					half++
				}
			}
		}
	}
	bound := 0.95 - 5*math.Sqrt(.95*.05/float64(cells))
	if got := float64(inside) / float64(cells); cells < 250*5 || got < bound {
		t.Errorf("%.3f of %d intervals hold, must at least %.3f", got, cells, bound)
	}
	if float64(half)/float64(cells) >= bound {
		t.Error("intervals half as wide pass")
	}
}

// certain returns a model with a pair, columns of their own and one column apart.
func certain() *released {
	m := &released{Domain: &domain.Domain{}, Size: 40, Measured: []measured{
		{Columns: []int{0}, Y: []float64{10, 30}, Sigma: 2}, {Columns: []int{1}, Y: []float64{12, 8, 20}, Sigma: 3},
		{Columns: []int{0, 1}, Y: []float64{4, 2, 6, 5, 7, 11}, Sigma: 4}, {Columns: []int{2}, Y: []float64{20, 20},
			Sigma: 1}}}
	for j, n := range []int{2, 3, 2} {
		c := domain.Column{Name: fmt.Sprint("x", j), Type: domain.Categorical}
		col := coded{Cells: n}
		for k := range n {
			c.Categories = append(c.Categories, fmt.Sprint("c", k))
			col.Order, col.Bins = append(col.Order, k), append(col.Bins, [2]int{k, k + 1})
			col.Leaves = append(col.Leaves, ofCategories(noisy{make([]float64, n), 1}).Leaves[k])
		}
		m.Domain.Columns, m.Columns = append(m.Domain.Columns, c), append(m.Columns, col)
	}
	m.Model = graphical.Potentials{Domain: []int{2, 3, 2}, Total: 40, Cliques: []graphical.Set{{0, 1}, {2}}}
	if err := m.check(); err != nil {
		panic(err)
	}
	return m
}

// TestBases: a measured marginal is its own measurement; one inside is the mean by
// precision of what covers it, by hand; of columns never measured together the spread
// of copies is what is left.
func TestBases(t *testing.T) {
	m := certain()
	u := m.uncertainty()
	u.many, u.workers = 40, 1
	u.random = func(purpose string) *rand.Rand {
		return rand.New(rand.NewPCG(3, uint64(len(purpose)+int(purpose[len(purpose)-1]))))
	}
	pair, err := u.bestEstimates(t.Context(), graphical.Set{0, 1})
	must(t, err)
	if pair.basis != byMeasurement || pair.count[2] != 6 || pair.low[1] != 0 || pair.high[5] != 11+8 {
		t.Errorf("a measured pair: %+v", pair)
	}
	m.Measured = m.Measured[1:] // column 0 is inside the pair alone
	u.fresh = m.uncertainty().fresh
	inside, err := u.bestEstimates(t.Context(), graphical.Set{0})
	must(t, err)
	if want := math.Sqrt(3 * 16); inside.basis != byCombination || math.Abs(inside.count[1]-23) > 1e-12 ||
		math.Abs(inside.sigma[1]-want) > 1e-12 {
		t.Errorf("a column inside a pair: %+v, must be 12 and 23 with sigma %g", inside, want)
	}
	m.Measured = append(m.Measured, measured{Columns: []int{0}, Y: []float64{10, 30}, Sigma: 2},
		measured{Columns: []int{0}, Y: []float64{16, 26}, Sigma: 1})
	u.fresh = m.uncertainty().fresh
	several, err := u.bestEstimates(t.Context(), graphical.Set{0})
	must(t, err)
	weight := 1./48 + 1./4 + 1
	if want := (23./48 + 30./4 + 26) / weight; several.basis != byCombination || math.Abs(several.count[1]-want) > 1e-12 ||
		math.Abs(several.sigma[1]-1/math.Sqrt(weight)) > 1e-12 {
		t.Errorf("three measurements of a column: %+v, must have %g", several, want)
	}
	separate, err := u.bestEstimates(t.Context(), graphical.Set{0, 2})
	must(t, err)
	if separate.basis != byModel || math.Abs(separate.count[0]+separate.count[3]+separate.count[1]+separate.count[2]-40) >
		1e-9 ||
		!(separate.sigma[0] > 0.1) || len(u.copies) != 40 {
		t.Errorf("columns never measured together: %+v", separate)
	}
}

// TestIntervalsTable: rows and labels of the table that leaves.
func TestIntervalsTable(t *testing.T) {
	table, _ := attempt{stage: marginalTreeKind().New(), in: small(), multiplier: 0.4}.run(t)
	s := &Intervals{Marginals: [][]string{{"sick"}, {"sick", "age"}, {"region", "age", "sick"}}, Copies: 5}
	out, err := pipelinetest.Run(t, s, pipelinetest.Env(1), pipeline.Tables{"in": table})
	must(t, err)
	files, err := pipeline.ReadFiles(t.Context(), out["out"])
	must(t, err)
	lines, err := csv.NewReader(bytes.NewReader(files[0].Data)).ReadAll()
	must(t, err)
	if got := strings.Join(lines[0], " "); files[0].Name != "test.intervals.csv" ||
		got != "marginal age region sick count sigma low high below_noise basis" {
		t.Errorf("%s has columns %s", files[0].Name, got)
	}
	sums, m := map[string]float64{}, read(t, table)
	for _, line := range lines[1:] {
		count, low, high := parsed(t, line[4]), parsed(t, line[6]), parsed(t, line[7])
		sums[line[0]] += count
		if !(low <= high) || low < 0 || high < count-1e-9 || line[3] == "" || (line[0] == "1") != (line[1] == "") {
			t.Errorf("%v: %g in [%g, %g]", line, count, low, high)
		}
	}
	for of, sum := range sums {
		if math.Abs(sum-300) > 60 {
			t.Errorf("marginal %s counts %.1f rows of 300", of, sum)
		}
	}
	if want := 1 + 2 + 2*m.Columns[0].codes() + 2*m.Columns[0].codes()*m.Columns[1].codes(); len(lines) != want {
		t.Errorf("%d lines, must be %d", len(lines), want)
	}
	s.Marginals = [][]string{{"age", "sik"}, {}}
	if _, err := s.Plan(pipeline.Headers{"in": table.Header}); err == nil || !strings.Contains(err.Error(),
		"did you mean sick?") || !strings.Contains(err.Error(), "marginals[1]") {
		t.Errorf("wrong marginals: %v", err)
	}
}

func parsed(t *testing.T, text string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(text, 64)
	must(t, err)
	return x
}

// TestBelowNoise: cells whose sigma exceeds their count, by hand.
func TestBelowNoise(t *testing.T) {
	m := certain()
	m.Measured[2].Y = []float64{4, -2, 3.9, 5, 7, 0}
	got := fmt.Sprint(m.belowNoise(2))
	for _, want := range []string{"{below_noise  0.23076923076923078 3 of 13 cells; over all measured marginals}",
		"{below_noise x0, x1 0.5 3 of 6 cells; noise has a standard deviation of 4 rows}", "{below_noise x0 0 0 of 2"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s\nmust have %s", got, want)
		}
	}
}
