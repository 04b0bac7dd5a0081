package mechanism

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"weir/privacy"
	"weir/privacy/account"
	"weir/privacy/pld"
)

// TestVotesAreChargedWhateverTheyAre: a changed shard moves each count by 1 whether a row
// comes, goes or is exchanged, so T votes are T Gaussian releases of sensitivity 1 under both
// adjacencies (Balle, Wang 2018, closed form), and T Laplace ones cost T over their scale
// (docs/accounting.md section 7).
func TestVotesAreChargedWhateverTheyAre(t *testing.T) {
	const steps, rows = 25, 64
	for _, a := range []privacy.Adjacency{privacy.AddRemove, privacy.ReplaceOne} {
		want := account.GaussianEpsilon(200/math.Sqrt(steps*rows), 1e-5)
		got, err := pld.New().Epsilon([]privacy.Event{Votes{200, GaussianVotes, 10, rows, steps}.Event(a)}, a, 1e-5)
		if err != nil || math.Abs(got/want-1) > 1e-3 {
			t.Errorf("%s: gaussian votes cost %g, %v, must cost %g", a, got, err, want)
		}
		got, err = account.Basic{}.Epsilon([]privacy.Event{Votes{10, LaplaceVotes, 10, rows, 1}.Event(a)}, a, 0)
		if err != nil || math.Abs(got/6.4-1) > 1e-9 {
			t.Errorf("%s: 64 laplace votes of scale 10 cost %g, %v, must cost 6.4", a, got, err)
		}
	}
}

// TestVotesWithoutPrivacy: multiplier 0 adds nothing.
func TestVotesWithoutPrivacy(t *testing.T) {
	for _, law := range []VoteLaw{GaussianVotes, LaplaceVotes} {
		got, err := ReleaseCounts(open(Votes{0, law, 5, 3, 1}, 0), []int64{5, 0, 2})
		if err != nil || !slices.Equal(got, []int64{5, 0, 2}) {
			t.Errorf("%s: %v, %v", law, got, err)
		}
	}
}

func TestVotesRefuse(t *testing.T) {
	for want, m := range map[string]Votes{
		"teachers: is 0":       {1, GaussianVotes, 0, 3, 1},
		"rows: is 0":           {1, GaussianVotes, 5, 0, 1},
		"steps: is 0":          {1, GaussianVotes, 5, 3, 0},
		"2^63":                 {1, GaussianVotes, 5, 1 << 40, 1 << 40},
		"must be gaussian or":  {1, "normal", 5, 3, 1},
		"multiplier: is -1":    {-1, GaussianVotes, 5, 3, 1},
		"noise multiplier":     {math.NaN(), LaplaceVotes, 5, 3, 1},
		"multiplier: is 1e+99": {1e99, GaussianVotes, 5, 3, 1},
	} {
		if err := m.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, must say %q", m, err, want)
		}
	}
	if _, err := ReleaseCounts(open(Votes{1, GaussianVotes, 5, 3, 1}, 0), []int64{1, 2}); err == nil ||
		!strings.Contains(err.Error(), "planned are 3") {
		t.Errorf("counts of 2 rows of 3: %v", err)
	}
}

// The inputs of a row: a table, it with one unit more, it with one unit replaced.
const (
	base = iota
	added
	replaced
)

// row is a mechanism under conformance: at is it with its noise times a factor and n
// uses, use releases once, p is the p-value that what was seen follows plan.
type row struct {
	name string
	at   func(factor float64, n int64) privacy.Mechanism
	use  func(h *privacy.Handle, input int) (any, error)
	p    func(plan privacy.Mechanism, seen []privacy.Released) float64
}

func rows() []row {
	return append(countRows(), append(scoreRows(), filterRows()...)...)
}

func countRows() []row {
	counts := func(inputs [3][]int64) func(*privacy.Handle, int) (any, error) {
		return func(h *privacy.Handle, i int) (any, error) { return ReleaseCounts(h, inputs[i]) }
	}
	cells := counts([3][]int64{{10, 5, -7}, {11, 5, -7}, {9, 6, -7}})
	votes := counts([3][]int64{{10}, {11}, {9}})
	return []row{
		{"laplace counts", func(f float64, n int64) privacy.Mechanism { return LaplaceCounts{3 * f, n} }, cells, integerP},
		{"laplace total", func(f float64, n int64) privacy.Mechanism { return LaplaceTotal{3 * f, n} },
			counts([3][]int64{{10}, {11}, {9}}), integerP},
		{"gaussian histogram", func(f float64, n int64) privacy.Mechanism { return GaussianHistogram{3 * f, n} }, cells,
			integerP},
		{"gaussian votes", func(f float64, n int64) privacy.Mechanism { return Votes{3 * f, GaussianVotes, 20, 1, n} }, votes,
			integerP},
		{"laplace votes", func(f float64, n int64) privacy.Mechanism { return Votes{3 * f, LaplaceVotes, 20, 1, n} }, votes,
			integerP},
		{"bounds", func(f float64, n int64) privacy.Mechanism { return Bounds{3 * f, 0, 3, 0.001, n} },
			func(h *privacy.Handle, i int) (any, error) {
				low, high, err := ReleaseBounds(h, h.Mechanism().(Bounds).Count(nil, [][]float64{{math.NaN(), 1, 5},
					{math.NaN(), 1, 5, -3}, {math.NaN(), -9, 5}}[i]))
				if errors.Is(err, ErrNoBounds) {
					err = nil
				}
				return [2]float64{low, high}, err
			}, integerP},
		{"partitions", func(f float64, n int64) privacy.Mechanism { return Partitions{1 / f, 1e-6, 2, "replace_one", n} },
			func(h *privacy.Handle, i int) (any, error) {
				return ReleasePartitions(h, []map[string]int64{
					{"a": 1000, "b": 1000, "c": 1}, {"a": 1001, "b": 1000, "c": 2}, {"a": 999, "b": 999, "c": 2, "d": 1}}[i])
			}, partitionP},
	}
}

func scoreRows() []row {
	scores := func(f float64, n int64) Scores {
		return Scores{0.8 / f, privacy.AddRemove, Moves{1, 2}, true, 4, n}
	}
	selects := func(h *privacy.Handle, i int) (any, error) {
		return Select(h, [][]float64{{3, 1, 2, 0}, {4, 1, 2, 0}, {3, 1, 2, 2}}[i])
	}
	return []row{
		{"exponential", func(f float64, n int64) privacy.Mechanism { return Exponential{scores(f, n)} }, selects, selectP},
		{"noisy max", func(f float64, n int64) privacy.Mechanism { return NoisyMax{scores(f, n)} }, selects, selectP},
		{"quantile", func(f float64, n int64) privacy.Mechanism {
			return Quantile{0.25, 0, 10, 1, 1 / f, "add_remove", n, 0}
		}, func(h *privacy.Handle, i int) (any, error) {
			return ReleaseQuantile(h, [][]float64{{2.5, 4, 4, 7, 12}, {2.5, 4, 4, 7, 12, -3}, {2.5, 4, 4, 7, -3}}[i])
		}, quantileP},
	}
}

// filterRows spend the total in equal rounds.
func filterRows() []row {
	whole := Moves{1, 2}
	return []row{
		{"gaussian filter, a row more", func(f float64, _ int64) privacy.Mechanism {
			return GaussianFilter{NoiseMultiplier: 3 * f / math.Sqrt(rounds), Adjacency: "add_remove"}
		}, integersIn(whole), filterP(whole)},
		{"gaussian filter, a row replaced", func(f float64, _ int64) privacy.Mechanism {
			return GaussianFilter{NoiseMultiplier: 3 * f / math.Sqrt(rounds), Adjacency: "replace_one"}
		}, integersIn(whole), filterP(whole)},
		{"zcdp filter, a row replaced", func(f float64, _ int64) privacy.Mechanism {
			return ZCDPFilter{3 * f / math.Sqrt(rounds), "replace_one", 0}
		}, integersIn(whole), filterP(whole)},
		{"zcdp filter, a row more", func(f float64, _ int64) privacy.Mechanism {
			return ZCDPFilter{3 * f / math.Sqrt(rounds), "add_remove", 0}
		}, integersIn(whole), filterP(whole)},
		{"zcdp filter, choices", func(f float64, _ int64) privacy.Mechanism {
			return ZCDPFilter{3 * f / math.Sqrt(rounds), "replace_one", 0}
		}, func(h *privacy.Handle, i int) (any, error) {
			return Choose(h, [][]float64{{3, 1, 2, 0}, {4, 1, 2, 0}, {3, 1, 2, 2}}[i], whole, roundEpsilon(h.Mechanism()))
		}, chooseP(whole)},
	}
}

// noisy is a filter that says the noise of a round.
type noisy interface {
	privacy.Filter
	Noise(Moves, float64) float64
}

func roundNoise(m privacy.Mechanism, d Moves) float64 {
	f := m.(noisy)
	return f.Noise(d, f.Total()/rounds)
}

func roundEpsilon(m privacy.Mechanism) float64 {
	f := m.(ZCDPFilter)
	return f.Epsilon(f.Total() / rounds)
}

func integersIn(d Moves) func(*privacy.Handle, int) (any, error) {
	return func(h *privacy.Handle, i int) (any, error) {
		return ReleaseIntegers(h, [][]int64{{10, 5}, {11, 5}, {8, 5}}[i], d, roundNoise(h.Mechanism(), d))
	}
}
