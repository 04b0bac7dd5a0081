package graphical

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"weir/internal/stattest"
	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
	"weir/stages/internal/columns"
	"weir/train/graphical"
)

// truePairs returns the total variations between the table and the model, of each scored pair.
func truePairs(t testing.TB, m *released, in pipelinetest.Input) (list []float64) {
	t.Helper()
	read, err := columns.ReadCodes(t.Context(), pipeline.FromRecords(in.Header, in.Rows), m.grids)
	must(t, err)
	for j := range m.Columns {
		to := m.Columns[j].codeOf()
		for i, cell := range read.Columns[j] {
			read.Columns[j][i] = to[cell]
		}
	}
	for _, pair := range m.Scored.Pairs {
		counts, err := countedWhole(read.Columns, m.Model.Domain, [][]int{pair[:]}, 1)
		must(t, err)
		table, err := m.model.Marginal(graphical.Set{pair[0], pair[1]})
		must(t, err)
		sum := 0.0
		for k, x := range counts[0] {
			sum += math.Abs(float64(x)/float64(in.Rows.NumRows())-table[k]/m.Model.Total) / 2
		}
		list = append(list, sum)
	}
	return list
}

// failing returns how many of the bounds of a model do not hold.
func failing(t testing.TB, m *released, in pipelinetest.Input) (n int) {
	t.Helper()
	for i, truth := range truePairs(t, m, in) {
		if low, high, known := m.Scored.bounds(i, m.Model.Total); known && !(truth >= low-1e-12 && truth <= high+1e-12) {
			n++
		}
	}
	return n
}

// TestBoundsShareTheirError: by tables of the normal law, .05 on two sides of one bound and of two is 1.9600 and
// 2.2414.
func TestBoundsShareTheirError(t *testing.T) {
	for _, c := range []struct {
		of   pairBounds
		want float64
	}{{pairBounds{Pairs: make([][2]int, 1)}, 1.9600}, {pairBounds{Pairs: make([][2]int, 2)}, 2.2414},
		{pairBounds{Pairs: make([][2]int, 1), Rows: 3}, 2.2414}} {
		if z := c.of.z(); math.Abs(z-c.want) > 5e-5 {
			t.Errorf("%d pairs, rows known to %g: z is %g, must be %g", len(c.of.Pairs), c.of.Rows, z, c.want)
		}
	}
}

// TestBoundsHoldTogether: over 100 releases of a table whose columns hang together all bounds of its ten pairs hold in
// all but at most 19, which where each release fails with a probability of .05 happens with one of 5e-7 or less; of
// rows that are public and of rows that are not. With an eighth of the noise the same bounds fail more often than
// that.
func TestBoundsHoldTogether(t *testing.T) {
	const most = 19
	rng := rand.New(rand.NewPCG(5, 4))
	data, sizes := make([][]int, 5), []int{4, 3, 5, 2, 4}
	for range 3000 {
		k := rng.IntN(4)
		for j, n := range sizes {
			data[j] = append(data[j], (k*(j+1)/2+rng.IntN(1+rng.IntN(3)))%n)
		}
	}
	for what, in := range map[string]pipelinetest.Input{"public": table(sizes, data...),
		"private": private(table(sizes, data...))} {
		failed, narrow := 0, 0
		for key := range uint32(100) {
			m := attempt{stage: marginalTreeKind().New(), in: in, multiplier: 4, keys: key}.model(t)
			if failing(t, m, in) > 0 {
				failed++
			}
			if m.Scored.Sigma, m.Scored.Rows = m.Scored.Sigma/8, m.Scored.Rows/8; failing(t, m, in) > 0 {
				narrow++
			}
		}
		t.Logf("%s rows: bounds fail in %d of 100 releases, with an eighth of the noise in %d", what, failed, narrow)
		if failed > most || narrow <= most {
			t.Errorf("%s rows: bounds fail in %d releases, must in at most %d; with an eighth of the noise in %d, must in more",
				what, failed, most, narrow)
		}
	}
}

// TestBoundsHoldOnAdult: all bounds of the 78 pairs hold at once in at least 95 of 100 releases of Adult at epsilon 1.
func TestBoundsHoldOnAdult(t *testing.T) {
	in := adult(t)
	releases, failed, wide := stattest.Rounds(1, 100), 0, 0.0
	for key := range uint32(releases) {
		m := attempt{stage: marginalTreeKind().New(), in: in, multiplier: 2 / .26805, keys: key, workers: 2}.model(t)
		if len(m.Scored.Pairs) != 78 {
			t.Fatalf("%d pairs are scored, must be 78", len(m.Scored.Pairs))
		}
		if n := failing(t, m, in); n > 0 {
			failed++
			t.Logf("release %d: %d bounds do not hold", key, n)
		}
		truth := truePairs(t, m, in)
		for i := range truth {
			_, high, _ := m.Scored.bounds(i, m.Model.Total)
			wide += (high - truth[i]) / float64(len(truth)*releases)
		}
	}
	t.Logf("all bounds hold in %d of %d releases; upper ones are %.4f above the truth on average", releases-failed,
		releases, wide)
	if failed > releases/20 {
		t.Errorf("bounds fail in %d of %d releases, must in at most one of twenty", failed, releases)
	}
}

// TestBoundsByHand: ten rows, columns of counts 5, 5 and 5, 5, whose independent table is 2.5 rounded to 3 everywhere
// (halves away from zero). A model of 5, 0, 0, 5 is (2+3+3+2)/2 = 5 from it; at a noisy distance of 4 without noise the
// bounds are a tenth of 1 - .25 and of 9 + .25, the quarter being what rounding of the doubled distance may be off.
func TestBoundsByHand(t *testing.T) {
	s := &pairBounds{Ones: [][]float64{{5, 5}, {5, 5}}, Pairs: [][2]int{{0, 1}}, Y: []float64{4},
		Sigma: math.Sqrt(1. / 48)}
	s.Model = []float64{summedDistance([]float64{5, 0, 0, 5}, s.Ones[0], s.Ones[1])}
	low, high, known := s.bounds(0, 10)
	if s.Model[0] != 5 || !known || math.Abs(low-.075) > 1e-9 || math.Abs(high-.925) > 1e-9 {
		t.Errorf("%g rows apart, bounds %g to %g, must be 5, .075 and .925", s.Model[0], low, high)
	}
	// A noise of 2 rows and z for one bound, 1.96, add 3.92 rows to each side; a noise of 3 of the rows and z for two,
	// 2.2414, 4.4828 and 3.3621. The upper bounds are then 1.
	s.Sigma = math.Sqrt(4 + 1./48)
	if got := s.reach(); math.Abs(got-(3.919928+.25)) > 1e-5 {
		t.Errorf("noise of 2 rows reaches %g, must be 4.169928", got)
	}
	s.Rows = 3
	if got := s.reach(); math.Abs(got-(2*2.241403+.25+1.5*2.241403)) > 1e-5 {
		t.Errorf("noise of 2 rows and 3 of all reaches %g", got)
	}
}

// TestPairsAreListed: the release has a row a scored pair, by name, the greatest upper bound first; a pair whose table
// is not to be had says so. Kinds that score no pairs list none.
func TestPairsAreListed(t *testing.T) {
	a := attempt{stage: marginalTreeKind().New(), in: ward(400), multiplier: 0.05}
	m := a.model(t)
	m.Scored.Model[3] = -1
	lines := strings.Split(strings.TrimSpace(string(m.pairsList())), "\n")
	if len(lines) != 1+21 || lines[0] != "first,second,measured,distance_from_independence,sd,low,high" {
		t.Fatalf("%d lines, must be 22, the first %q", len(lines), lines[0])
	}
	if text := strings.Join(lines, "\n"); strings.Count(text, "not known,not known") != 1 ||
		strings.Count(text, ",yes,") == 0 ||
		!strings.Contains(text, "age,income,") {
		t.Errorf("pairs are listed as\n%s", text)
	}
	if m := (attempt{stage: independentKind().New(), in: ward(400), multiplier: 0.05}).model(t); m.Scored != nil {
		t.Error("independent columns have scored pairs")
	}
}

// TestScoredPairsAreJudged: what comes with a model from anyone is refused with its path.
func TestScoredPairsAreJudged(t *testing.T) {
	for want, damage := range map[string]func(s *pairBounds){
		"has 7 columns, 21 pairs, 20": func(s *pairBounds) { s.Y = s.Y[:20] },
		"ones[1]: has":                func(s *pairBounds) { s.Ones[1] = s.Ones[1][1:] },
		"ones[0]: has":                func(s *pairBounds) { s.Ones[0][0] = -1 },
		"pairs[2]: is [3 3]":          func(s *pairBounds) { s.Pairs[2] = [2]int{3, 3} },
		"pairs[0]: is":                func(s *pairBounds) { s.Model[0] = math.NaN() },
		"sigma: is 0":                 func(s *pairBounds) { s.Sigma = 0 },
	} {
		m := attempt{stage: marginalTreeKind().New(), in: ward(400), multiplier: 0.05}.model(t)
		if damage(m.Scored); m.check() == nil || !strings.Contains(m.check().Error(), "scored: "+want) {
			t.Errorf("%v, must say scored: %s", m.check(), want)
		}
	}
}

// TestWideBoundsAreSaid: visits of at most some twenty between bounds of 0 and 60 or 5,000 stand on their noise in less
// than a quarter of the line; ages that fill their bounds, and bounds as wide as the visits are, get no remark.
func TestWideBoundsAreSaid(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for _, c := range []struct {
		greatest float64
		says     string
	}{{5000, "visits (declared 0 to 5000, rows stand out from noise within [0, "},
		{60, "visits (declared 0 to 60, rows stand out from noise within [0, "}, {6, ""}} {
		d := &domain.Domain{Columns: []domain.Column{{Name: "visits", Type: domain.Integer,
			Bounds: &[2]float64{0, c.greatest}},
			{Name: "age", Type: domain.Integer, Bounds: &[2]float64{20, 79}}}}
		values := make([][]any, 2)
		for range 5000 {
			values[0] = append(values[0], int(min(c.greatest, math.Floor(2*rng.ExpFloat64()))))
			values[1] = append(values[1], 20+rng.IntN(60))
		}
		in := pipelinetest.Input{Header: header(d, 5000), Rows: pipelinetest.Rows(d, values...)}
		model, _ := attempt{stage: independentKind().New(), in: in, multiplier: 15}.run(t)
		text, err := remarked(t.Context(), pipeline.Tables{"model": model})
		must(t, err)
		if (text == "") != (c.says == "") || !strings.Contains(text, c.says) || strings.Contains(text, "age") {
			t.Errorf("bounds to %g: %q, must say %q", c.greatest, text, c.says)
		}
	}
}

// TestEndsOfCellsAreShortened: a reader is told no digits that say nothing.
func TestEndsOfCellsAreShortened(t *testing.T) {
	for label, want := range map[string]string{"[0, 0.01806640625)": "[0, 0.01807)", "[123.4567, 12345]": "[123.5, 12345]",
		"2020-01-01": "2020-01-01", "0.5": "0.5"} {
		if got := shortened(label); got != want {
			t.Errorf("%s is %s, must be %s", label, got, want)
		}
	}
}

// TestWideBoundsOfDatesAreSaidAsDates: dates of one year between bounds of a century, as a person declares them.
func TestWideBoundsOfDatesAreSaidAsDates(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	d := &domain.Domain{Columns: []domain.Column{{Name: "seen", Type: domain.Date, Bounds: &[2]float64{0, 36524}},
		{Name: "age", Type: domain.Integer, Bounds: &[2]float64{20, 79}}}}
	values := make([][]any, 2)
	for range 5000 {
		values[0] = append(values[0], 18262+rng.IntN(366))
		values[1] = append(values[1], 20+rng.IntN(60))
	}
	in := pipelinetest.Input{Header: header(d, 5000), Rows: pipelinetest.Rows(d, values...)}
	model, _ := attempt{stage: independentKind().New(), in: in, multiplier: 15}.run(t)
	text, err := remarked(t.Context(), pipeline.Tables{"model": model})
	must(t, err)
	if !strings.Contains(text, "seen (declared 1970-01-01 to 2069-12-31, rows stand out from noise within [20") {
		t.Errorf("the remark is %q", text)
	}
}
