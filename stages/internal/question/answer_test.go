package question

import (
	"math"
	"math/rand/v2"
	"testing"

	"weir/internal/stattest"
	"weir/stages/internal/columns"
)

// table returns 500 rows with related columns; x is rare in one category.
func table() *columns.Frame {
	rng := rand.New(rand.NewPCG(3, 4))
	rows, c := make([][3]float64, 500), make([]int32, 500)
	for i := range rows {
		x := rng.Float64()
		rows[i], c[i] = [3]float64{x, x * x, float64(i % 2)}, int32(rng.IntN(3))
	}
	return frame(rows, c)
}

// TestExactAnswers: without noise answers equal the closed forms, up to the rounding
// of values to 2^-20 (products to 2^-16) of half a range.
func TestExactAnswers(t *testing.T) {
	f := table()
	x, c := f.Column("x").Numbers, f.Column("c").Codes
	n, sum, cells := 0.0, 0.0, [3]float64{}
	for i := range x {
		cells[c[i]]++
		if c[i] < 2 {
			n, sum = n+1, sum+x[i]
		}
	}
	q := questions()
	check(t, "count", answersOf(t, q["count"], f), []float64{n}, 0)
	check(t, "histogram", answersOf(t, q["histogram"], f), cells[:], 0)
	check(t, "mean", answersOf(t, q["mean"], f), []float64{sum / n}, 1e-6)
	var want []float64
	for j := range 3 {
		for l := j; l < 3; l++ {
			want = append(want, covariance(f.Columns[j].Numbers, f.Columns[l].Numbers))
		}
	}
	cov := q["covariance"]
	check(t, "covariance", answersOf(t, cov, f), want, 2e-5)
	cov.Rows = int64(f.Rows)
	check(t, "covariance of a public number of rows", cov.Read(tally(t, cov, f), 0), want, 2e-5)
	check(t, "scatter", cov.ReadScatter(scatter(t, cov, f), 0), want, 5e-5)
}

func check(t *testing.T, what string, got []Answer, want []float64, within float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d answers, must be %d", what, len(got), len(want))
	}
	for i, a := range got {
		if math.Abs(a.Value-want[i]) > within || a.Low > a.Value || a.High < a.Value || a.High-a.Low > 0 {
			t.Errorf("%s %s: %.9g in [%.9g, %.9g], must be %.9g", what, a.Cell, a.Value, a.Low, a.High, want[i])
		}
	}
}

// covariance returns the definition, over n.
func covariance(x, y []float64) float64 {
	mx, my, sum := 0.0, 0.0, 0.0
	for i := range x {
		mx, my = mx+x[i]/float64(len(x)), my+y[i]/float64(len(x))
	}
	for i := range x {
		sum += (x[i] - mx) * (y[i] - my)
	}
	return sum / float64(len(x))
}

// TestIntervalsHold: over 4,000 releases 95 in 100 intervals of each answer hold the answer of the
// table, or more: a binomial test at 1e-6 an answer. Noise of 10 rows, which is much of 500
// and hides none of them. Counts, and means over a public number of rows, are exact: their
// intervals hold in 97 of 100 at most; intervals for 90 % fail.
func TestIntervalsHold(t *testing.T) {
	f, rng := table(), rand.New(rand.NewPCG(5, 6))
	for name, a := range questions() {
		if name == "whole mean" {
			a.Rows = int64(f.Rows)
		}
		tally, unit := tally(t, a, f), 1.0
		switch a.Ask {
		case Mean:
			unit = Unit
		case Covariance:
			unit = square
		}
		covers := countCovered(rng, tally, 10*unit, a.Read(tally, 0), a.Read)
		for i, k := range covers {
			exact := a.Ask == Count || a.Ask == Histogram || name == "whole mean"
			if stattest.Binomial(k, releases, 0.95) < 1e-6 && (exact || float64(k) < 0.95*releases) {
				t.Errorf("%s: answer %d of %d intervals holds in %d of %d releases", name, i, len(covers), k, releases)
			}
		}
	}
	a := questions()["covariance"]
	a.Rows = int64(f.Rows)
	for i, k := range countCovered(rng, scatter(t, a, f), 10*square, a.ReadScatter(scatter(t, a, f), 0), a.ReadScatter) {
		if stattest.Binomial(k, releases, 0.95) < 1e-6 && float64(k) < 0.95*releases {
			t.Errorf("scatter: interval %d holds in %d of %d releases", i, k, releases)
		}
	}
}

const releases = 4000

// countCovered counts the releases in which each interval holds the exact answer.
func countCovered(rng *rand.Rand, tally []int64, sigma float64, exact []Answer,
	read func([]int64, float64) []Answer) []int {
	covers := make([]int, len(exact))
	for range releases {
		noisy := make([]int64, len(tally))
		for i, x := range tally {
			noisy[i] = x + int64(math.RoundToEven(sigma*rng.NormFloat64()))
		}
		for i, a := range read(noisy, sigma) {
			if a.Low <= exact[i].Value && exact[i].Value <= a.High {
				covers[i]++
			}
		}
	}
	return covers
}

// TestFewRows: rows that noise hides, and none, give everything that is possible, and no
// number that is none but for the mean of no row at all.
func TestFewRows(t *testing.T) {
	empty := frame(nil, nil)
	for name, a := range questions() {
		for _, x := range a.Read(tally(t, a, empty), 1e7) {
			if math.IsNaN(x.Value) || !(x.Low <= x.High) || math.IsInf(x.High, 0) {
				t.Errorf("%s of no rows: %+v", name, x)
			}
		}
	}
	mean := questions()["mean"]
	if x := mean.Read(tally(t, mean, empty), 1e7)[0]; x.Low != 0 || x.High != 1 || x.Note == "" {
		t.Errorf("the mean of no rows is %+v, must be anything between the bounds", x)
	}
	if x := answersOf(t, mean, empty)[0]; !math.IsNaN(x.Value) || x.Note == "" {
		t.Errorf("the exact mean of no rows is %+v", x)
	}
}

// TestQuantiles: the definition, and missing values have no rank.
func TestQuantiles(t *testing.T) {
	list := []float64{5, math.NaN(), 1, 3, 2, 4, math.NaN()}
	for q, want := range map[float64]float64{0.5: 3, 0.2: 1, 0.21: 2, 0.99: 5} {
		a := Resolved{Question: Question{Ask: Quantile, Quantile: q}}
		if got := a.exactQuantile(list).Value; got != want {
			t.Errorf("the %g quantile is %g, must be %g", q, got, want)
		}
	}
}
