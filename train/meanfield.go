package train

import (
	"context"
	"errors"
	"fmt"

	"weir/internal/bitmath"
	"weir/privacy"
	"weir/train/internal/kernel"
)

// MeanField is a law of weights that are independent and normal: the means, and the
// logarithms of the standard deviations.
type MeanField struct{ Mean, LogDeviation []float32 }

// LogPrior sets gradient to the gradient of the logarithm of a prior density at w, which needs no
// constant. It knows no row.
type LogPrior func(gradient []float64, w []float32)

// Bounds on a law, so that whatever the noise, exp of what is drawn from it is finite in
// float32: they are post-processing, and wider than any law of logits or logarithms that
// data are known by.
const (
	mostMean          = 20
	leastLogDeviation = -20
	mostLogDeviation  = 1
)

// FitMeanField runs the steps of a paid DPSGD as doubly stochastic variational inference
// (Jalko, Dikmen, Honkela 2017; reparameterised by Kingma, Welling 2014): it returns the
// MeanField that comes near the posterior of the weights of o under a prior, where o's loss
// is minus the log likelihood of a row.
//
// Each step draws one theta = mean + exp(s) eta for the whole batch and asks DPSGD for the
// noisy sum G of the rows' gradients at theta, each clipped over all weights. Everything else
// is a function of G and of public things: the gradient for the means is G, that for the log
// deviations G exp(s) eta, and prior and entropy are added to both. So the guarantee is the guarantee
// of DPSGD on Params() weights, for every iterate together, and the deviations cost nothing.
//
// eta may be public: a step of DPSGD may ask at any weights that are chosen from what was
// released before and from randomness that no row has a part in, as it may start from public
// weights. It is drawn from seed, not from the paid source; no noise that protects is in it.
//
// A Poisson batch holds each row with probability q = SamplingRate, so that G is q times the
// sum over all rows in the mean, and prior and entropy weigh q: the evidence bound of the
// whole table times q, without the row count, which may be private. (A program of the paper
// weighs the entropy by 1/N instead of B/N; its law shrinks to the mode.) A law's widths
// say what the likelihood says of the weights, not how far the noise may have moved the means.
func FitMeanField(ctx context.Context, c FitConfig, o Objective, prior LogPrior, start MeanField, n int, seed uint64,
	paid *privacy.Handle, h Hooks) (MeanField, error) {
	s, err := newStepper(paid, o, start.Mean, n)
	if err == nil {
		err = c.Validate()
	}
	if err == nil && c.Worst != nil {
		err = errors.New("worst: is given, and what each batch leaves out is not part of a likelihood of the table")
	}
	if err == nil && len(start.LogDeviation) != len(start.Mean) {
		err = fmt.Errorf("start: has %d means and %d deviations, must have as many", len(start.Mean), len(start.LogDeviation))
	}
	if err != nil {
		return MeanField{}, fmt.Errorf("fit mean field: %w", err)
	}
	l := newLaw(c.Optimiser, start)
	mean := newRunningMean(c.Average, l.d.w)
	st := &state{}
	st.add(l.d)
	st.addOrder(s.batches)
	st.addAverage(mean)
	if err := st.resume(h, paid, &l.d.t); err != nil {
		return MeanField{}, fmt.Errorf("fit mean field: %w", err)
	}
	h.resumed(Progress{Phase: "fit", Step: l.d.t, Steps: s.c.Steps})
	defer s.drawAhead(l.d.t)()
	for l.d.t < s.c.Steps {
		if err := ctx.Err(); err != nil {
			return MeanField{}, err
		}
		report := h.reports(l.d.t+1, s.c.Steps)
		l.draw(seed)
		if err := s.noisySum(l.theta, l.d.t, report); err != nil {
			return MeanField{}, err
		}
		l.step(s.sum, prior, s.c)
		mean.update(l.d.w)
		if report {
			h.Progress(Progress{Phase: "fit", Step: l.d.t, Steps: s.c.Steps, Loss: s.meanLoss()})
		}
		if err := h.save(l.d.t, st); err != nil {
			return MeanField{}, err
		}
	}
	w := mean.average(l.d)
	return MeanField{Mean: w[:len(start.Mean)], LogDeviation: w[len(start.Mean):]}, nil
}

// law is a MeanField while it is learned: one descent over its means, followed by its log deviations.
type law struct {
	d      *descent
	weight int       // number of weights
	theta  []float32 // drawn from it
	away   []float64 // theta without the means
	prior  []float64
	grad   []float32
}

func newLaw(o Optimiser, start MeanField) *law {
	n := len(start.Mean)
	w := append(append(make([]float32, 0, 2*n), start.Mean...), start.LogDeviation...)
	return &law{d: newDescent(o, w), weight: n, theta: make([]float32, n), away: make([]float64, n),
		prior: make([]float64, n), grad: make([]float32, 2*n)}
}

// draw draws the weights of the step to come.
func (l *law) draw(seed uint64) {
	StandardNormal(l.theta, public(seed, "mean field", uint64(l.d.t)))
	mean, log := l.d.w[:l.weight], l.d.w[l.weight:]
	for i, eta := range l.theta {
		l.away[i] = float64(bitmath.Exp(float64(log[i])) * float64(eta))
		l.theta[i] = float32(float64(mean[i]) + l.away[i])
	}
}

// step moves the law by the noisy sum of the rows' gradients at what was drawn.
func (l *law) step(sum []float32, prior LogPrior, c DPSGD) {
	prior(l.prior, l.theta)
	for i, g := range sum {
		up := float64(g) - float64(c.SamplingRate*l.prior[i])
		l.grad[i] = float32(up)
		l.grad[l.weight+i] = float32(float64(up*l.away[i]) - c.SamplingRate)
	}
	l.d.step(l.grad, 1/c.ExpectedBatchSize)
	kernel.Clamp(l.d.w[:l.weight], -mostMean, mostMean)
	kernel.Clamp(l.d.w[l.weight:], leastLogDeviation, mostLogDeviation)
}
