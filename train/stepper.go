package train

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"weir/privacy"
	"weir/privacy/noise"
	"weir/train/internal/kernel"
)

// stepper produces the noisy clipped sum of each step of a paid DPSGD: the only
// place where private rows meet a learned weight.
type stepper struct {
	*gradient
	c       DPSGD
	paid    *privacy.Handle
	lattice noise.Lattice
	batches *batches
	worst   *Worst  // nil: every row of a batch has its gradient
	index   []int32 // rows of the latest step
	ahead   *ahead  // nil: noise is drawn in its turn
}

// newStepper takes every parameter of the mechanism from what was paid for.
func newStepper(paid *privacy.Handle, o Objective, start []float32, n int) (*stepper, error) {
	if paid == nil {
		return nil, errors.New("paid: is missing; open the planned mechanism first")
	}
	c, ok := paid.Mechanism().(DPSGD)
	if !ok {
		return nil, fmt.Errorf("paid: is %T, must be DP-SGD: %w", paid.Mechanism(), privacy.ErrUses)
	}
	if err := c.Check(); err != nil {
		return nil, err
	}
	if c.Weights != 0 && c.Weights != o.Params() {
		return nil, fmt.Errorf("paid: is for %d weights, the objective has %d", c.Weights, o.Params())
	}
	if len(start) != o.Params() {
		return nil, fmt.Errorf("weights: %d, the objective has %d", len(start), o.Params())
	}
	if c.clips() {
		_, err := o.PerExample()
		if err := errors.Join(err, checkJoined(o, c.Joined)); err != nil {
			return nil, err
		}
	}
	tensors := 0
	if c.clips() && c.Tensors > 0 {
		if err := checkTensors(o, c.Tensors); err != nil {
			return nil, err
		}
		tensors = c.Tensors
	}
	l, err := c.lattice(o.Params())
	if err != nil {
		return nil, err
	}
	g := newGradient(o, c.tensorClip(l.Clip), tensors)
	g.parts = c.parts()
	return &stepper{gradient: g, c: c, paid: paid, lattice: l, batches: newBatches(c, n)}, nil
}

// leaveOut drops the worst rows of every batch, of a table of n rows.
func (s *stepper) leaveOut(w *Worst, n int) error {
	s.worst = w
	return w.check(n, s.c.ExpectedBatchSize, 0)
}

// divisor is the public size that a noisy sum is divided by.
func (s *stepper) divisor() float64 { return s.worst.less(s.c.ExpectedBatchSize) }

// noisySum sets sum to the noisy sum of the clipped gradients of step t's sample, without
// its worst rows.
func (s *stepper) noisySum(w []float32, t int, wantLoss bool) error {
	drawn, err := s.begin(t)
	if err != nil {
		return err
	}
	s.index = s.batches.draw(s.index, s.use, t)
	s.omit = s.worst.omitted(s.index)
	if s.c.NoiseMultiplier > 0 && len(s.index) > s.c.room() {
		s.addNoise64(s.exact(w, s.index, wantLoss), drawn)
		return nil
	}
	s.compute(w, s.index, wantLoss)
	if err := s.diverged(t); err != nil {
		return err
	}
	s.addNoise(drawn)
	return nil
}

// diverged refuses a sum that is not finite, where nothing is clipped and no noise added (epsilon: inf): every
// later weight would be NaN. A clipped sum is always finite, and what no noise covers is nobody's secret, so
// that the error tells of no row that was promised otherwise.
func (s *stepper) diverged(t int) error {
	if s.c.clips() {
		return nil
	}
	for _, v := range s.sum {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return fmt.Errorf("step %d: the sum of the gradients is not a finite number, must be: without noise nothing is clipped, "+
				"so numbers need bounds, or moments in encode (standard) that they are near to", t+1)
		}
	}
	return nil
}

// begin takes the use of step t, with its noise where that was drawn ahead.
func (s *stepper) begin(t int) (drawn []float32, err error) {
	if s.ahead == nil {
		s.use, err = s.paid.Use(int64(t))
		return nil, err
	}
	next := <-s.ahead.ready
	s.use = next.use
	return next.noise, next.err
}

// addNoise rounds the clipped sum to the lattice and adds the step's noise. Drawn
// ahead or in place gives the same bits: both round the exact sum of two float32
// once.
func (s *stepper) addNoise(drawn []float32) {
	if s.c.NoiseMultiplier == 0 {
		copy(s.sum, privacy.Release(s.use, s.sum, s.sum))
		return
	}
	var in []float32
	if drawn != nil || s.use.Probed() {
		kernel.LatticeRound(s.sum, float32(s.lattice.Step))
	}
	if s.use.Probed() {
		in = slices.Clone(s.sum)
	}
	if drawn == nil {
		s.use.Stream("noise", 0).LatticeGaussian(s.sum, s.c.sigma(), s.lattice.Step) // which rounds, too
	} else {
		kernel.Add(s.sum, s.sum, drawn)
		s.ahead.free <- drawn
	}
	copy(s.sum, privacy.Release(s.use, in, s.sum))
}

// addNoise64 does the same to a float64 sum. float64 holds every lattice point up
// to 2^53 steps; the result is rounded to float32 once, after the noise, so it is a
// function of the Gaussian mechanism's output alone.
func (s *stepper) addNoise64(sum []float64, drawn []float32) {
	noise.RoundToLattice(sum, s.lattice.Step)
	var in []float64 // as float32 it would move by more than the clip
	if s.use.Probed() {
		in = slices.Clone(sum)
	}
	if drawn == nil {
		s.use.Stream("noise", 0).LatticeGaussian64(sum, s.c.sigma(), s.lattice.Step)
	}
	for i, v := range sum {
		if drawn != nil {
			v += float64(drawn[i])
		}
		s.sum[i] = float32(v)
	}
	if drawn != nil {
		s.ahead.free <- drawn
	}
	copy(s.sum, privacy.Release(s.use, in, s.sum))
}

func (s *stepper) meanLoss() float64 { return s.loss / float64(max(1, len(s.index))) }
