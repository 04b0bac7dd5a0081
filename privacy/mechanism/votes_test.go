package mechanism

import (
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
	if _, err := ReleaseCounts(open(Votes{1, GaussianVotes, 5, 3, 1}, 0), []int64{1, 2}); err == nil || !strings.Contains(err.Error(), "planned are 3") {
		t.Errorf("counts of 2 rows of 3: %v", err)
	}
}
