package mechanism

import (
	"encoding/json"
	"math"
	"testing"

	"weir/internal/golden"
	"weir/privacy"
	"weir/privacy/account"
)

// oneEvent is a case of graphical.json: histograms and half-L1 scores of given
// deviations for the price of one Gaussian event.
type oneEvent struct {
	MaxRows    int       `json:"max_rows"`
	Histograms []float64 `json:"histogram_sd"`
	Scores     []float64 `json:"score_sd"`
	Delta      float64
}

// TestGoldenGaussianEvents: every one_gaussian_event of graphical.json. A filter of the
// expected multiplier, stated for one row, gives out all of the case's releases and has
// nothing left; its event for max_rows rows has the expected multiplier and epsilon.
func TestGoldenGaussianEvents(t *testing.T) {
	var file struct {
		Cases []struct {
			ID, Kind  string
			Adjacency privacy.Adjacency
			Inputs    json.RawMessage
			Expected  json.RawMessage
		}
	}
	golden.Load(t, "graphical.json", &file)
	seen := 0
	for _, c := range file.Cases {
		if c.Kind != "one_gaussian_event" {
			continue
		}
		seen++
		var in oneEvent
		var want struct {
			NoiseMultiplier float64 `json:"noise_multiplier"`
			Mu, Epsilon     float64
		}
		if err := json.Unmarshal(c.Inputs, &in); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(c.Expected, &want); err != nil {
			t.Fatal(err)
		}
		m := GaussianFilter{NoiseMultiplier: want.NoiseMultiplier * float64(in.MaxRows), Adjacency: c.Adjacency}
		if left := in.spend(t, m); math.Abs(left) > 1e-9*m.Total() {
			t.Errorf("%s: %.3g of the total %g is left", c.ID, left, m.Total())
		}
		event, err := privacy.Group(m.Event(c.Adjacency), in.MaxRows)
		if err != nil {
			t.Fatal(err)
		}
		got := event.(privacy.Gaussian).NoiseMultiplier
		if math.Abs(got-want.NoiseMultiplier) > 1e-9*want.NoiseMultiplier {
			t.Errorf("%s: noise multiplier is %.12g, must be %.12g", c.ID, got, want.NoiseMultiplier)
		}
		mu, err := account.SquaredMu([]privacy.Event{event}, c.Adjacency)
		if err != nil || math.Abs(math.Sqrt(mu)-want.Mu) > 1e-9*want.Mu {
			t.Errorf("%s: mu is %.12g, %v, must be %.12g", c.ID, math.Sqrt(mu), err, want.Mu)
		}
		epsilon := account.GaussianEpsilon(1/math.Sqrt(mu), in.Delta)
		if !(epsilon >= want.Epsilon*(1-1e-9) && epsilon <= want.Epsilon*(1+1e-3)) {
			t.Errorf("%s: epsilon is %.12g, must be %.12g", c.ID, epsilon, want.Epsilon)
		}
	}
	if seen == 0 {
		t.Error("graphical.json has no one_gaussian_event")
	}
}

// spend releases all of a case and returns what is left; a further histogram of a
// hundredth of the total is refused.
func (in oneEvent) spend(t *testing.T, m GaussianFilter) float64 {
	t.Helper()
	h := open(m, 0)
	for _, sd := range in.Histograms {
		if _, err := ReleaseIntegers(h, []int64{5, 7}, HistogramMoves(), sd); err != nil {
			t.Error(err)
		}
	}
	for _, sd := range in.Scores {
		if _, err := ReleaseIntegers(h, []int64{5}, Moves{1, 2}, 2*sd); err != nil { // doubled, as kinds release them
			t.Error(err)
		}
	}
	left := h.Left()
	if _, err := ReleaseIntegers(h, []int64{5, 7}, HistogramMoves(), m.Noise(HistogramMoves(), m.Total()/100)); err == nil {
		t.Error("a hundredth more is accepted")
	}
	return left
}
