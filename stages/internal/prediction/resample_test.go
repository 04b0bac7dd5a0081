package prediction

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"weir/stages/internal/learn"
	"weir/stages/internal/metric"
)

func rng(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 8)) }

// shifted draws n rows of two classes whose scores are one standard deviation apart.
func shifted(g *rand.Rand, n int) (y []bool, s []float64) {
	for i := range n {
		y, s = append(y, i%2 == 0), append(s, g.NormFloat64())
		if y[i] {
			s[i]++
		}
	}
	return y, s
}

// The AUROC of scores one standard deviation apart is Phi(1/sqrt 2) = 0.76025, and about
// 94 intervals in 100 of 200 rows hold it: of 300, between 259 and 300 (five standard
// deviations; false alarm below 1e-6). Intervals of a third of the width hold it less
// than 50 times in 100, and are caught.
func TestAUROCIntervalCovers(t *testing.T) {
	g, held, third := rng(1), 0, 0
	for k := range 300 {
		y, s := shifted(g, 200)
		a := AUROC(y, s, rng(uint64(k)), 2)
		low, high, ok := a.Interval()
		if !ok || !(low < a.Value && a.Value < high) {
			t.Fatalf("AUROC %g has the interval %g to %g (%v)", a.Value, low, high, ok)
		}
		within := func(share float64) bool {
			return a.Value+share*(low-a.Value) <= 0.76025 && 0.76025 <= a.Value+share*(high-a.Value)
		}
		if within(1) {
			held++
		}
		if within(1. / 3) {
			third++
		}
	}
	if held < 259 || third >= 259 {
		t.Errorf("%d of 300 intervals hold the AUROC, %d of a third of the width", held, third)
	}
}

// Every score that is defined has an interval that holds it, but for the greatest error,
// of which the bootstrap says nothing; the values are those without intervals.
func TestEveryScoreHasAnInterval(t *testing.T) {
	y, s := shifted(rng(2), 400)
	labels, p := make([]int32, 400), learn.NewMatrix(400, 2)
	numbers := make([]float64, 400)
	for i := range y {
		p.Cols[1][i] = 1 / (1 + math.Exp(-s[i]))
		p.Cols[0][i] = 1 - p.Cols[1][i]
		numbers[i] = s[i] + math.Sin(float64(i))
		if y[i] {
			labels[i] = 1
		}
	}
	three, four := make([]int32, 400), learn.NewMatrix(400, 3)
	for i := range three {
		three[i] = int32(i % 3)
		four.Cols[0][i], four.Cols[1][i], four.Cols[2][i] = 0.7*p.Cols[0][i], 0.7*p.Cols[1][i], 0.3
	}
	run := learn.Run{Workers: 2}
	for _, c := range []struct {
		names []string
		bare  map[string]metric.Noted
		got   map[string]Score
	}{
		{ClassScores(), judgeClasses(labels, Predictions{Scores: p, Probabilities: true}, 1, ClassScores()), scoreClasses(labels, Predictions{Scores: p, Probabilities: true}, 1, ClassScores(), newResamples(400, 2, rng(3)), run)},
		{ClassScores(), judgeClasses(three, Predictions{Scores: four, Probabilities: true}, 1, ClassScores()), scoreClasses(three, Predictions{Scores: four, Probabilities: true}, 1, ClassScores(), newResamples(400, 3, rng(3)), run)},
		{NumberScores(), judgeNumbers(numbers, s, NumberScores()), scoreNumbers(numbers, s, NumberScores(), newResamples(400, 0, rng(3)), run)},
	} {
		for _, name := range c.names {
			low, high, ok := c.got[name].Interval()
			if want := name != "max_error" && !math.IsNaN(c.bare[name].Value); ok != want || ok && !(low <= c.bare[name].Value && c.bare[name].Value <= high && low < high) {
				t.Errorf("%s is %g, its interval %g to %g (%v)", name, c.bare[name].Value, low, high, ok)
			}
			if v := c.got[name].Value; v != c.bare[name].Value && !math.IsNaN(v) {
				t.Errorf("%s is %g, without interval %g", name, v, c.bare[name].Value)
			}
		}
	}
}

// A difference is resampled in pairs: that of a score and itself is 0 in every resample,
// though the score's own interval is wide.
func TestDifferencesArePaired(t *testing.T) {
	y, s := shifted(rng(4), 100)
	a, b := AUROC(y, s, rng(5), 1), AUROC(y, s, rng(5), 3)
	low, high, ok := Minus(a, b).Interval()
	if !ok || low != 0 || high != 0 {
		t.Errorf("%g to %g (%v), must be 0 to 0", low, high, ok)
	}
	mean := Mean([]Score{a, b, bare(metric.None("declined"))})
	if low, high, ok = mean.Interval(); !ok || !(low < a.Value && a.Value < high) || mean.Value != a.Value {
		t.Errorf("the mean %g of two equal scores has the interval %g to %g (%v)", mean.Value, low, high, ok)
	}
	if _, _, ok = Minus(a, bare(metric.Of(0.5))).Interval(); ok {
		t.Error("a difference from a score without interval has one")
	}
}

// A resample lists rows in the given order, as often as they are drawn.
func TestDrawn(t *testing.T) {
	if got := drawn(nil, []int{2, 0, 1}, []int32{1, 0, 2}); !slices.Equal(got, []int{2, 2, 0}) {
		t.Errorf("drawn %v", got)
	}
}
