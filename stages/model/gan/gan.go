// Package gan holds the kinds that learn a private table by adversarial nets
// under a budget.
package gan

import (
	"fmt"
	"math"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/privacy"
	"weir/privacy/account"
	"weir/privacy/published"
	"weir/schema"
	"weir/stages/model/internal/training"
	"weir/train/net"
)

// Kinds lists the kinds of this family.
func Kinds() []pipeline.Kind { return []pipeline.Kind{dpWGANKind(), gsWGANKind(), dpGANKind()} }

// Slopes of LeakyReLU below zero: of GANs on images (Radford et al. 2016), and the slope of
// UCLANESL's program.
const (
	leak         = 0.2
	leakUCLANESL = 0.01
)

// nets returns a critic, which maps encoded rows of domain d to one score, and a generator,
// which maps latent standard normals to such rows.
func nets(critic, hidden training.Hidden, latent int, d *domain.Domain) (c, g *net.Net, err error) {
	if c, err = training.Critic(critic, d); err != nil {
		return nil, nil, err
	}
	g, err = training.Generator(hidden, latent, d)
	return c, g, err
}

// Program is how UCLANESL's program spends a budget: what it runs instead of Poisson
// samples under a proven bill.
//
// It cuts consecutive batches from one shuffle an epoch and charges them as independent
// samples (W08), and each weight tensor as a release with a coin of its own, though all
// share the batch (W36; docs/accounting.md section 4). So nothing is proven of its
// epsilon. Noise and steps follow from public numbers before the run: it stops after as
// many critic steps as its accountant allows.
type Program struct {
	Epsilon float64 `yaml:"epsilon" json:"epsilon" required:"true" exclusiveMin:"0" doc:"The budget that it is called with, as a rule that of privacy.epsilon; delta is that of privacy.delta. Up to 0.7 its amortised accountant sets the noise; above, the noise multiplier is 3, and 1 above 5."`
	Epochs  int     `yaml:"epochs" json:"epochs" required:"true" min:"1" max:"1000000" doc:"Most passes over the rows."`
	Rows    int64   `yaml:"rows,omitempty" json:"rows,omitempty" min:"1" max:"2147483647" doc:"Rows that a shuffle orders; the public row count of the table by default."`
}

// unproven says what of the program has no proof: first what no clip or noise repairs.
func (p *Program) unproven() pipeline.Unproven {
	if p == nil {
		return pipeline.Unproven{}
	}
	return pipeline.Unproven{Rule: "W08", Why: "batches are cut from one shuffle an epoch and charged as independent " +
		"samples; " +
		"weight tensors of one batch are charged as if each had a coin of its own (W36)"}
}

// shuffled returns the public number of rows that each shuffle orders; 0: unknown.
func (p *Program) shuffled(h pipeline.Header) int64 {
	if p.Rows > 0 {
		return p.Rows
	}
	return h.Rows
}

// rate returns the share of rows in a batch, from public facts alone.
func (s *DPWGAN) rate(h pipeline.Header, ps *schema.Problems) float64 {
	if s.Program == nil {
		return s.Rate(h, ps)
	}
	s.checkProgram(h, ps)
	return min(1, s.ExpectedBatchSize/float64(max(1, s.Program.shuffled(h))))
}

// uclanesl returns the program at these settings, on the given number of rows.
func (s *DPWGAN) uclanesl(rows int64, tensors int) published.UCLANESL {
	return published.UCLANESL{Rows: rows, Batch: int64(s.ExpectedBatchSize), Epochs: int64(s.Program.Epochs),
		Tensors: int64(tensors), Orders: 32}
}

// checkProgram says what the program cannot run on, or is not.
func (s *DPWGAN) checkProgram(h pipeline.Header, ps *schema.Problems) {
	rows := s.Program.shuffled(h)
	if h.Terms.Adjacency != privacy.ReplaceOne {
		ps.Add("program", "given under adjacency "+string(h.Terms.Adjacency),
			"given under replace_one: batches of a fixed size need a fixed number of rows")
	}
	if rows == 0 {
		ps.Refuse("W05", "program.rows", "missing, and the row count of the table is private",
			"given, or follow from dataset.rows_public through stages that keep the count")
	}
	if !(h.Terms.Delta > 0) {
		ps.Add("program", "given under a delta of 0", "given under a privacy.delta above 0, which its accountants need")
	}
	if s.Clip != clipTensor {
		ps.Add("clip", "example, with program set", "tensor: the program clips each tensor")
	}
	if s.SamplingRate > 0 || s.NoiseMultiplier > 0 {
		ps.Add("program", "given together with sampling_rate or noise_multiplier", "given without them: both follow from it")
	}
	whole := s.ExpectedBatchSize == math.Trunc(s.ExpectedBatchSize)
	if b := s.ExpectedBatchSize; !whole || rows > 0 && b > float64(rows) {
		ps.Add("expected_batch_size", fmt.Sprint(b), "a whole number of at most the rows, as program cuts batches of a "+
			"fixed size")
	}
	if h.Terms.Claims == pipeline.ClaimsProven {
		ps.Refuse("W08", "program", "given under claims: proven, and nothing is proven of it",
			"given under privacy.claims: published, only to reproduce what the paper ran, or absent")
	}
	if whole && float64(rows) >= s.ExpectedBatchSize && h.Terms.Delta > 0 {
		s.checkBudget(rows, h.Terms.Delta, ps)
	}
}

// checkBudget says whether the program's accountant lets the generator be trained.
func (s *DPWGAN) checkBudget(rows int64, delta float64, ps *schema.Problems) {
	if b := s.uclanesl(rows, s.tensors()).Branch(s.Program.Epsilon, delta); b.Steps < int64(s.CriticSteps) {
		ps.Add("program.epsilon", fmt.Sprintf("%g, at which its accountant stops after %d critic steps", s.Program.Epsilon,
			b.Steps),
			fmt.Sprintf("large enough for critic_steps (%d); more rows or a larger privacy.delta help too", s.CriticSteps))
	}
}

// tensors returns the tensors of the critic, which program charges each: weights and offsets of a layer.
func (s *DPWGAN) tensors() int { return 2 * (len(s.Critic) + 1) }

// findings warn of batches of a size that Poisson samples cannot have; program refuses such.
func (s *DPWGAN) findings(h pipeline.Header) []pipeline.Finding {
	if s.Program != nil {
		return nil
	}
	return s.Findings("expected_batch_size", h)
}

// schedule returns the noise (0: of the bill) and the critic steps of the settings, and what
// the program's accountant says of them.
func (s *DPWGAN) schedule(h pipeline.Header, rate float64, tensors int) (noise float64, steps int,
	p *pipeline.Published) {
	switch {
	case s.Program == nil && s.NoiseMultiplier > 0 && s.Clip != clipTensor:
		return s.NoiseMultiplier, s.Steps, publishedBaseline(rate, int64(s.Steps))
	case s.Program == nil:
		return s.NoiseMultiplier, s.Steps, publishedDPWGAN(rate, int64(s.Steps), int64(tensors))
	}
	u := s.uclanesl(s.Program.shuffled(h), tensors)
	b := u.Branch(s.Program.Epsilon, h.Terms.Delta)
	method := "UCLANESL, NIST challenge 2018: moments accountant (32 orders), one release a weight tensor"
	if b.Amortized {
		method = "UCLANESL, NIST challenge 2018, for epsilon up to 0.7: amortised accountant of TensorFlow 2016, one " +
			"release a weight tensor"
	}
	return b.NoiseMultiplier, int(b.Steps), &pipeline.Published{Method: fmt.Sprintf("%s, stopped after %d steps", method,
		b.Steps),
		Epsilon: func(_, delta float64) (float64, error) { return u.Reported(b, delta) }}
}

// publishedDPWGAN returns what UCLANESL's program would print for these settings: the
// moments accountant with 32 orders, every weight tensor of the critic charged
// as a release with a coin of its own, add_remove. It is no bound for tensors
// that share a batch (docs/accounting.md section 4); this kind is charged for all
// tensors together, once.
func publishedDPWGAN(rate float64, steps, tensors int64) *pipeline.Published {
	return &pipeline.Published{
		Method: "UCLANESL, NIST challenge 2018: moments accountant (32 orders), one release a weight tensor",
		Epsilon: func(multiplier, delta float64) (float64, error) {
			phase := published.Phase{SamplingRate: rate, NoiseMultiplier: multiplier, Steps: tensors * steps}
			return account.Moments{MaxLambda: 32}.Epsilon(published.Events(phase), privacy.AddRemove, delta)
		},
	}
}

// publishedDPGAN returns the arithmetic of the GANAD thesis for its DP-GAN, as far as it can be known: the
// Renyi accountant of one class, since the classes are apart, add_remove. What runs here
// has one rate for all rows; at equal classes and twice their batch it is the rate of each. It bounds the critics under
// add_remove, whatever the labels are, and not the noisy sizes of labels.
func publishedDPGAN(rate float64, steps int64) *pipeline.Published {
	return &pipeline.Published{
		Method: "GANAD thesis, DP-GAN: Renyi accountant of one class (classic conversion), add_remove",
		Epsilon: func(multiplier, delta float64) (float64, error) {
			return published.DPAutoGAN(delta, published.Phase{SamplingRate: rate, NoiseMultiplier: multiplier, Steps: steps})
		},
	}
}

// publishedBaseline returns what DP-auto-GAN's authors compute for a DP-WGAN of given noise
// (their baseline): one release a step, log moments up to 32. It bounds
// what this kind runs with one clip over all weights, under add_remove.
func publishedBaseline(rate float64, steps int64) *pipeline.Published {
	return &pipeline.Published{
		Method: "DP-WGAN as accounted by Tantipongpipat et al. 2021: moments accountant (32 orders), one release a step",
		Epsilon: func(multiplier, delta float64) (float64, error) {
			return published.DPWGAN(delta, published.Phase{SamplingRate: rate, NoiseMultiplier: multiplier, Steps: steps})
		},
	}
}

// publishedGSWGAN returns what the script of Chen et al. 2020 prints for these
// settings: theorem 9 at rate 1/k for every row of every batch. For query sample under a
// public schedule it is a valid bound, though not the tightest; for query batch it is
// none; for query mean the paper has no accountant.
func publishedGSWGAN(s *GSWGAN, critics int) *pipeline.Published {
	if s.Query == "mean" {
		return nil
	}
	return &pipeline.Published{
		Method: "GS-WGAN, Chen et al. 2020: Wang, Balle, Kasiviswanathan 2019, theorem 9, classic conversion",
		Epsilon: func(multiplier, delta float64) (float64, error) {
			return s.published(critics, multiplier).Published(delta)
		},
	}
}
