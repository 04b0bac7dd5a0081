package mechanism

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"

	"weir/internal/stattest"
	"weir/privacy"
	"weir/privacy/account"
)

type goldenCase struct {
	ID        string
	Kind      string
	Inputs    json.RawMessage
	Expected  json.RawMessage
	Tolerance struct{ Rel, Abs float64 }
}

type goldenFile struct{ Cases []goldenCase }

func (c goldenCase) decode(t *testing.T, inputs, expected any) {
	t.Helper()
	if err := json.Unmarshal(c.Inputs, inputs); err != nil {
		t.Fatalf("%s: %v", c.ID, err)
	}
	if err := json.Unmarshal(c.Expected, expected); err != nil {
		t.Fatalf("%s: %v", c.ID, err)
	}
}

func (c goldenCase) near(t *testing.T, what string, got []float64, want ...float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %s has %d numbers, must have %d", c.ID, what, len(got), len(want))
		return
	}
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= c.Tolerance.Abs+c.Tolerance.Rel*math.Abs(want[i])) {
			t.Errorf("%s: %s[%d] is %.12g, must be %.12g", c.ID, what, i, got[i], want[i])
		}
	}
}

// check checks the laws in a case and reports whether it has any. The other
// values of these cases are the accountants' to test.
func (c goldenCase) check(t *testing.T) bool {
	switch c.Kind {
	case "discrete_gaussian":
		c.discreteGaussian(t)
	case "exponential_mechanism":
		c.exponential(t)
	case "report_noisy_max":
		c.noisyMax(t)
	case "randomized_response":
		c.response(t)
	default:
		return false
	}
	return true
}

// discreteGaussian and response are laws of events that no mechanism here has: each by its
// definition (Canonne, Kamath, Steinke 2020; Warner 1965 for any number of buckets).
func (c goldenCase) discreteGaussian(t *testing.T) {
	var in struct{ Sigma float64 }
	var want struct {
		PMF      []float64 `json:"pmf_0_to_3"`
		Variance float64
	}
	c.decode(t, &in, &want)
	pmf, variance, reach, sum := []float64(nil), 0.0, int64(40*in.Sigma)+10, 0.0
	weight := func(x int64) float64 { return math.Exp(-float64(x*x) / (2 * in.Sigma * in.Sigma)) }
	for x := -reach; x <= reach; x++ {
		sum += weight(x)
	}
	for x := -reach; x <= reach; x++ {
		p := weight(x) / sum
		variance += float64(x) * float64(x) * p
		if x >= 0 && x < int64(len(want.PMF)) {
			pmf = append(pmf, p)
		}
	}
	c.near(t, "pmf", pmf, want.PMF...)
	c.near(t, "variance", []float64{variance}, want.Variance)
}

func (c goldenCase) exponential(t *testing.T) {
	var in struct {
		Utilities   []float64
		Epsilon     float64
		Sensitivity float64 `json:"utility_sensitivity"`
	}
	var want struct {
		Probabilities []float64
		Monotone      []float64 `json:"probabilities_monotone"`
	}
	c.decode(t, &in, &want)
	c.near(t, "probabilities", Exponential{scoresOf(in.Epsilon, in.Sensitivity, false, 0)}.Probabilities(in.Utilities),
		want.Probabilities...)
	c.near(t, "monotone", Exponential{scoresOf(in.Epsilon, in.Sensitivity, true, 0)}.Probabilities(in.Utilities),
		want.Monotone...)
}

func (c goldenCase) noisyMax(t *testing.T) {
	var in struct {
		Counts               []float64
		Epsilon, Sensitivity float64
	}
	var want struct {
		Laplace     []float64 `json:"laplace_scale_2_over_eps"`
		Monotone    []float64 `json:"laplace_scale_1_over_eps_monotone"`
		Gumbel      []float64 `json:"gumbel_equals_exponential_mechanism"`
		Exponential []float64 `json:"exponential_noise_permute_and_flip"`
		Loss        float64   `json:"max_log_ratio_over_neighbours_laplace_2_over_eps"`
		LossOneWay  float64   `json:"max_log_ratio_over_monotone_neighbours_laplace_1_over_eps"`
	}
	c.decode(t, &in, &want)
	s, monotone := scoresOf(in.Epsilon, in.Sensitivity, false, 0), scoresOf(in.Epsilon, in.Sensitivity, true, 0)
	c.near(t, "Laplace", NoisyMax{s}.Probabilities(in.Counts), want.Laplace...)
	c.near(t, "monotone Laplace", NoisyMax{monotone}.Probabilities(in.Counts), want.Monotone...)
	c.near(t, "Gumbel", Exponential{s}.Probabilities(in.Counts), want.Gumbel...)
	c.near(t, "privacy loss", []float64{largestLoss(s, in.Counts, -1), largestLoss(monotone, in.Counts, 0)}, want.Loss,
		want.LossOneWay)
	c.near(t, "exponential", permuteAndFlip(s, in.Counts), want.Exponential...)
}

// permuteAndFlip returns the law of the first index, in random order, that passes a coin of
// exp(-rate (best - score)) (McKenna, Sheldon 2020). With coins p, index i wins with p[i] times
// the integral over t in [0, 1], the time of its turn, of the product over j of 1 - t p[j]: a
// polynomial, for which a Gauss rule of as many points as candidates is exact.
func permuteAndFlip(s Scores, scores []float64) []float64 {
	coins, out := s.gaps(scores), make([]float64, len(scores))
	for i := range out {
		out[i] = math.Exp(-coins[i]) * quad.Fixed(func(t float64) float64 {
			all := 1.0
			for j, gap := range coins {
				if j != i {
					all *= 1 - t*math.Exp(-gap)
				}
			}
			return all
		}, 0, 1, len(coins), nil, 0)
	}
	return out
}

// largestLoss returns the largest log ratio of a selection probability between
// counts and any neighbour, whose counts differ by from..1 sensitivities each.
func largestLoss(s Scores, counts []float64, start int) (worst float64) {
	law, steps := NoisyMax{s}.Probabilities(counts), 2-start
	total := int(math.Pow(float64(steps), float64(len(counts))))
	for code := range total {
		neighbour := append([]float64(nil), counts...)
		for i := range neighbour {
			neighbour[i] += float64(code%steps+start) * s.Moves.AddRemove
			code /= steps
		}
		for i, p := range (NoisyMax{s}).Probabilities(neighbour) {
			worst = max(worst, math.Abs(math.Log(p/law[i])))
		}
	}
	return worst
}

func (c goldenCase) response(t *testing.T) {
	var in struct {
		Buckets int
		Noise   float64 `json:"noise_parameter"`
	}
	var want struct {
		Epsilon float64 `json:"pure_epsilon"`
		Truth   float64 `json:"truth_probability"`
	}
	c.decode(t, &in, &want)
	k := float64(in.Buckets)
	c.near(t, "epsilon, truth", []float64{math.Log1p(k * (1 - in.Noise) / in.Noise), 1 - in.Noise + in.Noise/k},
		want.Epsilon, want.Truth)
	c.near(t, "noise parameter", []float64{k / (math.Expm1(want.Epsilon) + k)}, in.Noise)
}

// TestGoldenLaws checks every case of accounting.json that states a law.
func TestGoldenLaws(t *testing.T) {
	var file goldenFile
	stattest.LoadGolden(t, "accounting.json", &file)
	checkAll(t, file)
}

// TestLaws checks the copies in testdata: cases F11, F13, F15, F16, F18 and F20
// of accounting.json (sources: Canonne, Kamath, Steinke 2020 reference code,
// closed forms, numerical integration).
func TestLaws(t *testing.T) {
	var file goldenFile
	data, err := os.ReadFile("testdata/laws.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	checkAll(t, file)
}

func checkAll(t *testing.T, file goldenFile) {
	t.Helper()
	seen := map[string]int{}
	for _, c := range file.Cases {
		if c.check(t) {
			seen[c.Kind]++
		}
	}
	if len(seen) != 4 {
		t.Errorf("kinds with laws: %v, must be four", seen)
	}
}

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
	stattest.LoadGolden(t, "graphical.json", &file)
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
	if _, err := ReleaseIntegers(h, []int64{5, 7}, HistogramMoves(), m.Noise(HistogramMoves(), m.Total()/100)); err ==
		nil {
		t.Error("a hundredth more is accepted")
	}
	return left
}
