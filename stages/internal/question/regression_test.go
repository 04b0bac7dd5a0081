package question

import (
	"math"
	"math/rand/v2"
	"testing"

	"weir/pipeline/domain"
	"weir/stages/internal/columns"
)

func mustModel(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// models returns a logistic regression of ill and a Poisson regression of visits, of which a row
// expects so many at most.
func models(expected float64) map[string]*Regression {
	explain := []RegressionColumn{{Name: "age", Bounds: [2]float64{20, 80}},
		{Name: "region", Categories: []string{"north", "south",
			"west", "east"}}, {Name: "smoker", Categories: []string{"no", "yes"}}}
	return map[string]*Regression{
		Logistic: {Kind: Logistic, Target: "ill", Positive: "yes", Columns: explain, PriorDeviation: 2.5},
		Poisson: {Kind: Poisson, Target: "visits", Most: 4, Offset: "duration", Shortest: 0.5, Longest: 2,
			MostExpected: expected, Columns: explain, PriorDeviation: 2.5},
	}
}

// regressionFrame returns an empty table that both can be fitted to. Its regions are in another order.
func regressionFrame() *columns.Frame {
	flag := []string{"no", "yes"}
	return &columns.Frame{Columns: []columns.Column{
		{Name: "age", Type: domain.Integer}, {Name: "region", Type: domain.Categorical, Categories: []string{"west", "east",
			"south", "north"}},
		{Name: "smoker", Type: domain.Boolean, Categories: flag}, {Name: "ill", Type: domain.Boolean, Categories: flag},
		{Name: "visits", Type: domain.Integer}, {Name: "duration", Type: domain.Numeric}}}
}

// appendDrawn appends a row with drawn categories.
func appendDrawn(r *rand.Rand, f *columns.Frame, age, duration float64, visits int) {
	add := func(at int, v float64) { f.Columns[at].Numbers = append(f.Columns[at].Numbers, v) }
	add(0, age)
	add(4, float64(visits))
	add(5, duration)
	for pos, k := range []int{0, 4, 2, 2} {
		if k == 0 {
			continue
		}
		f.Columns[pos].Codes = append(f.Columns[pos].Codes, int32(r.IntN(k)))
	}
}

// TestScoreIsTheGradient: score and information are first and second differences of the log
// likelihood, written out here, at a point that is no maximum.
func TestScoreIsTheGradient(t *testing.T) {
	theta := []float64{-0.3, 0.2, 0.1, -0.2, 0.4, 0.3}
	for name, m := range models(4) {
		rng := rand.New(rand.NewPCG(4, 4))
		f := &columns.Frame{Rows: 300, Columns: regressionFrame().Columns}
		for range f.Rows {
			appendDrawn(rng, f, 20+60*rng.Float64(), 0.5+1.5*rng.Float64(), rng.IntN(5))
		}
		r := m.Rows(f)
		value := func(theta []float64) float64 {
			sum, x := 0.0, make([]float64, 6)
			for i := range r.n {
				r.row(i, x)
				z := dot(theta, x)
				if name == Logistic {
					sum += r.outcome[i]*z - math.Log1p(math.Exp(z))
				} else {
					sum += r.outcome[i]*z - r.exposed[i]*math.Exp(z)
				}
			}
			return sum
		}
		moved := func(j, k int, a, b float64) float64 {
			point := append([]float64(nil), theta...)
			point[j] += a
			point[k] += b
			return value(point)
		}
		score, information, err := r.sums(t.Context(), theta)
		mustModel(t, err)
		upper := make([]float64, len(information.Sum))
		for k, v := range information.Sum {
			upper[k] = float64(v) * information.scale
		}
		h := symmetric(upper, 6)
		const e = 1e-3
		for j := range 6 {
			if got, want := float64(score.Sum[j])*score.scale, (moved(j, j, e, 0)-moved(j, j, -e, 0))/(2*e); math.Abs(got-want) >
				1e-3*(1+math.Abs(want)) {
				t.Errorf("%s: score %d is %g, must be %g", name, j, got, want)
			}
			for k := range 6 {
				want := -(moved(j, k, e, e) - moved(j, k, e, -e) - moved(j, k, -e, e) + moved(j, k, -e, -e)) / (4 * e * e)
				if math.Abs(h[j][k]-want) > 1e-3*(1+math.Abs(want)) {
					t.Errorf("%s: information %d, %d is %g, must be %g", name, j, k, h[j][k], want)
				}
			}
		}
	}
}

// TestRowsMoveSumsAsStated: over rows of all corners and some inside, what a row moves each
// sum by when it comes, and when it is replaced, is at most what is stated, and one pair
// comes within a hundredth of it, or a fifth for replaced informations, whose bound is the bound
// of rows at a right angle, which rows with an intercept are not.
func TestRowsMoveSumsAsStated(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	far := map[string]float64{}
	check := func(what string, a, b *ScoreTally) {
		alone, both := 0.0, 0.0
		for k, v := range a.Sum {
			alone += float64(v) * float64(v)
			both += float64(v-b.Sum[k]) * float64(v-b.Sum[k])
		}
		alone, both = math.Sqrt(alone)/a.Moves.AddRemove, math.Sqrt(both)/a.Moves.ReplaceOne
		if alone > 1 || both > 1 {
			t.Fatalf("%s: a row moves it by %.6f of what is stated, a replaced one by %.6f", what, alone, both)
		}
		far[what] = max(far[what], alone)
		far[what+" replaced"] = max(far[what+" replaced"], both)
	}
	for range 20000 {
		expected := []float64{0.5, 0.5, 1e-303, 1e-318}[r.IntN(4)] // of the last two one over a scale is not a number
		var sums [2][2][3]*ScoreTally
		theta := make([]float64, 6)
		for j := range theta {
			theta[j] = 40 * (r.Float64() - 0.5)
		}
		theta[0] *= float64(r.IntN(3))
		for side := range 2 {
			f := &columns.Frame{Rows: 1, Columns: regressionFrame().Columns}
			appendDrawn(r, f, []float64{20, 80, 50, 1e9, math.NaN()}[r.IntN(5)], 2, 4*r.IntN(2))
			for k, name := range []string{Logistic, Poisson} {
				rows := models(expected)[name].Rows(f)
				s, h, err := rows.sums(t.Context(), theta)
				mustModel(t, err)
				sums[side][k] = [3]*ScoreTally{s, h, rows.totals()}
			}
		}
		for k, name := range []string{Logistic, Poisson} {
			for m, what := range []string{" score", " information", " totals"} {
				check(name+what, sums[0][k][m], sums[1][k][m])
			}
		}
	}
	for what, least := range map[string]float64{"logistic score": .99, "logistic score replaced": .5, "poisson score": .99,
		"poisson score replaced": .9,
		"logistic information":   .8, "poisson information": .99, "poisson information replaced": .6, "logistic totals": .99,
		"poisson totals": .99} {
		if far[what] < least {
			t.Errorf("%s: comes within %.3f of what is stated, must come within %.2f", what, far[what], least)
		}
	}
	t.Log(far)
}

// TestCentreIsBest: no other centre of a grid makes the longest vector of indicators shorter.
func TestCentreIsBest(t *testing.T) {
	for k := 2; k <= 9; k++ {
		centre, square := centred(k)
		rest := float64(k - 1)
		for c := 0.0; c <= 1; c += 0.001 {
			if longest := max(rest*c*c, (1-c)*(1-c)+(rest-1)*c*c); longest < square-1e-9 {
				t.Errorf("%d categories: centre %g has %g, %g has %g", k, centre, square, c, longest)
				break
			}
		}
	}
}

// TestUpdateKnowsItsNoise: with one coefficient, H = 50, theta = .2, a score of 10 and noise
// of 5, z = 20 has variance 50 + 25: precision 50²/75 + 4, mean (50 20/75)/(50²/75 + 4). Noise
// of 1e6 leaves the prior; noise 2 of H adds 4 (theta - b)² to the 25.
func TestUpdateKnowsItsNoise(t *testing.T) {
	law := func(deviation, doubtful float64) Belief {
		b, err := update(noisy{[]float64{0.2}, []float64{10}, [][]float64{{50}}, deviation, doubtful}, []float64{4})
		mustModel(t, err)
		return b
	}
	b := law(5, 0)
	precision := 50.*50/75 + 4
	if math.Abs(b.mean[0]-50*20./75/precision) > 1e-12 || math.Abs(b.covariance[0][0]-1/precision) > 1e-12 ||
		math.Abs(b.silent[0][0]-1./54) > 1e-12 {
		t.Errorf("%+v", b)
	}
	if b := law(1e6, 0); math.Abs(b.mean[0]) > 1e-6 || math.Abs(b.covariance[0][0]-0.25) > 1e-6 {
		t.Errorf("hidden by noise: %+v, must be the prior", b)
	}
	b = law(5, 2)
	variance := 25 + 4*((b.mean[0]-0.2)*(b.mean[0]-0.2)+b.covariance[0][0])
	if want := 1 / (50.*50/(50+variance) + 4); math.Abs(b.covariance[0][0]/want-1) > 1e-6 {
		t.Errorf("variance %g, must be %g", b.covariance[0][0], want)
	}
}

// TestSharesAreTheWhole: what the parts of a fit take of its budget adds up to it.
func TestSharesAreTheWhole(t *testing.T) {
	for steps := 1; steps < 9; steps++ {
		sum := startShare
		for k := range steps {
			sum += shareOf(k, steps)
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Errorf("%d steps take %g", steps, sum)
		}
	}
}

// TestLacksSaysWhy: a table without a column, or with numbers for categories, cannot be asked.
func TestLacksSaysWhy(t *testing.T) {
	m := models(4)[Poisson]
	if why := m.Lacks(regressionFrame()); why != "" {
		t.Errorf("a table that has all: %s", why)
	}
	f := regressionFrame()
	f.Columns[5].Name = "time"
	if why := m.Lacks(f); why != "the table has no column duration" {
		t.Errorf("without duration: %q", why)
	}
	f = regressionFrame()
	f.Columns[1].Type = domain.Integer
	if why := m.Lacks(f); why != "column region is integer" {
		t.Errorf("with a number for region: %q", why)
	}
}
