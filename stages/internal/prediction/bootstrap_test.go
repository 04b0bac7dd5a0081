package prediction

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"weir/stages/internal/learn"
	"weir/stages/metric"
)

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 3)) }

// meanOf returns the figure of rows that is their mean.
func meanOf(x []float64) func(int, []int32) float64 {
	return func(_ int, times []int32) float64 {
		sum, n := 0.0, 0.0
		for i, k := range times {
			sum, n = sum+float64(k)*x[i], n+float64(k)
		}
		return sum / n
	}
}

func plain(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// TestIntervalCovers: the interval of a mean of 100 normal rows holds the true mean about 94 times in 100
// (percentiles of few rows are a little narrow). Of 1,000 tables 900 to 977 are within
// 4.9 standard deviations of that (false alarm below 1e-6); intervals of half the width
// hold it about 66 times in 100, and are caught.
func TestIntervalCovers(t *testing.T) {
	rng, covered, heldByHalf := seeded(1), 0, 0
	for table := range 1000 {
		x := make([]float64, 100)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		r := newResamples(len(x), 1, seeded(uint64(table)))
		m := plain(x)
		low, high := r.Interval(m, r.Values(2, meanOf(x)))
		if low <= 0 && 0 <= high {
			covered++
		}
		if (low+m)/2 <= 0 && 0 <= (high+m)/2 {
			heldByHalf++
		}
	}
	if covered < 900 || covered > 977 {
		t.Errorf("%d of 1000 intervals hold the mean, must be 900 to 977", covered)
	}
	if heldByHalf >= 900 {
		t.Errorf("%d of 1000 intervals of half the width hold it: the test is blind", heldByHalf)
	}
}

// TestWidthIsThatOfTheClosedForm: a share p of n rows has the interval p ± 1.96 sqrt(p(1-p)/n), whether all rows are
// drawn or, of very many, some stand for all. The ends of 200 and more resamples have a
// standard deviation below 0.09 of the half width; 0.45 is five of them.
func TestWidthIsThatOfTheClosedForm(t *testing.T) {
	for _, n := range []int{1000, 400_000} {
		x := make([]float64, n)
		for i := range x {
			if i%5 != 0 {
				x[i] = 1
			}
		}
		r := newResamples(n, 1, seeded(9))
		low, high := r.Interval(0.8, r.Values(2, meanOf(x)))
		half := 1.96 * math.Sqrt(0.8*0.2/float64(n))
		if !(math.Abs(0.8-low-half) < 0.45*half && math.Abs(high-0.8-half) < 0.45*half) {
			t.Errorf("%d rows: %g to %g, must be about 0.8 ± %g", n, low, high, half)
		}
		if n > 100_000 && len(r.from) > 50_000 {
			t.Errorf("%d of %d rows are drawn from: the cost is not bounded", len(r.from), n)
		}
	}
}

// TestIntervalIsTheMiddle: of resamples whose figures are spread evenly from 0 to 1 the interval is the middle 95 %.
func TestIntervalIsTheMiddle(t *testing.T) {
	r := newResamples(30, 1, seeded(2))
	values := []float64{0.5}
	for i := range r.draws {
		values = append(values, float64(i)/float64(r.draws-1))
	}
	if low, high := r.Interval(0.5, values); math.Abs(low-0.025) > 0.004 || math.Abs(high-0.975) > 0.004 {
		t.Errorf("%g to %g, must be 0.025 to 0.975", low, high)
	}
}

// TestCostIsBounded: the cost is bounded for any number of rows and values a row.
func TestCostIsBounded(t *testing.T) {
	for _, rows := range []int{1, 20, 16_281, 3_000_000} {
		for _, width := range []int{0, 1, 2, 40, 5000} {
			r := newResamples(rows, width, seeded(1))
			if cost := r.draws * len(r.from) * max(1, width); cost > 2*mostValues && len(r.from) > leastResampled ||
				r.draws < leastDraws || r.draws > mostDraws {
				t.Errorf("%d rows of %d values: %d resamples of %d rows", rows, width, r.draws, len(r.from))
			}
		}
	}
}

func TestSameForAnyWorkers(t *testing.T) {
	x := []float64{}
	for i := range 50 {
		x = append(x, float64(i*i%17))
	}
	r := newResamples(len(x), 1, seeded(5))
	if a, b := r.Values(1, meanOf(x)), r.Values(7, meanOf(x)); !slices.Equal(a, b) || a[0] != plain(x) {
		t.Error("the values depend on the number of workers, or do not begin with that of all rows")
	}
	if a, b := r.Values(1, meanOf(x)), newResamples(len(x), 1, seeded(6)).Values(1, meanOf(x)); slices.Equal(a, b) {
		t.Error("another seed gives the same resamples")
	}
}

// TestNoInterval: few rows have no interval, nor has a figure that many resamples leave undefined; a
// figure of few undefined ones has.
func TestNoInterval(t *testing.T) {
	undefined := func(every int32) func(int, []int32) float64 {
		return func(_ int, times []int32) float64 {
			if every > 0 && times[0] == every {
				return math.NaN()
			}
			return float64(times[1])
		}
	}
	for _, c := range []struct {
		name  string
		rows  int
		every int32
		none  bool
	}{{"19 rows", 19, 0, true}, {"20 rows", 20, 0, false}, {"undefined where row 0 is twice", 100, 2, true},
		{"where it is five times", 100, 5, false}} {
		r := newResamples(c.rows, 1, seeded(4))
		low, high := r.Interval(1, r.Values(1, undefined(c.every)))
		if math.IsNaN(low+high) != c.none {
			t.Errorf("%s: %g to %g", c.name, low, high)
		}
	}
	r := newResamples(30, 1, seeded(4))
	if low, high := r.Interval(5, append([]float64{5}, slices.Repeat([]float64{4}, r.draws)...)); low != 4 || high != 5 {
		t.Errorf("%g to %g does not hold the value 5", low, high)
	}
}

// TestDrawsAreKept: draws are the same whether their counts are kept or not, and are kept from the second time on,
// unless they are many.
func TestDrawsAreKept(t *testing.T) {
	x := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20}
	d := NewDraws(len(x), func(int) *rand.Rand { return seeded(7) })
	first := d.Of(2).Values(2, meanOf(x))
	for range 3 {
		again := d.Of(2)
		if !slices.Equal(first, again.Values(3, meanOf(x))) || again.kept == nil {
			t.Error("what is kept is not what was drawn")
		}
	}
	many := NewDraws(1_000_000, func(int) *rand.Rand { return seeded(7) })
	if many.Of(2); many.Of(2).kept != nil {
		t.Error("200 counts of a million rows are kept")
	}
}

// TestNoIntervalIsSaid: a score that could have an interval says why it has none, one that never has says nothing.
func TestNoIntervalIsSaid(t *testing.T) {
	undefined := slices.Repeat([]float64{math.NaN()}, leastDraws+1)
	for want, s := range map[string]Score{
		"12 test rows, which is fewer than 20": {Noted: metric.Of(.7), of: newResamples(12, 1, seeded(1))},
		"too few test rows of a class":         {Noted: metric.Of(.7), of: newResamples(30, 1, seeded(1)), values: undefined},
		"":                                     bare(metric.Of(.7)),
	} {
		list := s.Metrics("auroc", "")
		if note := list[0].Note; len(list) != 1 || !strings.Contains(note, want) || want == "" && note != "" {
			t.Errorf("%+v, must be a score with the note %q alone", list, want)
		}
	}
}

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

// TestAUROCIntervalCovers: the AUROC of scores one standard deviation apart is Phi(1/sqrt 2) = 0.76025, and about
// 94 intervals in 100 of 200 rows hold it: of 300, between 259 and 300 (five standard
// deviations; false alarm below 1e-6). Intervals of a third of the width hold it less
// than 50 times in 100, and are caught.
func TestAUROCIntervalCovers(t *testing.T) {
	g, covered, third := rng(1), 0, 0
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
			covered++
		}
		if within(1. / 3) {
			third++
		}
	}
	if covered < 259 || third >= 259 {
		t.Errorf("%d of 300 intervals hold the AUROC, %d of a third of the width", covered, third)
	}
}

// TestEveryScoreHasAnInterval: every score that is defined has an interval that holds it, but for the greatest error,
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
		{ClassScores(), judgeClasses(labels, Predictions{Scores: p, Probabilities: true}, 1, ClassScores()),
			scoreClasses(labels, Predictions{Scores: p, Probabilities: true}, 1, ClassScores(), newResamples(400, 2, rng(3)),
				run)},
		{ClassScores(), judgeClasses(three, Predictions{Scores: four, Probabilities: true}, 1, ClassScores()),
			scoreClasses(three, Predictions{Scores: four, Probabilities: true}, 1, ClassScores(), newResamples(400, 3, rng(3)),
				run)},
		{NumberScores(), judgeNumbers(numbers, s, NumberScores()), scoreNumbers(numbers, s, NumberScores(),
			newResamples(400, 0, rng(3)), run)},
	} {
		for _, name := range c.names {
			low, high, ok := c.got[name].Interval()
			if want := name != "max_error" && !math.IsNaN(c.bare[name].Value); ok != want || ok && !(low <= c.bare[name].Value &&
				c.bare[name].Value <= high && low < high) {
				t.Errorf("%s is %g, its interval %g to %g (%v)", name, c.bare[name].Value, low, high, ok)
			}
			if v := c.got[name].Value; v != c.bare[name].Value && !math.IsNaN(v) {
				t.Errorf("%s is %g, without interval %g", name, v, c.bare[name].Value)
			}
		}
	}
}

// TestDifferencesArePaired: a difference is resampled in pairs: the difference of a score and itself is 0 in every
// resample, though the score's own interval is wide.
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

// TestDrawn: a resample lists rows in the given order, as often as they are drawn.
func TestDrawn(t *testing.T) {
	if got := resampledRows(nil, []int{2, 0, 1}, []int32{1, 0, 2}); !slices.Equal(got, []int{2, 2, 0}) {
		t.Errorf("drawn %v", got)
	}
}
