package question

import (
	"math"
	"math/rand/v2"
	"testing"

	"weir/pipeline/domain"
	"weir/stages/internal/columns"
)

// people returns 6,228 rows of an age from 0 to 94, two sexes and an event whose odds are of those coefficients.
func people(rng *rand.Rand, odds [3]float64) (*Regression, *columns.Frame) {
	flag := []string{"no", "yes"}
	m := &Regression{Kind: Logistic, Target: "event", Positive: "yes", PriorDeviation: 2.5,
		Columns: []RegressionColumn{{Name: "age", Bounds: [2]float64{0, 99}}, {Name: "sex", Categories: flag}}}
	f := &columns.Frame{Rows: 6228, Columns: []columns.Column{{Name: "age", Type: domain.Integer},
		{Name: "sex", Type: domain.Categorical, Categories: flag}, {Name: "event", Type: domain.Boolean, Categories: flag}}}
	for range f.Rows {
		age, sex, event := float64(rng.IntN(95)), rng.IntN(2), int32(0)
		if rng.Float64() < logit(odds[0]+odds[1]*age+odds[2]*float64(sex)) {
			event = 1
		}
		f.Columns[0].Numbers = append(f.Columns[0].Numbers, age)
		f.Columns[1].Codes = append(f.Columns[1].Codes, int32(sex))
		f.Columns[2].Codes = append(f.Columns[2].Codes, event)
	}
	return m, f
}

// TestFewEventsAreCovered: where events are few, and all of them young or old, noise keeps steps from
// arriving. Over 200 draws of the noise, 95 % intervals hold the fit of the same rows without noise in at
// least 80 % for each coefficient, after four steps at mu .08, .26 and .5 (epsilon near .3, 1 and 2).
// Measured is 92 % at least: below 80 % is six standard errors away (false alarm below 1e-7). Without what
// bend adds they hold 73 % of young events at mu .08, and with a way around 0 72 % of old ones at .26.
// Of old events at mu .08, which is left out here, they hold 81 %.
func TestFewEventsAreCovered(t *testing.T) {
	for name, c := range map[string]struct {
		odds [3]float64
		mu   []float64
	}{
		"young": {[3]float64{-0.35, -0.083, 0.1}, []float64{0.08, 0.26, 0.5}},
		"old":   {[3]float64{-9, 0.083, 0.1}, []float64{0.26, 0.5}},
		"even":  {[3]float64{-2.6, 0.002, 0.1}, []float64{0.08}},
	} {
		rng := rand.New(rand.NewPCG(1, 2))
		m, f := people(rng, c.odds)
		r := m.Rows(f)
		b, err := m.Answer(t.Context(), r)
		mustModel(t, err)
		truth, _ := m.Coefficients(b)
		for _, mu := range c.mu {
			release := func(t *ScoreTally, share float64) ([]int64, float64, error) {
				deviation := t.Moves.ReplaceOne / (mu * math.Sqrt(share))
				out := make([]int64, len(t.Sum))
				for i, v := range t.Sum {
					out[i] = v + int64(math.Round(rng.NormFloat64()*deviation))
				}
				return out, deviation, nil
			}
			const draws = 200
			var stored [3]float64
			for range draws {
				b, err := m.Fit(t.Context(), r, 4, release, func(int) {})
				mustModel(t, err)
				list, _ := m.Coefficients(b)
				for j, c := range list {
					if c.Low <= truth[j].Estimate && truth[j].Estimate <= c.High {
						stored[j] += 1. / draws
					}
				}
			}
			for j, share := range stored {
				if share < 0.8 {
					t.Errorf("%s, mu %g: intervals of coefficient %d hold %.3f of draws, must be 0.8 at least", name, mu, j, share)
				}
			}
		}
	}
}

// TestNoiseLeavesAtMostThePrior: bend adds to a coefficient that noise hides up to what its prior
// says, and no more; correlations stay as they were.
func TestNoiseLeavesAtMostThePrior(t *testing.T) {
	prior := []float64{1, 4} // precisions: deviations of 1 and 1/2
	b := Belief{mean: []float64{30, -20}, covariance: [][]float64{{0.9, 0.1}, {0.1, 0.2}}, silent: [][]float64{{0.1, 0},
		{0, 0.1}}}
	point := noisy{theta: []float64{0, 0}, information: [][]float64{{50, 5}, {5, 50}}}
	b.bend(point, 2, prior)
	for j, p := range prior {
		if v := b.covariance[j][j]; math.Abs(v*p-1) > 1e-9 {
			t.Errorf("coefficient %d has the variance %g, must be that of its prior, %g", j, v, 1/p)
		}
	}
	if c := b.covariance; c[0][1] != c[1][0] || c[0][1]*c[0][1] > c[0][0]*c[1][1] {
		t.Errorf("%v is no covariance", c)
	}
	known := Belief{mean: []float64{0, 0}, covariance: [][]float64{{0.01, 0}, {0, 0.01}}, silent: [][]float64{{0.01, 0},
		{0, 0.01}}}
	known.bend(point, 2, prior)
	if known.covariance[0][0] != 0.01 {
		t.Errorf("what is known by 0.01 is known by %g afterwards", known.covariance[0][0])
	}
}
