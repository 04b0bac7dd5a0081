package empirical

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"weir/internal/bitmath"
)

// TestGoldenChance: chances as an independent program of the recursion gives them (Python 3 with scipy 1.17, its normal
// law and its own bisection), and the closed form of an attack that sees nothing: all of 50 coins right has 2^-50.
func TestGoldenChance(t *testing.T) {
	for _, c := range []struct {
		guesses Guesses
		f       Tradeoff
		want    float64
	}{
		{Guesses{10000, 500, 450}, Gaussian(0.9), 1},
		{Guesses{10000, 500, 410}, Gaussian(0.5), 0.17905388186133867},
		{Guesses{1000, 1000, 900}, Gaussian(1), 0.10819943704006613},
		{Guesses{200, 40, 36}, Bounded(1, 0), 0.00866557626836308},
		{Guesses{200, 40, 38}, Bounded(1, 1e-3), 0.006584413210711063},
		{Guesses{10000, 200, 187}, Bounded(2, 1e-5), 0.009848223711631502},
		{Guesses{50, 50, 50}, Bounded(0, 0), 0x1p-50},
		{Guesses{50, 50, 50}, Gaussian(0), 0x1p-50},
		{Guesses{10, 4, 0}, Gaussian(1), 1},
	} {
		got, err := c.guesses.Chance(c.f)
		if err != nil || math.Abs(got-c.want) > 1e-9*c.want {
			t.Errorf("%+v: the chance is %v (%v), must be %v", c.guesses, got, err, c.want)
		}
		if c.want < 1 && (!c.guesses.Refute(c.f, c.want*1.001) || c.guesses.Refute(c.f, c.want*0.999)) {
			t.Errorf("%+v: is not refuted just above its chance, or is below it", c.guesses)
		}
	}
}

// TestGoldenLargest: bounds of the same program.
func TestGoldenLargest(t *testing.T) {
	g, rates := Guesses{10000, 500, 410}, Rates{With: 500, Found: 70, Without: 500, Alarms: 10}
	for _, c := range []struct {
		refuted func(x float64) bool
		want    float64
	}{
		{func(mu float64) bool { return g.Refute(Gaussian(mu), 0.05) }, 0.4396835838269908},
		{func(mu float64) bool { return g.Refute(Gaussian(mu), 1e-6) }, 0.23014286920442828},
		{func(e float64) bool { return Guesses{1000, 100, 80}.Refute(Bounded(e, 1e-5), 0.05) }, 0.9427909100850229},
		{func(mu float64) bool { return rates.Refute(Gaussian(mu), 0.05) }, 0.5708357840470649},
		{func(e float64) bool { return rates.Refute(Bounded(e, 1e-5), 0.05) }, 1.1109860109202263},
	} {
		got, err := Largest(20, func(x float64) (bool, error) { return c.refuted(x), nil })
		if err != nil || got > c.want || got < c.want*(1-2e-4) {
			t.Errorf("the bound is %v (%v), must be %v", got, err, c.want)
		}
	}
	if got := CombinedChance([]float64{0.01, 0.2, 0.5}); math.Abs(got-0.03176629677613493) > 1e-12 {
		t.Errorf("chances of three runs are %v together, must be 0.031766 (scipy: chi2.sf)", got)
	}
}

// mixture is a mechanism whose coins hang together: with chance open it answers for every canary with the truth, as
// often as right says, and else it says nothing. Its trade-off and the law of correct guesses are closed forms.
type mixture struct{ open, right float64 }

// tradeoff takes the most telling outcomes first: a truth (odds right to 1-right), silence, a falsehood.
func (m mixture) tradeoff(power float64) float64 {
	truth, silence := m.open*m.right, 1-m.open
	switch {
	case power <= truth:
		return power * (1 - m.right) / m.right
	case power <= truth+silence:
		return m.open*(1-m.right) + power - truth
	}
	return 1 - (1-power)*m.right/(1-m.right)
}

// tail returns the chance of at least so many of r guesses.
func (m mixture) tail(r, least int) float64 {
	atLeast := func(p float64) float64 {
		if least == 0 {
			return 1
		}
		return bitmath.BetaCDF(float64(least), float64(r-least)+1, p) // Abramowitz, Stegun 26.5.24
	}
	return m.open*atLeast(m.right) + (1-m.open)*atLeast(0.5)
}

// TestChanceHolds: no mechanism gives so many correct guesses with a greater chance than is said, also where all coins
// are told together, to which the bound comes near. Halving what is said would be found.
func TestChanceHolds(t *testing.T) {
	nearest := 0.0
	for _, m := range []mixture{{1, 0.6}, {1, 0.9}, {0.1, 0.7}, {0.01, 0.9}, {1e-3, 0.99}, {0.5, 0.5}} {
		for _, r := range []int{1, 2, 10, 100} {
			for least := 0; least <= r; least++ {
				got, err := (Guesses{r, r, least}).Chance(m.tradeoff)
				truth := m.tail(r, least)
				if err != nil || got < truth*(1-1e-9) {
					t.Fatalf("%v: %d of %d have chance %v, above the bound %v (%v)", m, least, r, truth, got, err)
				}
				if truth < 1e-3 && truth > 1e-90 {
					nearest = max(nearest, truth/got)
				}
			}
		}
	}
	if nearest < 0.5 {
		t.Errorf("no chance comes nearer to its bound than by a factor of %.3g, must by 0.5 or more", nearest)
	}
}

// attack draws the guesses on canaries of a Gaussian mechanism: those at both ends of the scores.
func attack(rng *rand.Rand, mu float64, canaries, number int) Guesses {
	type canary struct {
		score float64
		there bool
	}
	list := make([]canary, canaries)
	for i := range list {
		list[i] = canary{rng.NormFloat64(), rng.IntN(2) == 1}
		if list[i].there {
			list[i].score += mu
		}
	}
	slices.SortFunc(list, func(a, b canary) int {
		if a.score > b.score {
			return -1
		}
		return 1
	})
	g := Guesses{Canaries: canaries, Made: number}
	for i := range number / 2 {
		if list[i].there {
			g.Correct++
		}
		if !list[canaries-1-i].there {
			g.Correct++
		}
	}
	return g
}

// TestBoundCovers: of 200 audits of a mechanism that is mu-GDP with mu 1, at most 34 refute mu 1 at level .05, which a
// sound bound exceeds with chance 1e-9 (binomial tail of 35 or more of 200); audits of twice the mu refute it together
// at 1e-6, and alone half of it at .05.
func TestBoundCovers(t *testing.T) {
	rng, wrong := rand.New(rand.NewPCG(1, 2)), 0
	for range 200 {
		if attack(rng, 1, 400, 80).Refute(Gaussian(1), 0.05) {
			wrong++
		}
	}
	if wrong > 34 {
		t.Errorf("%d of 200 audits refute what is so, must be 34 or fewer", wrong)
	}
	var chances []float64
	for range 10 {
		g := attack(rng, 2, 1000, 158)
		p, err := g.Chance(Gaussian(1))
		if err != nil || !g.Refute(Gaussian(0.5), 0.05) {
			t.Errorf("%+v does not refute half of the truth (%v)", g, err)
		}
		chances = append(chances, p)
	}
	if p := CombinedChance(chances); p > 1e-6 {
		t.Errorf("ten audits of twice the claim have chance %v under it, must be below 1e-6", p)
	}
}

// TestRatesCover: as TestBoundCovers, of 200 tests of one canary in 100 runs each.
func TestRatesCover(t *testing.T) {
	rng, wrong := rand.New(rand.NewPCG(3, 4)), 0
	draw := func(mu float64, runs int) (r Rates) {
		for range runs {
			if there := rng.IntN(2) == 1; there {
				r.With++
				if rng.NormFloat64()+mu > 1 {
					r.Found++
				}
			} else {
				r.Without++
				if rng.NormFloat64() > 1 {
					r.Alarms++
				}
			}
		}
		return r
	}
	for range 200 {
		if draw(1, 100).Refute(Gaussian(1), 0.05) {
			wrong++
		}
	}
	if wrong > 34 {
		t.Errorf("%d of 200 tests refute what is so, must be 34 or fewer", wrong)
	}
	if r := draw(3, 300); !r.Refute(Gaussian(1), 1e-6) {
		t.Errorf("%+v of a mu of 3 does not refute 1", r)
	}
}

// TestProfileIsBelow: the trade-off of points of a curve is below the trade-off of the curve, and near it where they
// are dense.
func TestProfileIsBelow(t *testing.T) {
	const mu = 1.2
	epsilons := Epsilons(400, 12)
	deltas := make([]float64, len(epsilons))
	for i, e := range epsilons { // Dong, Roth, Su 2022, corollary 2.13
		deltas[i] = bitmath.NormalTail(e/mu-mu/2) - bitmath.Exp(e)*bitmath.NormalTail(e/mu+mu/2)
	}
	f, err := Profile(epsilons, deltas)
	if err != nil {
		t.Fatal(err)
	}
	exact := Gaussian(mu)
	for _, power := range []float64{1e-6, 1e-4, 0.01, 0.3, 0.5, 0.7, 0.99} {
		if got, want := f(power), exact(power); got > want*(1+1e-9) || got < want*0.99 {
			t.Errorf("power %v: %v false alarms, must be below %v by at most 1 %%", power, got, want)
		}
	}
	for _, c := range [][2][]float64{{nil, nil}, {{1}, nil}, {{-1}, {0}}, {{1}, {2}}, {{math.NaN()}, {0}}} {
		if _, err := Profile(c[0], c[1]); err == nil || !strings.Contains(err.Error(), "must have") {
			t.Errorf("a profile of %v is taken (%v)", c, err)
		}
	}
}

// TestCountsThatNoAttackHas are refused, and refute nothing.
func TestCountsThatNoAttackHas(t *testing.T) {
	for _, g := range []Guesses{{}, {1, 2, 1}, {5, 3, 4}, {5, 3, -1}} {
		if p, err := g.Chance(Gaussian(1)); err == nil || p != 1 || g.Refute(Gaussian(0), 0.5) {
			t.Errorf("%+v is taken with chance %v", g, p)
		}
	}
	for _, r := range []Rates{{}, {With: 5, Found: 6, Without: 5}, {With: 5, Found: 5}} {
		if r.Refute(Gaussian(0), 0.5) {
			t.Errorf("%+v refutes", r)
		}
	}
}
