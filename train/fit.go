package train

import (
	"context"
	"errors"
	"fmt"

	"weir/privacy/noise"
	"weir/train/internal/kernel"
)

// FitConfig is a run of DP-SGD. Average, from 0 to below 1, is the decay of an
// exponential mean of the iterates that Fit returns instead of the last one; 0 is
// the last one. Averaging is post-processing and costs nothing.
type FitConfig struct {
	DPSGD
	Optimiser Optimiser `json:"optimiser"`
	Average   float64   `json:"average"`
}

// Validate names every field that is out of range.
func (c FitConfig) Validate() error {
	err := errors.Join(c.DPSGD.Validate(), c.Optimiser.Validate())
	if !(c.Average >= 0 && c.Average < 1) {
		err = errors.Join(err, fmt.Errorf("average: is %g, must be at least 0 and below 1", c.Average))
	}
	return err
}

// Fit runs c.Steps steps of DP-SGD on n rows from the weights start and returns
// the weights they end in; see DPSGD for the mechanism and its guarantee, which
// is that of c.Event() and holds for every iterate together. start must not depend on the
// rows. source is what was bought with c.Event(), and serves one call of Fit.
func Fit(ctx context.Context, c FitConfig, o Objective, start []float32, n int, source *noise.Source, h Hooks) ([]float32, error) {
	s, err := newStepper(c.DPSGD, o, start, n, source)
	if err == nil {
		err = c.Validate()
	}
	if err != nil {
		return nil, fmt.Errorf("fit: %w", err)
	}
	d := newDescent(c.Optimiser, append([]float32(nil), start...))
	mean := append([]float32(nil), start...)
	st := &state{vectors: [][]float32{mean}}
	st.add(d)
	if err := st.decode(h.Resume); err != nil {
		return nil, fmt.Errorf("fit: %w", err)
	}
	defer s.drawAhead(d.t)()
	for d.t < c.Steps {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		report := h.reports(d.t+1, c.Steps)
		s.noisySum(d.w, d.t, report)
		d.step(s.sum, 1/c.ExpectedBatchSize)
		average(mean, d.w, c.Average)
		if report {
			h.Progress(Progress{Phase: "fit", Step: d.t, Steps: c.Steps, Loss: s.meanLoss()})
		}
		if err := h.save(d.t, st); err != nil {
			return nil, err
		}
	}
	return mean, nil
}

// average moves mean to decay*mean + (1-decay)*w.
func average(mean, w []float32, decay float64) {
	if decay == 0 {
		copy(mean, w)
		return
	}
	kernel.Scale(float32(decay), mean)
	kernel.Axpy(float32(1-decay), w, mean)
}

// stepper produces the noisy clipped sum of each step.
type stepper struct {
	*gradient
	c       DPSGD
	lattice noise.Lattice
	n       int
	index   []int32
	ahead   *ahead // nil: noise is drawn in its turn
}

func newStepper(c DPSGD, o Objective, start []float32, n int, source *noise.Source) (*stepper, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if len(start) != o.Params() {
		return nil, fmt.Errorf("weights: %d, the objective has %d", len(start), o.Params())
	}
	if source == nil {
		return nil, errors.New("source: is missing; pay for the event first")
	}
	if c.clips() {
		if err := o.PerExample(); err != nil {
			return nil, err
		}
	}
	l, err := c.lattice(o.Params())
	if err != nil {
		return nil, err
	}
	return &stepper{gradient: newGradient(o, source, l.Clip), c: c, lattice: l, n: n}, nil
}

// noisySum sets sum to the noisy sum of the clipped gradients of step t's sample.
func (s *stepper) noisySum(w []float32, t int, wantLoss bool) {
	s.index = s.source.Stream("sample", uint64(t)).Poisson(s.index, s.n, s.c.SamplingRate)
	s.compute(w, s.index, t, wantLoss)
	s.addNoise(t)
}

func (s *stepper) meanLoss() float64 { return s.loss / float64(max(1, len(s.index))) }
