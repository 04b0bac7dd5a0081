package graphical

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
	"weir/stages/internal/columns"
	"weir/train/graphical"
	"weir/train/histogram"
)

// TestGivenIsWhatWasCounted: what rare codes are given sums to what was counted of all, but to no less than a tenth of
// their standard deviations: of n counts that are T together, at sd, the mean is
// f + (T-f) Phi((T-f)/s) + s phi((T-f)/s) with s = sd sqrt(n) and f = .1 n sd. 4,000 draws of
// 16 codes at sd 50; a right mean fails at 1e-6 (5 standard errors). No count is below 0.
func TestGivenIsWhatWasCounted(t *testing.T) {
	const codes, sd, draws = 16, 50., 4000
	law := distuv.Normal{Mu: 0, Sigma: 1}
	for _, covered := range []float64{0, 7, 100} {
		rng, mean, square := rand.New(rand.NewPCG(5, uint64(covered))), 0.0, 0.0
		for range draws {
			y := make([]float64, codes)
			for i := range y {
				y[i] = covered + sd*rng.NormFloat64()
			}
			sum := 0.0
			for _, count := range posteriorMeans(y, repeated(sd, codes)) {
				if !(count >= 0) {
					t.Fatalf("a rare code is given %g", count)
				}
				sum += count
			}
			mean, square = mean+sum/draws, square+sum*sum/draws
		}
		s, f := sd*math.Sqrt(codes), .1*codes*sd
		z := (codes*covered - f) / s
		want := f + (codes*covered-f)*law.CDF(z) + s*law.Prob(z)
		if se := math.Sqrt((square - mean*mean) / draws); math.Abs(mean-want) > 5*se {
			t.Errorf("%d codes of %g rows are given %.1f together, must be %.1f (standard error %.1f)", codes, covered, mean,
				want,
				se)
		}
	}
}

// flags returns 1,600 rows of flags of which 8 are yes in each, and a number.
func flags(columns int) pipelinetest.Input {
	d := &domain.Domain{}
	var values [][]any
	for j := range columns {
		d.Columns = append(d.Columns, domain.Column{Name: string(rune('a' + j)), Type: domain.Boolean,
			Categories: []string{"no", "yes"}})
		column := make([]any, 1600)
		for i := range column {
			column[i] = []string{"no", "yes"}[map[bool]int{true: 1}[i%200 == j]]
		}
		values = append(values, column)
	}
	return pipelinetest.Input{Header: header(d, 1600), Rows: pipelinetest.Rows(d, values...)}
}

// TestRareFlagsKeepTheirSum: sixteen flags of 8 rows under a noise of 28 (sqrt(2) 5 4): the mean of their sum
// over 40 releases is what they have, 128, by no more than 5 standard errors (an alarm at 1e-6) and what the
// floor of a tenth of a standard deviation adds, 15 by the formula above. Fitted to the noisy counts
// themselves the model has more than twice as many.
func TestRareFlagsKeepTheirSum(t *testing.T) {
	in, mean, square := flags(16), 0.0, 0.0
	const releases = 40
	for key := range byte(releases) {
		m := attempt{stage: independentKind().New(), in: in, multiplier: 5, key: key}.model(t)
		sum := 0.0
		for j := range m.Columns {
			counts, err := m.model.Marginal(graphical.Set{j})
			must(t, err)
			sum += counts[m.Columns[j].codeOf()[1]]
		}
		mean, square = mean+sum/releases, square+sum*sum/releases
	}
	se := math.Sqrt((square - mean*mean) / releases)
	t.Logf("%.1f rows, standard error %.1f", mean, se)
	if mean < 128-5*se || mean > 128+15+5*se || se > 20 {
		t.Errorf("flags of 128 rows have %.1f in the model (standard error %.1f)", mean, se)
	}
}

// TestModelHasItsColumns: the model of every kind that fits one has the counts of columns that
// were estimated before, to met of the rows.
func TestModelHasItsColumns(t *testing.T) {
	for _, stage := range []pipeline.Stage{marginalTreeKind().New(), independentKind().New(), mstKind().New()} {
		m := attempt{stage: stage, in: ward(3000), multiplier: 2}.model(t)
		ones, _ := m.front().ones()
		for _, one := range ones {
			got, err := m.model.Marginal(one.Vars)
			must(t, err)
			for k := range got {
				if math.Abs(got[k]-one.Y[k]) > 2*met*3000 {
					t.Errorf("%T: code %d of column %d has %g rows, must have %g", stage, k, one.Vars[0], got[k], one.Y[k])
				}
			}
		}
	}
}

// TestRowsLieInIntervals: rows that are drawn of a model lie in the 95 % intervals that leave
// with it, but for 1 in 20 of all cells at most: the fit explains each measurement by its noise.
func TestRowsLieInIntervals(t *testing.T) {
	const rows = 4000
	for name, stage := range map[string]pipeline.Stage{treeName: marginalTreeKind().New(),
		independentName: independentKind().New(), mstName: mstKind().New()} {
		all, outside := 0, 0
		for key := range byte(5) {
			m := attempt{stage: stage, in: ward(rows), multiplier: 2, key: key}.model(t)
			codes, sizes := codesOf(t, m, rows), m.Model.Domain
			for _, x := range m.Measured {
				counts := countsOf(m, x, codes, sizes)
				for k, n := range counts {
					low, high := x.interval(k)
					if all++; n < low || n > high {
						outside++
					}
				}
			}
		}
		t.Logf("%s: %d of %d cells", name, outside, all)
		if float64(outside) > .05*float64(all) {
			t.Errorf("%s: %d of %d cells lie outside of their intervals", name, outside, all)
		}
	}
}

// codesOf returns the cells of rows that are drawn of a model, by column.
func codesOf(t *testing.T, m *released, rows int) [][]uint16 {
	read, err := columns.ReadCodes(t.Context(), pipeline.FromRecords(header(m.Domain, rows), drawRows(t, m, rows)),
		m.grids)
	must(t, err)
	return read.Columns
}

// countsOf returns the rows in each cell of a measurement that is not one of points within cells.
func countsOf(m *released, x measured, cells [][]uint16, sizes []int) []float64 {
	counts := make([]float64, len(x.Y))
	if x.Within != nil {
		return nil
	}
	if x.Cells != nil {
		for k, r := range x.Cells {
			for _, cell := range cells[x.Columns[0]] {
				if int(cell) >= r[0] && int(cell) < r[1] {
					counts[k]++
				}
			}
		}
		return counts
	}
	codeOf := make([][]uint16, len(sizes))
	for _, j := range x.Columns {
		codeOf[j] = m.Columns[j].codeOf()
	}
	for i := range cells[0] {
		k := 0
		for _, j := range x.Columns {
			code := cells[j][i]
			if len(x.Columns) > 1 || len(x.Y) != m.Columns[j].Cells {
				code = codeOf[j][code]
			}
			k = k*sizes[j] + int(code)
		}
		counts[k]++
	}
	return counts
}

// TestRareCodesAreCalibrated draws 200 populations of 10,000 rows, each with sixteen flags of 1 to 30 rows and eight
// numbers that lack 1 to 30 values, and releases each once at a noise of 30, which drowns most of these. Which codes
// are rare is read off the noise, and their sum has no bias by it: its mean error is 0 by no more than 5 standard
// errors (an alarm at 1e-6). The nearest counts that are not negative, of each column alone, add a hundred rows.
func TestRareCodesAreCalibrated(t *testing.T) {
	const populations, rows, sd = 200, 10_000, 30.
	flag, number := &coded{Order: []int{0, 1}}, &coded{Bins: make([][2]int, 20)}
	var ours, alone []float64
	for k := range populations {
		rng := rand.New(rand.NewPCG(17, uint64(k)))
		covered, nearest := 0., 0.
		var all []lone
		for j := range 24 {
			column, codes := flag, 2
			if j >= 16 {
				column, codes = number, 21
			}
			few := float64(1 + rng.IntN(30))
			one := lone{y: repeated((rows-few)/float64(codes-1), codes), variance: repeated(sd*sd, codes)}
			one.y[codes-1] = few
			for i := range one.y {
				one.y[i] += sd * rng.NormFloat64()
			}
			one.y = summingTo(one.y, one.variance, rows)
			one.rare = column.rare(one.y, one.variance)
			nearest += histogram.Nearest(one.y, one.variance, rows)[codes-1] - few
			all, covered = append(all, one), covered+few
		}
		settleRare(all)
		got := 0.
		for _, one := range all {
			got += one.summing(rows)[len(one.y)-1]
		}
		ours, alone = append(ours, got-covered), append(alone, nearest)
	}
	bias, se := spread(ours)
	other, _ := spread(alone)
	t.Logf("off by %.2f rows, standard error %.2f; nearest counts %.2f", bias, se, other)
	if math.Abs(bias) > 5*se {
		t.Errorf("rare codes are off by %.2f rows together (standard error %.2f)", bias, se)
	}
	if math.Abs(other) < 5*se {
		t.Errorf("the nearest counts are off by %.2f rows only: the test tells nothing", other)
	}
}

func spread(x []float64) (mean, se float64) {
	mean, sd := stat.MeanStdDev(x, nil)
	return mean, sd / math.Sqrt(float64(len(x)))
}
