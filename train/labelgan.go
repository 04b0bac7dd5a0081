package train

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"weir/privacy"
	"weir/train/internal/kernel"
	"weir/train/net"
)

// LabelGANConfig is a GAN for each label, whose critics learn together by a paid DPSGD.
// Its Steps count the steps of all critics; the generators take GeneratorSteps after every
// CriticSteps of them.
type LabelGANConfig struct {
	Labels         int       `json:"labels"`
	Shares         []float64 `json:"shares"` // of each label in a batch: public or released, never exact private counts
	Loss           string    `json:"loss"`   // cross_entropy or wasserstein
	CriticSteps    int       `json:"critic_steps"`
	GeneratorSteps int       `json:"generator_steps"`
	WeightClip     float64   `json:"weight_clip"`     // of the critics; 0 is none
	GeneratorBatch int       `json:"generator_batch"` // generated rows a label and step
	Frozen         int       `json:"frozen"`          // weights at the end of each generator's that stay: a decoder's
	Critic         Optimiser `json:"critic"`
	Generator      Optimiser `json:"generator"`
	Average        float64   `json:"average"` // decay of the average of the generators' iterates; 0 is none
	Seed           uint64    `json:"seed"`    // public: latents
	Worst          *Worst    `json:"-"`       // rows that each batch, of all labels together, and each generated batch of a label leave out
}

// Validate names every field that is out of range.
func (c LabelGANConfig) Validate() error {
	errs := []error{WGANConfig{CriticSteps: c.CriticSteps, GeneratorSteps: c.GeneratorSteps, WeightClip: c.WeightClip,
		GeneratorBatch: c.GeneratorBatch,
		Frozen:         c.Frozen, Critic: c.Critic, Generator: c.Generator, Average: c.Average}.Validate()}
	if c.Labels < 1 || len(c.Shares) != c.Labels {
		errs = append(errs, fmt.Errorf("shares: are %d for %d labels, must be one for each of at least 1", len(c.Shares),
			c.Labels))
	}
	for i, s := range c.Shares {
		if !(s >= 0 && s <= 1) {
			errs = append(errs, fmt.Errorf("shares[%d]: is %g, must be from 0 to 1", i, s))
		}
	}
	if c.score() == nil {
		errs = append(errs, fmt.Errorf("loss: is %q, must be cross_entropy or wasserstein", c.Loss))
	}
	return errors.Join(errs...)
}

// score returns the loss of critics and generators; nil where there is no such.
func (c LabelGANConfig) score() scoreLoss {
	switch c.Loss {
	case "cross_entropy":
		return net.Logistic
	case "wasserstein":
		return net.Wasserstein
	}
	return nil
}

// LabelGAN trains a generator against a critic for each label (Torfi, Fox, Reddy 2022, and
// the GANAD thesis, which train them one after the other on the rows of each class) and returns
// the weights of the generators, label 0 first. Start weights hold a copy for each label
// and must not depend on the rows.
//
// Input: rows and the label of each, both private. Mechanism: the noisy sums of the paid DPSGD over the weights of
// all critics at once (ByLabel): a row has one coin a step, a gradient in its own label's critic, and
// one clip over all weights. Sensitivity: that clip for one row, twice that for one that is
// replaced, also where its label changes, under either adjacency the accountant's. Guarantee: the guarantee of
// the paid DPSGD for all iterates of all critics and generators together, whatever
// the labels' sizes. Nothing else depends on them: a sum is divided by the expected size of the whole
// batch, and the part of generated rows, which see noised weights and public latents alone, is
// weighted by Shares, so that real and generated rows of a label count alike where its share is near the
// true one. To divide by the number of a label's rows, in a batch or in all, would
// not be private: one row would move what all others of its label add.
//
// A label without rows has noise for weights, and takes its steps like any other.
func LabelGAN(ctx context.Context, c LabelGANConfig, critic, gen *net.Net, startCritic, startGenerator []float32,
	rows *Rows, labels []int32, paid *privacy.Handle, h Hooks) (generatorWeights []float32, err error) {
	l, err := newLabelGANLoop(c, critic, gen, startCritic, startGenerator, rows, labels, paid)
	if err == nil {
		err = l.state.resume(h, paid, &l.critic.t)
	}
	if err != nil {
		return nil, fmt.Errorf("label gan: %w", err)
	}
	if err := turns(ctx, l, l.real, l.critic, c.CriticSteps, &l.state, h); err != nil {
		return nil, err
	}
	return l.average.average(l.generator), nil
}

type labelGANLoop struct {
	c                 LabelGANConfig
	real              *stepper
	fake              *generated // of one label at a time
	critic, generator *descent   // of all labels
	grad              []float32  // of the generators
	average           *runningMean
	state             state
}

func newLabelGANLoop(c LabelGANConfig, critic, gen *net.Net, wc, wg []float32, rows *Rows, labels []int32,
	paid *privacy.Handle) (*labelGANLoop, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if critic.In() != rows.Width() || gen.Out() != rows.Width() || critic.Out() != 1 {
		return nil, fmt.Errorf("widths are rows %d, generator's output %d, critic %d to %d; the critic must have 1 output "+
			"and the others be equal", rows.Width(), gen.Out(), critic.In(), critic.Out())
	}
	if len(wg) != c.Labels*gen.Params() || c.Frozen > gen.Params() {
		return nil, fmt.Errorf("generator weights: %d for %d labels, of which %d are frozen in each; the net has %d", len(wg),
			c.Labels, c.Frozen, gen.Params())
	}
	if len(labels) != rows.Len() {
		return nil, errors.New("labels: are another number than the rows, must be one for each row")
	}
	each := realScore{critic, rows, c.score()}
	if _, err := each.PerExample(); err != nil {
		return nil, err
	}
	o, err := NewByLabel(each, labels, c.Labels)
	if err != nil {
		return nil, err
	}
	l := &labelGANLoop{c: c, fake: newGenerated(critic, gen, c.GeneratorBatch, c.Frozen, c.score()),
		grad:      make([]float32, len(wg)),
		critic:    newDescent(c.Critic, append([]float32(nil), wc...)),
		generator: newDescent(c.Generator, append([]float32(nil), wg...)),
		average:   newRunningMean(c.Average, wg)}
	if l.real, err = newStepper(paid, o, wc, rows.Len()); err != nil {
		return nil, err
	}
	if err := errors.Join(l.real.leaveOut(c.Worst, rows.Len()), l.fake.leaveOut(c.Worst, rows.Len(),
		l.real.c.ExpectedBatchSize)); err != nil {
		return nil, err
	}
	l.state.add(l.critic)
	l.state.add(l.generator)
	l.state.addAverage(l.average)
	l.state.addOrder(l.real.batches)
	return l, nil
}

// weightsOf returns the weights, or their gradients, of one label.
func (l *labelGANLoop) weightsOf(w []float32, label int) []float32 {
	n := len(w) / l.c.Labels
	return w[label*n:][:n]
}

// random returns the public draws of one label in turn t of a purpose.
func (l *labelGANLoop) random(purpose string, t, label int) *rand.Rand {
	return public(l.c.Seed, purpose, uint64(t)*uint64(l.c.Labels)+uint64(label))
}

func (l *labelGANLoop) criticStep(t int, wantLoss bool) (loss float64, err error) {
	if err := l.real.noisySum(l.critic.w, t, wantLoss); err != nil {
		return 0, err
	}
	batch := l.real.divisor()
	for label, share := range l.c.Shares {
		r := l.random("critic", t, label)
		l.fake.label = label
		part := l.fake.criticPart(l.weightsOf(l.critic.w, label), l.weightsOf(l.generator.w, label), r, l.real.clip)
		kernel.Axpy(float32(share*batch/l.fake.divisor()), part, l.weightsOf(l.real.sum, label))
	}
	l.critic.step(l.real.sum, 1/batch)
	l.critic.clipWeights(l.c.WeightClip)
	return l.real.meanLoss(), nil
}

func (l *labelGANLoop) generatorSteps(t int) {
	for i := range l.c.GeneratorSteps {
		for label := range l.c.Labels {
			r := l.random("generator", t*l.c.GeneratorSteps+i, label)
			l.fake.label = label
			copy(l.weightsOf(l.grad, label), l.fake.generatorPart(l.weightsOf(l.critic.w, label), l.weightsOf(l.generator.w,
				label), r))
		}
		l.generator.step(l.grad, 1/l.fake.divisor())
		l.average.update(l.generator.w)
	}
}
