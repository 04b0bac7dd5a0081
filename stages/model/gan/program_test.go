package gan

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"weir/pipeline"
	"weir/privacy"
)

// TestProgramIsUnproven: its first rule is that of the shuffled batches, and no setting of
// the proven variants has one.
func TestProgramIsUnproven(t *testing.T) {
	h := pipeline.Headers{"in": ward(t, 0).Header}
	for name, want := range map[string]string{"dp_wgan": "", "dp_wgan tensor": "", programName: "W08"} {
		w, err := learners(t)[name].Stage().Plan(h)
		must(t, err)
		if got := w.Terms.Unproven.Rule; got != want {
			t.Errorf("%s: rule %q, want %q", name, got, want)
		}
	}
}

// TestProgramTakesItsBranch: on 27,253 rows at delta 1/n^2 the noise of each branch, and
// for .3 a stop when delta is spent, after a quarter of 10 epochs of 426 batches, since
// each of the 4 tensors is charged.
func TestProgramTakesItsBranch(t *testing.T) {
	h := ward(t, 0).Header
	h.Rows, h.Terms.Delta = 27253, 1/(27253.0*27253)
	for epsilon, want := range map[float64]struct {
		noise float64
		steps int64
	}{0.3: {math.NaN(), 1065}, 1: {3, 4260}, 8: {1, 4260}} {
		s := programWGAN()
		s.ExpectedBatchSize, s.Program = 64, &Program{Epsilon: epsilon, Epochs: 10}
		w, err := s.Plan(pipeline.Headers{"in": h})
		must(t, err)
		m := w.Spends[0].Mechanism(w.Terms.Scale)
		if m.Uses() != want.steps || !math.IsNaN(want.noise) && w.Terms.Scale != want.noise {
			t.Errorf("budget %g: %d steps at noise multiplier %g, want %d at %g", epsilon, m.Uses(), w.Terms.Scale, want.steps, want.noise)
		}
		if reported, err := w.Terms.Published.Epsilon(w.Terms.Scale, h.Terms.Delta); err != nil || !(reported <= epsilon) {
			t.Errorf("budget %g: its accountant reports %g (%v)", epsilon, reported, err)
		}
	}
}

// TestProgramNeedsAreToldAtOnce: whoever turns it on is told in one go all that it takes,
// its budget among it.
func TestProgramNeedsAreToldAtOnce(t *testing.T) {
	h := ward(t, 0).Header
	h.Terms.Adjacency, h.Terms.Claims = privacy.AddRemove, pipeline.ClaimsProven
	s := programWGAN()
	s.Clip, s.NoiseMultiplier, s.Program.Epsilon = "", 2, 0.8
	_, err := s.Plan(pipeline.Headers{"in": h})
	text, _ := json.Marshal(err)
	for _, want := range []string{"replace_one", "privacy.claims", `"clip"`, "noise_multiplier", "program.epsilon"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s: nothing of %s", text, want)
		}
	}
}

// TestProgramCountsTensors: those whose budget is checked are those of the net that is trained.
func TestProgramCountsTensors(t *testing.T) {
	for _, critic := range [][]int{{3}, {5, 4}} {
		s := programWGAN()
		s.Critic = critic
		net, _, err := s.nets(ward(t, 0).Header.Domain)
		must(t, err)
		if got := len(net.Tensors()); s.tensors() != got {
			t.Errorf("%v: %d tensors are checked, %d trained", critic, s.tensors(), got)
		}
	}
}

func TestProgramRefusals(t *testing.T) {
	fit := ward(t, 0).Header
	removed, unknown, exact := fit, fit, fit
	removed.Terms.Adjacency, unknown.Rows, exact.Terms.Delta = privacy.AddRemove, 0, 0
	for name, c := range map[string]struct {
		h      pipeline.Header
		change func(*DPWGAN)
		want   string
	}{
		"add_remove":        {removed, func(*DPWGAN) {}, "replace_one"},
		"no public rows":    {unknown, func(*DPWGAN) {}, "W05"},
		"no delta":          {exact, func(*DPWGAN) {}, "privacy.delta"},
		"one clip":          {fit, func(s *DPWGAN) { s.Clip = "" }, "clip"},
		"noise of the spec": {fit, func(s *DPWGAN) { s.NoiseMultiplier = 2 }, "noise_multiplier"},
		"part of a row":     {fit, func(s *DPWGAN) { s.ExpectedBatchSize = 9.5 }, "expected_batch_size"},
		"too little":        {fit, func(s *DPWGAN) { s.Program.Epsilon = 0.8 }, "program.epsilon"},
	} {
		s := programWGAN()
		s.Program.Rows = 0
		c.change(s)
		_, err := s.Plan(pipeline.Headers{"in": c.h})
		if text, _ := json.Marshal(err); err == nil || !strings.Contains(err.Error()+string(text), c.want) {
			t.Errorf("%s: %v, must be a refusal with %s", name, err, c.want)
		}
	}
}

// TestBaselineEpsilons: DP-WGAN of DP-auto-GAN's paper has psi 27.5, 19 and 9 at .37, .51 and 1.01; the steps of
// specs/dp-wgan-adult are the last epoch of 508.8 batches of 64 within them. Log moments to 32 begin at
// ln(1e5)/32 = .3598, so that .36 allows five epochs.
func TestBaselineEpsilons(t *testing.T) {
	const rate, epoch = 64. / 32561, 509
	for _, c := range []struct {
		epsilon, psi float64
		steps        int64
	}{{0.36, 27.5, 2544}, {0.37, 27.5, 121087}, {0.51, 19, 849137}, {1.01, 9, 883733}} {
		at, err := publishedBaseline(rate, c.steps).Epsilon(c.psi, 1e-5)
		must(t, err)
		later, err := publishedBaseline(rate, c.steps+epoch).Epsilon(c.psi, 1e-5)
		must(t, err)
		if !(at <= c.epsilon && later > c.epsilon) {
			t.Errorf("psi %g: %g after %d steps, %g an epoch later; the paper has %g", c.psi, at, c.steps, later, c.epsilon)
		}
	}
}
