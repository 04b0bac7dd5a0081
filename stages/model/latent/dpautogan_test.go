package latent

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir/pipeline"
	"weir/pipeline/pipelinetest"
	"weir/privacy"
	"weir/stages/model/artifact"
	"weir/stages/model/internal/training"
)

// smallAuto returns a quick version of dp_auto_gan: 8 steps of the autoencoder, 12 of the critic.
func smallAuto() *DPAutoGAN {
	s := dpAutoGANKind().New().(*DPAutoGAN)
	s.Autoencoder.Sampling = training.Sampling{Steps: 8, ExpectedBatchSize: 10, SamplingRate: 0.25, MaxGradNorm: 0.05}
	s.Autoencoder.Hidden, s.Autoencoder.Code, s.Autoencoder.Heads = []int{5}, 3, "columns"
	s.GAN.Sampling = training.Sampling{Steps: 12, ExpectedBatchSize: 10, SamplingRate: 0.25, MaxGradNorm: 0.05}
	s.GAN.CriticSteps, s.GAN.GeneratedBatch, s.GAN.LatentDim, s.GAN.Generator, s.GAN.Critic = 2, 8, 3, []int{3}, []int{6}
	s.GAN.Norm, s.GAN.Average, s.NoiseRatio, s.CheckpointEvery = "batch_norm", 0, 0.5, 3
	return s
}

// autoGANs returns dp_auto_gan at settings that take other ways.
func autoGANs() map[string]pipelinetest.Learner {
	return map[string]pipelinetest.Learner{
		"dp_auto_gan": {Kind: dpAutoGANKind(), Stage: func() pipeline.Stage { return smallAuto() }},
		"dp_auto_gan averaged": {Kind: dpAutoGANKind(), Stage: func() pipeline.Stage {
			s := smallAuto()
			s.Autoencoder.Average, s.GAN.Average, s.GAN.Norm, s.GAN.Residual, s.GAN.Optimiser, s.Autoencoder.Loss,
				s.Autoencoder.Activation = 0.9, 0.9, "layer_norm", false, "adam", "sum", "tanh"
			return s
		}},
	}
}

// TestAutoGANSpendsThePlan: both phases are charged, by hand: rate 10/40; at scale 1.5 the
// autoencoder has noise_ratio of it, where both multipliers are given its own.
func TestAutoGANSpendsThePlan(t *testing.T) {
	fixed := smallAuto()
	fixed.Autoencoder.NoiseMultiplier, fixed.GAN.NoiseMultiplier = 0.7, 1.5
	for s, multiplier := range map[*DPAutoGAN]float64{smallAuto(): 0.75, fixed: 0.7} {
		l := pipelinetest.Learner{Kind: dpAutoGANKind(), Stage: func() pipeline.Stage { return s }}
		_, r := l.Trained(t, ward(t))
		var got []privacy.Event
		for _, p := range r.Ledger.Plan {
			got = append(got, p.Event.Event)
		}
		phase := func(steps int64, multiplier float64) privacy.Event {
			return privacy.Repeated{Count: steps, Event: privacy.PoissonSampled{SamplingRate: 0.25,
				Event: privacy.Gaussian{NoiseMultiplier: multiplier}}}
		}
		if diff := cmp.Diff([]privacy.Event{phase(8, multiplier), phase(12, 1.5)}, got); diff != "" {
			t.Errorf("planned (-want +got):\n%s", diff)
		}
		if a, g := r.Ledger.Taken(spendAutoencoder), r.Ledger.Taken(spendGAN); a != 8 || g != 12 {
			t.Errorf("%d and %d uses, must be 8 and 12", a, g)
		}
	}
}

// TestAutoGANReleasesGeneratorAndDecoder: 3 latents, a block of 3 and one to 3 codes, each with
// four numbers a column of batch_norm, then the decoder's 5 hidden units and 7 outputs. No encoder,
// no critic.
func TestAutoGANReleasesGeneratorAndDecoder(t *testing.T) {
	model, _ := autoGANs()["dp_auto_gan"].Trained(t, ward(t))
	checkModel(t, model, 2*((3+1)*3+4*3)+(3+1)*5+(5+1)*7)
}

// TestGoldenAutoGANPublished: what the paper's arithmetic gives at its settings
// (golden/accounting.json H01, H02, H03), which it prints rounded up.
func TestGoldenAutoGANPublished(t *testing.T) {
	for _, c := range []struct{ autoencoder, gan, want, printed float64 }{
		{5, 8, 0.35031874527776297, 0.36}, {2.5, 7.5, 0.5084394473123881, 0.51}, {1.5, 3.5, 1.006176252198546, 1.01},
	} {
		s := dpAutoGANKind().New().(*DPAutoGAN)
		s.Autoencoder.Steps, s.Autoencoder.NoiseMultiplier, s.GAN.Steps, s.GAN.NoiseMultiplier = 10000, c.autoencoder, 15000,
			c.gan
		got, err := s.published(&plan{autoencoderRate: 64. / 32561, ganRate: 128. / 32561}).Epsilon(c.gan, 1e-5)
		must(t, err)
		if math.Abs(got/c.want-1) > 1e-6 || math.Ceil(got*100)/100 != c.printed {
			t.Errorf("multipliers %g and %g: epsilon %.7f, must be %.7f", c.autoencoder, c.gan, got, c.want)
		}
	}
}

// TestNoiselessEncoderIsUnproven: with its rule; noise on both halves is proven.
func TestNoiselessEncoderIsUnproven(t *testing.T) {
	for noise, rule := range map[string]string{"both": "", "decoder": "W13"} {
		s := smallAuto()
		s.NoiseOn = noise
		w, err := s.Plan(pipeline.Headers{"in": ward(t).Header})
		must(t, err)
		if w.Pricing.Unproven.Rule != rule {
			t.Errorf("noise on %s: rule %q, must be %q", noise, w.Pricing.Unproven.Rule, rule)
		}
	}
}

// TestAutoGANRefusals: what cannot work is told from public facts, at its setting, all at once.
func TestAutoGANRefusals(t *testing.T) {
	unknown := ward(t).Header
	unknown.Rows = 0
	raw := ward(t).Header
	raw.Domain = raw.Domain.Clone()
	raw.Domain.Columns[0].Encoding = nil
	for want, c := range map[string]struct {
		h      pipeline.Header
		change func(*DPAutoGAN)
	}{
		"autoencoder.sampling_rate":               {unknown, func(s *DPAutoGAN) { s.Autoencoder.SamplingRate = 0 }},
		"gan.sampling_rate":                       {unknown, func(s *DPAutoGAN) { s.GAN.SamplingRate = 0 }},
		"column age (integer) is not encoded":     {raw, func(*DPAutoGAN) {}},
		"gan.steps: is 1, so that":                {ward(t).Header, func(s *DPAutoGAN) { s.GAN.Steps = 1 }},
		"noise_multiplier: is given for one":      {ward(t).Header, func(s *DPAutoGAN) { s.GAN.NoiseMultiplier = 2 }},
		"autoencoder.encoder_rate: is given with": {ward(t).Header, func(s *DPAutoGAN) { s.Autoencoder.EncoderRate = 1 }},
		"autoencoder.heads: is sigmoid, and the":  {ward(t).Header, func(s *DPAutoGAN) { s.Autoencoder.Heads = "sigmoid" }},
		"gan.critic: is 65 layers":                {ward(t).Header, func(s *DPAutoGAN) { s.GAN.Critic = make([]int, 65) }},
		"autoencoder.hidden: is [1048576 1048576],": {ward(t).Header,
			func(s *DPAutoGAN) { s.Autoencoder.Hidden = []int{1 << 20, 1 << 20} }},
		"gan.max_grad_norm": {ward(t).Header, func(s *DPAutoGAN) { s.GAN.MaxGradNorm = 1e-300 }},
	} {
		s := smallAuto()
		c.change(s)
		_, err := s.Plan(pipeline.Headers{"in": c.h})
		if text, _ := json.Marshal(err); err == nil || !strings.Contains(err.Error()+string(text), want) {
			t.Errorf("%v, must say %q", err, want)
		}
	}
}

// TestAutoGANWithoutRows: an empty private table trains on noise alone and is released like
// any other.
func TestAutoGANWithoutRows(t *testing.T) {
	in := ward(t)
	in.Rows = in.Rows.NewSlice(0, 0)
	model, _ := autoGANs()["dp_auto_gan"].Trained(t, in)
	if _, err := artifact.Read[artifact.Model](t.Context(), model, pipeline.ReadersOf(Kinds())); err != nil {
		t.Error(err)
	}
}

// TestHeadsOfColumns: heads columns are the heads of training.Outputs, heads sigmoid one run as
// wide as a row.
func TestHeadsOfColumns(t *testing.T) {
	h := ward(t).Header
	s := smallAuto()
	p, err := s.plan(pipeline.Headers{"in": h})
	must(t, err)
	if diff := cmp.Diff(training.Outputs(h.Domain).Blocks, p.heads); diff != "" {
		t.Error(diff)
	}
}
