package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"weir/privacy"
	"weir/privacy/noise"
	"weir/train/internal/kernel"
)

// ClippedMean is how the program of a thesis (Crha 2025, GANAD) trains its detector: rows in
// batches of BatchSize in the order of the table, the same in each of Epochs epochs; of each
// batch the gradient of its mean loss, clipped as a whole to an L2 norm of MaxGradNorm (one
// that is not finite counts as zero), and N(0, (NoiseMultiplier*MaxGradNorm)²) added to each
// coordinate, on the lattice of package noise. NoiseMultiplier 0: none.
//
// Its own accounting is no bound: it takes the noise that it adds in one step for the noise of all,
// and one clip for what a row moves. Input: private rows of a public number Rows; places
// beyond the table are empty, and rows beyond Rows are never met. Sensitivity: a row may turn
// the gradient of its batch around, twice the clip (W38). Adjacency: replace_one. Event is what that
// comes to where one row changes and the order is public: a Gaussian release an epoch. It
// exists for claims: published alone, and nothing is claimed of it.
type ClippedMean struct {
	MaxGradNorm     float64 `json:"max_grad_norm"`
	NoiseMultiplier float64 `json:"noise_multiplier"`
	BatchSize       int     `json:"batch_size"`
	Rows            int     `json:"rows"`
	Epochs          int     `json:"epochs"`
	Weights         int     `json:"weights"`
}

// epoch returns the number of batches of an epoch.
func (c ClippedMean) epoch() int { return (c.Rows + c.BatchSize - 1) / c.BatchSize }

// Steps returns the number of batches of all epochs.
func (c ClippedMean) Steps() int { return c.Epochs * c.epoch() }

// Check names every field that is out of range.
func (c ClippedMean) Check() error {
	var errs []error
	check := checking(&errs)
	check(c.MaxGradNorm > 0 && !math.IsInf(c.MaxGradNorm, 1), "max_grad_norm", c.MaxGradNorm, "a finite number above 0")
	check(c.NoiseMultiplier >= 0 && !math.IsInf(c.NoiseMultiplier, 1), "noise_multiplier", c.NoiseMultiplier,
		"a finite number of at least 0")
	check(c.BatchSize >= 1 && c.BatchSize <= c.Rows, "batch_size", c.BatchSize, "from 1 to the number of rows")
	check(c.Epochs >= 1 && c.Epochs <= 1e6, "epochs", c.Epochs, "from 1 to 1000000")
	check(c.Weights >= 1, "weights", c.Weights, "at least 1")
	if len(errs) == 0 {
		_, err := c.lattice()
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// Event returns a release an epoch. Accountants double the sensitivity under replace_one.
func (c ClippedMean) Event(privacy.Adjacency) privacy.Event {
	return privacy.Repeated{Count: int64(c.Epochs), Event: privacy.Gaussian{NoiseMultiplier: c.NoiseMultiplier}}
}

// Sensitivity returns the sensitivity of the gradient of a step, on the lattice.
func (c ClippedMean) Sensitivity(privacy.Adjacency) privacy.Sensitivity {
	return privacy.Sensitivity{Norm: privacy.L2, Bound: 2 * c.MaxGradNorm}
}

// Uses returns a use a step.
func (c ClippedMean) Uses() int64 { return int64(c.Steps()) }

// Deviation returns the standard deviation of the noise on each coordinate of a step's gradient.
func (c ClippedMean) Deviation() float64 { return c.NoiseMultiplier * c.MaxGradNorm }

// lattice returns the lattice of one vector, clipped once it is computed: nothing is added up behind the clip.
func (c ClippedMean) lattice() (noise.Lattice, error) {
	if c.NoiseMultiplier == 0 {
		return noise.Lattice{Clip: c.MaxGradNorm}, nil
	}
	return noise.NewLattice(c.MaxGradNorm, c.Deviation(), c.Weights, 1)
}

// Fit runs the steps on n rows by plain gradient descent from the weights start, and returns
// the weights they end in. Without noise there is nothing to pay, and paid is nil.
func (c ClippedMean) Fit(ctx context.Context, o Objective, rate float64, start []float32, n int, paid *privacy.Handle,
	h Hooks) ([]float32, error) {
	l, err := c.lattice()
	if err == nil {
		err = c.agrees(o, start, paid)
	}
	if err != nil {
		return nil, fmt.Errorf("clipped mean: %w", err)
	}
	s := &meanStepper{ClippedMean: c, gradient: newGradient(o, math.Inf(1), 0), lattice: l, paid: paid, n: n}
	d := newDescent(SGD(rate, 0), append([]float32(nil), start...))
	st := &state{}
	st.add(d)
	if paid != nil {
		err = st.resume(h, paid, &d.t)
	}
	h.resumed(Progress{Phase: "fit", Step: d.t, Steps: c.Steps()})
	for err == nil && d.t < c.Steps() {
		report := h.reports(d.t+1, c.Steps())
		if err = errors.Join(ctx.Err(), s.step(d.w, d.t, report)); err != nil {
			break
		}
		d.step(s.sum, 1)
		if report {
			h.Progress(Progress{Phase: "fit", Step: d.t, Steps: c.Steps(), Loss: s.loss / float64(max(1, len(s.index)))})
		}
		err = h.save(d.t, st)
	}
	return d.w, err
}

func (c ClippedMean) agrees(o Objective, start []float32, paid *privacy.Handle) error {
	switch {
	case paid == nil && c.NoiseMultiplier > 0:
		return errors.New("paid: is missing; open the planned mechanism first")
	case paid != nil && paid.Mechanism() != privacy.Mechanism(c):
		return fmt.Errorf("paid: is %T of other settings: %w", paid.Mechanism(), privacy.ErrUses)
	case c.Weights != o.Params():
		return fmt.Errorf("paid: is for %d weights, must be for the %d of the objective", c.Weights, o.Params())
	case len(start) != c.Weights:
		return fmt.Errorf("start: has %d weights, must have the %d of the objective", len(start), c.Weights)
	}
	return nil
}

type meanStepper struct {
	ClippedMean
	*gradient
	lattice noise.Lattice
	paid    *privacy.Handle
	n       int
	index   []int32
}

// step sets sum to the clipped and noised gradient of the mean loss of step t's batch.
func (s *meanStepper) step(w []float32, t int, wantLoss bool) (err error) {
	if s.paid != nil {
		if s.use, err = s.paid.Use(int64(t)); err != nil {
			return err
		}
	}
	from := t % s.epoch() * s.BatchSize
	s.index = s.index[:0]
	for i := from; i < min(from+s.BatchSize, s.Rows, s.n); i++ {
		s.index = append(s.index, int32(i))
	}
	s.compute(w, s.index, wantLoss)
	s.clipMean()
	if s.paid != nil {
		s.addNoise()
	}
	return nil
}

// clipMean divides the sum by the rows of the batch and clips it.
func (s *meanStepper) clipMean() {
	mean := 1 / float64(max(1, len(s.index)))
	square := 0.0
	for i, v := range s.sum {
		x := float64(v) * mean
		s.sum[i] = float32(x)
		square += float64(x * x)
	}
	norm := math.Sqrt(square)
	if norm != norm || math.IsInf(norm, 1) {
		clear(s.sum)
	} else if norm > s.lattice.Clip {
		by := s.lattice.Clip / norm
		for i, v := range s.sum {
			s.sum[i] = float32(float64(v) * by)
		}
	}
}

func (s *meanStepper) addNoise() {
	if s.NoiseMultiplier == 0 {
		copy(s.sum, privacy.Release(s.use, s.sum, s.sum))
		return
	}
	kernel.LatticeRound(s.sum, float32(s.lattice.Step))
	var in []float32
	if s.use.Probed() {
		in = slices.Clone(s.sum)
	}
	s.use.Stream("noise", 0).LatticeGaussian(s.sum, s.Deviation(), s.lattice.Step)
	copy(s.sum, privacy.Release(s.use, in, s.sum))
}
