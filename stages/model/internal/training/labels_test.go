package training

import (
	"math"
	"slices"
	"strings"
	"testing"

	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
	"weir/schema"
)

// TestColumn: a one-hot column of as many categories as a model can be read back with, and no
// other.
func TestColumn(t *testing.T) {
	d := &domain.Domain{Columns: []domain.Column{{Name: "age", Encoding: &domain.Encoding{Form: domain.MinMax, Width: 1}},
		{Name: "region", Encoding: &domain.Encoding{Form: domain.OneHot, Width: MostParts}},
		{Name: "town", Encoding: &domain.Encoding{Form: domain.OneHot, Width: MostParts + 1}}, {Name: "raw"}}}
	for name, want := range map[string]string{"region": "", "age": "not one-hot", "raw": "not one-hot",
		"town": "of 1025 categories", "county": "county"} {
		var ps schema.Problems
		at := LabelColumn(d, name, &ps)
		if (len(ps) == 0) != (want == "") || want != "" && !strings.Contains(ps.Error(), want) || want == "" && at != 1 {
			t.Errorf("%s: place %d, %v, must say %q", name, at, ps, want)
		}
	}
}

// TestShares: exact, equal, and where nothing is left of noisy sizes, equal too; all add up to 1.
func TestShares(t *testing.T) {
	of := []int32{0, 0, 2, 0}
	for labels, want := range map[string][]float64{"public": {0.75, 0, 0.25}, "equal": {1. / 3, 1. / 3, 1. / 3}} {
		got, err := LabelSetting{Labels: labels}.LabelShares(pipelinetest.Env(1), of, 3) // opens nothing
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v, must be %v", labels, got, err, want)
		}
	}
	for _, c := range []struct {
		sizes []int64
		want  []float64
	}{{[]int64{-3, 30, 10}, []float64{0, 0.75, 0.25}}, {[]int64{-3, 0, -1, -7}, []float64{0.25, 0.25, 0.25, 0.25}}} {
		if got := shares(c.sizes); !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, must be %v", c.sizes, got, c.want)
		}
	}
	if got := SharesInTraining([]float64{0, 0.75, 0.25, 0}); !slices.Equal(got, []float64{0.0125, 0.75, 0.25, 0.0125}) {
		t.Errorf("in training: %v", got)
	}
}

// TestNoise: at share s the sizes have s of mu^2, which for 12 steps of rate .25 at multiplier 1.5 is
// .25^2 12 (exp(1/1.5^2)-1) = .419718 for the steps: sqrt(.95/(.05 .419718)) = 6.7282 at .05. No noise is as little as
// integers know, and no multiplier is out of reach.
func TestNoise(t *testing.T) {
	s, sgd := LabelSetting{Labels: "private", LabelShare: 0.05}, Sampling{Steps: 12}
	for scale, want := range map[float64]float64{1.5: 6.7282, 0: leastNoise, 1e300: mostNoise} {
		if got := s.LabelNoise(sgd, scale, 0.25); math.Abs(got/want-1) > 1e-4 {
			t.Errorf("multiplier %g: %g, must be %g", scale, got, want)
		}
	}
	if n := len(s.LabelSpends(sgd, 0.25, 3)); n != 1 {
		t.Errorf("private labels have %d spends", n)
	}
	for _, labels := range []string{"public", "equal"} {
		if s.Labels = labels; len(s.LabelSpends(sgd, 0.25, 3)) != 0 ||
			(s.UnprovenLabels().Rule == "W05") != (labels == "public") {
			t.Errorf("%s: %v, %v", labels, s.LabelSpends(sgd, 0.25, 3), s.UnprovenLabels())
		}
	}
}
