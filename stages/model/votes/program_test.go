package votes

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"weir/pipeline"
	"weir/pipeline/pipelinetest"
	"weir/train"
	"weir/train/net"
)

// ofProgram returns the paper's program: several restarts, each until its accountant ends it.
func ofProgram() *PATEGAN {
	s := paper()
	s.NoiseMultiplier, s.StartWeights = 1, "normal"
	s.Program = &Program{Epsilon: 0.1, Restarts: 3, Column: "smoker"}
	return s
}

// TestProgramStopsAfterOneStep: the accountant begins at ln(1e5)/20 = .5756, above .1, so that each
// training takes one step; teachers that are all for a row cost e^-1000, nothing that a float shows, so
// that .58 is not reached by them, and a row of 500 votes of 1,000 costs 4 at order 1, which reaches 10.
func TestProgramStopsAfterOneStep(t *testing.T) {
	agreed, split := []int64{1000, 0, 1000}, []int64{500}
	for name, c := range map[string]struct {
		epsilon float64
		votes   []int64
		ends    bool
	}{
		"all agree, .1":    {0.1, agreed, true},
		"all agree, .5756": {math.Log(1e5) / 20, agreed, true},
		"all agree, .58":   {0.58, agreed, false},
		"split, 2.54":      {2.54, split, true},
		"split, 2.55":      {2.55, split, false},
	} {
		s := ofProgram()
		s.Program.Epsilon = c.epsilon
		if got := s.stop(1000, 1e-5)(c.votes); got != c.ends {
			t.Errorf("%s: ends is %t, must be %t", name, got, c.ends)
		}
	}
	s := ofProgram()
	s.Program.Epsilon = 0
	if s.stop(1000, 1e-5) != nil {
		t.Error("without an epsilon nothing stops a training")
	}
}

// TestProgramPublishesNoLessThanItsStart: a target below ln(1e5)/20 is no epsilon that its accountant ever says.
func TestProgramPublishesNoLessThanItsStart(t *testing.T) {
	for target, want := range map[float64]float64{0.1: math.Log(1e5) / 20, 1: 1} {
		s := ofProgram()
		s.Program.Epsilon = target
		if got, err := s.published().Epsilon(1, 1e-5); err != nil || math.Abs(got-want) > 1e-12 {
			t.Errorf("target %g: published epsilon %g (%v), must be %g", target, got, err, want)
		}
	}
}

// TestProgramUsesThePlan: whatever votes are, all of 3 trainings of 12 steps are used up, and a
// training that is stopped after a step differs from one that is not.
func TestProgramUsesThePlan(t *testing.T) {
	in := ward(t, 5)
	weights := map[float64][]byte{}
	for _, epsilon := range []float64{0, 0.1} {
		l := pipelinetest.Learner{Kind: pateGANKind(), Stage: func() pipeline.Stage {
			s := ofProgram()
			s.Program.Epsilon = epsilon
			return s
		}}
		model, r := l.Trained(t, in)
		if n := r.Ledger.Taken("train"); n != 36 {
			t.Errorf("epsilon %g: %d uses, must be 36", epsilon, n)
		}
		weights[epsilon] = pipelinetest.Bytes(t, model)
	}
	if bytes.Equal(weights[0], weights[0.1]) {
		t.Error("the accountant stopped nothing")
	}
}

// TestProgramIsNotProven: the plan names the rules that the program breaks, W15 and W21 for where
// it stops, W18 for what it chooses, and none without either.
func TestProgramIsNotProven(t *testing.T) {
	for want, p := range map[string]*Program{
		"":            nil,
		"W15 W21":     {Epsilon: 1, Restarts: 1},
		"W18":         {Restarts: 2, Column: "smoker"},
		"W15 W21 W18": {Epsilon: 1, Restarts: 2, Column: "smoker"},
	} {
		s := ofProgram()
		s.Program = p
		w, err := s.Plan(pipeline.Headers{"in": ward(t, 5).Header})
		must(t, err)
		for _, rule := range []string{"W15", "W21", "W18"} {
			if got := strings.Contains(w.Pricing.Unproven.String(), rule); got != strings.Contains(want, rule) {
				t.Errorf("%s: %q", want, w.Pricing.Unproven)
			}
		}
	}
}

// TestProgramRefusals: settings that contradict the program.
func TestProgramRefusals(t *testing.T) {
	fit := ward(t, 5).Header
	pure := fit
	pure.Terms.Delta = 0
	for want, c := range map[string]struct {
		h      pipeline.Header
		change func(*PATEGAN)
	}{
		"noise: laplace and a noise_multiplier": {fit, func(s *PATEGAN) { s.NoiseMultiplier = 0 }},
		"given together with noise: gaussian":   {fit, func(s *PATEGAN) { s.Noise = "gaussian" }},
		"under a delta of 0":                    {pure, func(*PATEGAN) {}},
		"with one restart":                      {fit, func(s *PATEGAN) { s.Program.Restarts = 1 }},
		"age, weight, region, smoker":           {fit, func(s *PATEGAN) { s.Program.Column = "smokes" }},
		"region, of 3 categories":               {fit, func(s *PATEGAN) { s.Program.Column = "region" }},
		"age, of 0 categories":                  {fit, func(s *PATEGAN) { s.Program.Column = "age" }},
	} {
		s := ofProgram()
		c.change(s)
		_, err := s.Plan(pipeline.Headers{"in": c.h})
		if text, _ := json.Marshal(err); err == nil || !strings.Contains(err.Error()+string(text), want) {
			t.Errorf("%v, must be a refusal with %s", err, want)
		}
	}
}

// TestBestIsKept: of five that are made, the first of the two with the greatest score.
func TestBestIsKept(t *testing.T) {
	scores, built := []float64{0.2, 0.5, 0.4, 0.5, 0.1}, float32(0)
	got, err := best(5, func() ([]float32, error) {
		built++
		return []float32{built}, nil
	}, func(w []float32) (float64, error) { return scores[int(w[0])-1], nil })
	must(t, err)
	if built != 5 || got[0] != 2 {
		t.Errorf("of %g made, %g is kept, must be 2 of 5", built, got[0])
	}
}

// TestRivalScores: private rows whose label, in one column or two, follows from the first column of
// ward. A net of one layer that puts out what it is given, of latents whose sign is the label, teaches
// AdaBoost to tell them apart; one whose label is turned round teaches it the opposite; one with a
// single label teaches nothing.
func TestRivalScores(t *testing.T) {
	d := ward(t, 5).Header.Domain // columns: age, weight, region (3), smoker (2)
	rows, r := train.NewRows(200), rand.New(rand.NewPCG(1, 2))
	numbers := make([][]float32, 7)
	for range 200 {
		x := float32(r.NormFloat64())
		row := []float32{x, 0, 1, 0, 0, 1, 0}
		if x > 0 {
			row[5], row[6] = 0, 1
		}
		for j, v := range row {
			numbers[j] = append(numbers[j], v)
		}
	}
	for _, c := range numbers {
		must(t, rows.Numeric(c))
	}
	v := newRival(d, "smoker", rows)
	for _, c := range []struct {
		no, yes  float32 // how the label's two columns follow from the latent
		from, to float64
	}{{-1, 1, 0.99, 1}, {1, -1, 0, 0.01}, {0, 0, 0.5, 0.5}} {
		n, w := linearNet(t, c.no, c.yes)
		got, err := v.score(t.Context(), n, w, rand.New(rand.NewPCG(3, 4)))
		must(t, err)
		if got < c.from || got > c.to {
			t.Errorf("labels by (%g, %g) of the latent: %g, must lie in [%g, %g]", c.no, c.yes, got, c.from, c.to)
		}
	}
}

// linearNet puts out its one latent as the first of 7 columns, and multiples of it as the last two.
func linearNet(t *testing.T, no, yes float32) (*net.Net, []float32) {
	t.Helper()
	n, err := net.New(net.Spec{Inputs: 1, Layers: []net.Layer{net.Dense(7)}})
	must(t, err)
	w := make([]float32, n.Params())
	w[0], w[5], w[6] = 1, no, yes
	return n, w
}
