package train

import (
	"context"
	"errors"
	"fmt"

	"weir/privacy"
	"weir/train/internal/kernel"
	"weir/train/net"
)

// WGANConfig is a Wasserstein GAN whose critic learns by a paid DPSGD. Its Steps
// are the critic's; the generator takes GeneratorSteps after every CriticSteps of
// them. Only the critic's steps are paid for.
type WGANConfig struct {
	CriticSteps    int       `json:"critic_steps"`
	GeneratorSteps int       `json:"generator_steps"`
	WeightClip     float64   `json:"weight_clip"`     // of the critic; 0 is none
	Penalty        float64   `json:"penalty"`         // weight of the gradient penalty; 0 is none
	GeneratorBatch int       `json:"generator_batch"` // generated rows a step
	Paired         bool      `json:"paired"`          // a real row and a generated one are one example, clipped together
	Frozen         int       `json:"frozen"`          // weights at the end of the generator's that stay: a decoder's
	Critic         Optimiser `json:"critic"`
	Generator      Optimiser `json:"generator"`
	Average        float64   `json:"average"` // decay of the average of the generator's iterates; 0 is none
	Seed           uint64    `json:"seed"`    // public: latents
	Worst          *Worst    `json:"-"`       // rows that each batch leaves out
}

// Validate names every field that is out of range.
func (c WGANConfig) Validate() error {
	errs := []error{c.Critic.Validate(), c.Generator.Validate()}
	if c.CriticSteps < 1 {
		errs = append(errs, fmt.Errorf("critic_steps: is %d, must be at least 1", c.CriticSteps))
	}
	if c.GeneratorSteps < 1 {
		errs = append(errs, fmt.Errorf("generator_steps: is %d, must be at least 1", c.GeneratorSteps))
	}
	if !(c.Average >= 0 && c.Average < 1) {
		errs = append(errs, fmt.Errorf("average: is %g, must be at least 0 and below 1", c.Average))
	}
	if c.GeneratorBatch < 1 {
		errs = append(errs, fmt.Errorf("generator_batch: is %d, must be at least 1", c.GeneratorBatch))
	}
	if !(c.Penalty >= 0) {
		errs = append(errs, fmt.Errorf("penalty: is %g, must be at least 0", c.Penalty))
	}
	if c.Paired && c.Penalty > 0 {
		errs = append(errs, errors.New("paired: is given with a penalty, whose examples hold a pair already; must be one "+
			"of the two"))
	}
	if c.Penalty > 0 && c.Worst != nil {
		errs = append(errs, errors.New("worst: is given with a penalty, whose examples make generated rows of their own; "+
			"must be one of the two"))
	}
	if c.Frozen < 0 {
		errs = append(errs, fmt.Errorf("frozen: is %d, must be at least 0", c.Frozen))
	}
	if !(c.WeightClip >= 0) {
		errs = append(errs, fmt.Errorf("weight_clip: is %g, must be at least 0", c.WeightClip))
	}
	return errors.Join(errs...)
}

// WGAN trains a generator against a critic (UCLANESL's Algorithm 2 for the NIST
// challenge) and returns the weights of both, the
// generator's averaged where Average says so. startCritic and startGenerator must
// not depend on the rows.
//
// The critic minimises mean D(generated) - mean D(real). The real part is a sum
// over rows: its per-example gradients are clipped, over all weights together or tensor
// by tensor, and noised, see DPSGD. The generated part depends on the noised weights and public
// latents only, so it is post-processing and carries no noise (its examples are
// clipped like the real ones, lest the clip bias the difference); the same holds of
// weight clipping, the generator and the average of its iterates. With a penalty (which joins real and generated
// rows) the loss does not separate: then each real row is one example together
// with a generated row and their interpolate, and the gradient of all three is
// clipped and noised. Where Paired, an example is a real row together with one of the
// step's generated rows, D(generated) - D(real), clipped and noised as one; the
// generated rows are made beside the private ones, from public latents, so that a
// generator with batch_norm mixes none of them. Guarantee: the guarantee of the paid DPSGD,
// for every iterate of critic and generator together (docs/accounting.md section 4).
func WGAN(ctx context.Context, c WGANConfig, critic, gen *net.Net, startCritic, startGenerator []float32, rows *Rows,
	paid *privacy.Handle, h Hooks) (criticWeights, generatorWeights []float32, err error) {
	l, err := newWGANLoop(c, critic, gen, startCritic, startGenerator, rows, paid)
	if err == nil {
		err = l.state.resume(h, paid, &l.critic.t)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("wgan: %w", err)
	}
	if err := turns(ctx, l, l.real, l.critic, c.CriticSteps, &l.state, h); err != nil {
		return nil, nil, err
	}
	return l.critic.w, l.average.average(l.generator), nil
}

type wganLoop struct {
	c                 WGANConfig
	real              *stepper
	fake              *generated
	pairs             *paired // nil: real and generated rows are examples of their own
	critic, generator *descent
	average           *runningMean
	state             state
}

func newWGANLoop(c WGANConfig, critic, gen *net.Net, wc, wg []float32, rows *Rows, paid *privacy.Handle) (*wganLoop,
	error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if critic.In() != rows.Width() || gen.Out() != rows.Width() || critic.Out() != 1 {
		return nil, fmt.Errorf("widths are rows %d, generator's output %d, critic %d to %d; the critic must have 1 output "+
			"and the others be equal", rows.Width(), gen.Out(), critic.In(), critic.Out())
	}
	if len(wg) != gen.Params() || c.Frozen > len(wg) {
		return nil, fmt.Errorf("generator weights: %d, of which %d are frozen; the net has %d", len(wg), c.Frozen,
			gen.Params())
	}
	l := &wganLoop{c: c, fake: newGenerated(critic, gen, c.GeneratorBatch, c.Frozen, net.Wasserstein),
		critic:    newDescent(c.Critic, append([]float32(nil), wc...)),
		generator: newDescent(c.Generator, append([]float32(nil), wg...))}
	l.average = newRunningMean(c.Average, wg)
	var o Objective = realScore{critic, rows, net.Wasserstein}
	if c.Paired {
		l.pairs = &paired{critic: critic, rows: rows}
		o = l.pairs
	}
	if c.Penalty > 0 {
		o = &penalised{critic: critic, gen: gen, rows: rows, generator: l.generator.w, weight: c.Penalty}
	}
	var err error
	if l.real, err = newStepper(paid, o, wc, rows.Len()); err != nil {
		return nil, err
	}
	if _, err := o.PerExample(); err != nil {
		return nil, err
	}
	if err := errors.Join(l.real.leaveOut(c.Worst, rows.Len()), l.fake.leaveOut(c.Worst, rows.Len(),
		l.real.c.ExpectedBatchSize)); err != nil {
		return nil, err
	}
	l.fake.clipTensors(l.real.tensors)
	l.state.add(l.critic)
	l.state.add(l.generator)
	l.state.addAverage(l.average)
	l.state.addOrder(l.real.batches)
	return l, nil
}

func (l *wganLoop) criticStep(t int, wantLoss bool) (loss float64, err error) {
	if l.pairs != nil {
		l.pairs.pool = l.fake.pool(l.generator.w, public(l.c.Seed, "critic", uint64(t)))
	}
	if err := l.real.noisySum(l.critic.w, t, wantLoss); err != nil {
		return 0, err
	}
	batch := l.real.divisor()
	if l.c.Penalty == 0 && l.pairs == nil {
		part := l.fake.criticPart(l.critic.w, l.generator.w, public(l.c.Seed, "critic", uint64(t)), l.real.clip)
		kernel.Axpy(float32(batch/l.fake.divisor()), part, l.real.sum)
	}
	l.critic.step(l.real.sum, 1/batch)
	l.critic.clipWeights(l.c.WeightClip)
	return l.real.meanLoss(), nil
}

func (l *wganLoop) generatorSteps(t int) {
	for i := range l.c.GeneratorSteps {
		r := public(l.c.Seed, "generator", uint64(t*l.c.GeneratorSteps+i))
		l.generator.step(l.fake.generatorPart(l.critic.w, l.generator.w, r), 1/l.fake.divisor())
		l.average.update(l.generator.w)
	}
}
