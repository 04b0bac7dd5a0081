package gan

import (
	"fmt"
	"math"

	"weir/pipeline"
	"weir/privacy"
	"weir/privacy/published"
	"weir/schema"
)

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
	return pipeline.Unproven{Rule: "W08", Why: "batches are cut from one shuffle an epoch and charged as independent samples; " +
		"weight tensors of one batch are charged as if each had a coin of its own (W36)"}
}

// shuffled is the public number of rows that each shuffle orders; 0: unknown.
func (p *Program) shuffled(h pipeline.Header) int64 {
	if p.Rows > 0 {
		return p.Rows
	}
	return h.Rows
}

// rate is the share of rows in a batch, from public facts alone.
func (s *DPWGAN) rate(h pipeline.Header, ps *schema.Problems) float64 {
	if s.Program == nil {
		return s.Rate(h, ps)
	}
	s.checkProgram(h, ps)
	return min(1, s.ExpectedBatchSize/float64(max(1, s.Program.shuffled(h))))
}

// uclanesl is the program at these settings, on so many rows.
func (s *DPWGAN) uclanesl(rows int64, tensors int) published.UCLANESL {
	return published.UCLANESL{Rows: rows, Batch: int64(s.ExpectedBatchSize), Epochs: int64(s.Program.Epochs), Tensors: int64(tensors), Orders: 32}
}

// checkProgram says what the program cannot run on, or is not.
func (s *DPWGAN) checkProgram(h pipeline.Header, ps *schema.Problems) {
	rows := s.Program.shuffled(h)
	if h.Terms.Adjacency != privacy.ReplaceOne {
		ps.Add("program", "given under adjacency "+string(h.Terms.Adjacency), "given under replace_one: batches of a fixed size need a fixed number of rows")
	}
	if rows == 0 {
		ps.Refuse("W05", "program.rows", "missing, and the row count of the table is private", "given, or follow from dataset.rows_public through stages that keep the count")
	}
	if !(h.Terms.Delta > 0) {
		ps.Add("program", "given under a delta of 0", "given under a privacy.delta above 0, which its accountants need")
	}
	if s.Clip != clipTensor {
		ps.Add("clip", "example", "tensor beside program, which clips so")
	}
	if s.SamplingRate > 0 || s.NoiseMultiplier > 0 {
		ps.Add("program", "given beside sampling_rate or noise_multiplier", "given without them: both follow from it")
	}
	whole := s.ExpectedBatchSize == math.Trunc(s.ExpectedBatchSize)
	if b := s.ExpectedBatchSize; !whole || rows > 0 && b > float64(rows) {
		ps.Add("expected_batch_size", fmt.Sprint(b), "a whole number of at most the rows, as program cuts batches of a fixed size")
	}
	if h.Terms.Claims == pipeline.ClaimsProven {
		ps.Refuse("W08", "program", "given under claims: proven, and nothing is proven of it", "given under privacy.claims: published, only to reproduce what the paper ran, or absent")
	}
	if whole && float64(rows) >= s.ExpectedBatchSize && h.Terms.Delta > 0 {
		s.checkBudget(rows, h.Terms.Delta, ps)
	}
}

// checkBudget says whether the program's accountant lets the generator be trained.
func (s *DPWGAN) checkBudget(rows int64, delta float64, ps *schema.Problems) {
	if b := s.uclanesl(rows, s.tensors()).Branch(s.Program.Epsilon, delta); b.Steps < int64(s.CriticSteps) {
		ps.Add("program.epsilon", fmt.Sprintf("%g, at which its accountant stops after %d critic steps", s.Program.Epsilon, b.Steps),
			fmt.Sprintf("so much that critic_steps, %d, fit; or more rows, or a larger privacy.delta", s.CriticSteps))
	}
}

// tensors are those of the critic, which program charges each: weights and offsets of a layer.
func (s *DPWGAN) tensors() int { return 2 * (len(s.Critic) + 1) }

// findings warn of batches of a size that Poisson samples cannot have; program refuses such.
func (s *DPWGAN) findings(h pipeline.Header) []pipeline.Finding {
	if s.Program != nil {
		return nil
	}
	return s.Findings("expected_batch_size", h)
}

// schedule is the noise (0: of the bill) and the critic steps of the settings, and what
// the program's accountant says of them.
func (s *DPWGAN) schedule(h pipeline.Header, rate float64, tensors int) (noise float64, steps int, p *pipeline.Published) {
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
		method = "UCLANESL, NIST challenge 2018, for epsilon up to 0.7: amortised accountant of TensorFlow 2016, one release a weight tensor"
	}
	return b.NoiseMultiplier, int(b.Steps), &pipeline.Published{Method: fmt.Sprintf("%s, stopped after %d steps", method, b.Steps),
		Epsilon: func(_, delta float64) (float64, error) { return u.Reported(b, delta) }}
}
