package train

import (
	"context"
	"errors"
	"fmt"
	"math"

	"weir/internal/bitmath"
	"weir/privacy"
	"weir/train/internal/kernel"
)

// FitConfig is how Fit uses the noisy sums. Average, from 0 to below 1, is the
// decay of a running mean of the iterates that Fit returns instead of the last
// one; 0 is the last one. Averaging is post-processing and costs nothing. Worst are
// the rows that each batch leaves out.
type FitConfig struct {
	Optimiser Optimiser `json:"optimiser"`
	Average   float64   `json:"average"`
	Worst     *Worst    `json:"-"`
}

// Validate names every field that is out of range.
func (c FitConfig) Validate() error {
	err := c.Optimiser.Validate()
	if !(c.Average >= 0 && c.Average < 1) {
		err = errors.Join(err, fmt.Errorf("average: is %g, must be at least 0 and below 1", c.Average))
	}
	return err
}

// Fit runs the steps of a paid DPSGD on n rows from the weights start and returns
// the weights they end in; see DPSGD for the mechanism and its guarantee, which
// holds for every iterate together. start must not depend on the rows.
func Fit(ctx context.Context, c FitConfig, o Objective, start []float32, n int, paid *privacy.Handle,
	h Hooks) ([]float32, error) {
	s, err := newStepper(paid, o, start, n)
	if err == nil {
		err = errors.Join(c.Validate(), s.leaveOut(c.Worst, n))
	}
	if err != nil {
		return nil, fmt.Errorf("fit: %w", err)
	}
	d := newDescent(c.Optimiser, append([]float32(nil), start...))
	mean := newRunningMean(c.Average, start)
	st := &state{}
	st.add(d)
	st.addOrder(s.batches)
	st.addAverage(mean)
	if err := st.resume(h, paid, &d.t); err != nil {
		return nil, fmt.Errorf("fit: %w", err)
	}
	h.resumed(Progress{Phase: "fit", Step: d.t, Steps: s.c.Steps})
	defer s.drawAhead(d.t)()
	for d.t < s.c.Steps {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		report := h.reports(d.t+1, s.c.Steps)
		if err := s.noisySum(d.w, d.t, report); err != nil {
			return nil, err
		}
		d.step(s.sum, 1/s.divisor())
		mean.update(d.w)
		if report {
			h.Progress(Progress{Phase: "fit", Step: d.t, Steps: s.c.Steps, Loss: s.meanLoss()})
		}
		if err := h.save(d.t, st); err != nil {
			return nil, err
		}
	}
	return mean.average(d), nil
}

// Optimiser says how a gradient moves the weights. Kind chooses which fields count:
//
//	adam     learning_rate, beta1, beta2, epsilon
//	rmsprop  learning_rate, alpha, epsilon
//	rmsprop_tensorflow  likewise; mean square from 1 on, epsilon inside the root
//	sgd      learning_rate, momentum
type Optimiser struct {
	Kind         string  `json:"kind"`
	LearningRate float64 `json:"learning_rate"`
	Beta1        float64 `json:"beta1,omitempty"`
	Beta2        float64 `json:"beta2,omitempty"`
	Alpha        float64 `json:"alpha,omitempty"`
	Momentum     float64 `json:"momentum,omitempty"`
	Epsilon      float64 `json:"epsilon,omitempty"`
}

// Adam has epsilon 1e-8 (Kingma, Ba 2015).
func Adam(learningRate, beta1, beta2 float64) Optimiser {
	return Optimiser{Kind: "adam", LearningRate: learningRate, Beta1: beta1, Beta2: beta2, Epsilon: 1e-8}
}

// RMSProp has alpha 0.99 and epsilon 1e-8, the defaults of PyTorch.
func RMSProp(learningRate float64) Optimiser {
	return Optimiser{Kind: "rmsprop", LearningRate: learningRate, Alpha: 0.99, Epsilon: 1e-8}
}

// RMSPropTensorFlow returns tf.train.RMSPropOptimizer of TensorFlow 1.13 without momentum:
// decay 0.9, epsilon 1e-10 inside the root, and a mean square that starts at 1.
func RMSPropTensorFlow(learningRate float64) Optimiser {
	return Optimiser{Kind: "rmsprop_tensorflow", LearningRate: learningRate, Alpha: 0.9, Epsilon: 1e-10}
}

// SGD returns gradient descent with heavy-ball momentum; 0 is none.
func SGD(learningRate, momentum float64) Optimiser {
	return Optimiser{Kind: "sgd", LearningRate: learningRate, Momentum: momentum}
}

// Validate names the field that is out of range.
func (o Optimiser) Validate() error {
	unit := func(name string, v float64) error {
		if !(v >= 0 && v < 1) {
			return fmt.Errorf("optimiser: %s: is %g, must be at least 0 and below 1", name, v)
		}
		return nil
	}
	if !(o.LearningRate > 0) || math.IsInf(o.LearningRate, 1) {
		return fmt.Errorf("optimiser: learning_rate: is %g, must be a finite number above 0", o.LearningRate)
	}
	if o.Kind != "sgd" && !(o.Epsilon > 0) {
		return fmt.Errorf("optimiser: epsilon: is %g, must be above 0", o.Epsilon)
	}
	switch o.Kind {
	case "adam":
		if err := unit("beta1", o.Beta1); err != nil {
			return err
		}
		return unit("beta2", o.Beta2)
	case "rmsprop", "rmsprop_tensorflow":
		return unit("alpha", o.Alpha)
	case "sgd":
		return unit("momentum", o.Momentum)
	}
	return fmt.Errorf("optimiser: kind: is %q, must be adam, rmsprop, rmsprop_tensorflow or sgd", o.Kind)
}

// descent is weights on their way: an optimiser's state and the steps taken.
type descent struct {
	Optimiser
	w, m, v []float32
	t       int
}

func newDescent(o Optimiser, w []float32) *descent {
	d := &descent{Optimiser: o, w: w, m: make([]float32, len(w)), v: make([]float32, len(w))}
	if o.Kind == "rmsprop_tensorflow" {
		for i := range d.v {
			d.v[i] = 1
		}
	}
	return d
}

// step moves w against g*scale.
func (d *descent) step(g []float32, scale float64) {
	d.t++
	switch d.Kind {
	case "adam":
		bias1, bias2 := 1-bitmath.Pow(d.Beta1, float64(d.t)), 1-bitmath.Pow(d.Beta2, float64(d.t))
		kernel.AdamStep(d.w, d.m, d.v, g, nil, d.LearningRate, d.Beta1, d.Beta2, d.Epsilon, bias1, bias2, scale)
	case "rmsprop":
		kernel.RMSPropStep(d.w, d.v, g, nil, d.LearningRate, d.Alpha, d.Epsilon, scale)
	case "rmsprop_tensorflow":
		kernel.RMSPropInsideStep(d.w, d.v, g, d.LearningRate, d.Alpha, d.Epsilon, scale)
	case "sgd":
		kernel.SGDMomentumStep(d.w, d.m, g, nil, d.LearningRate, d.Momentum, scale)
	}
}

// clipWeights limits every weight to +-limit (Arjovsky et al. 2017); 0 is no limit.
func (d *descent) clipWeights(limit float64) {
	if limit > 0 {
		kernel.Clamp(d.w, float32(-limit), float32(limit))
	}
}

// runningMean follows the iterates of a descent: after update t it moves towards the
// weights by 1 - min(decay, (1+t)/(10+t)), so that the first iterates are soon
// forgotten (the rule of tf.train.ExponentialMovingAverage with num_updates). It
// is a function of the iterates alone: post-processing of what released them.
type runningMean struct {
	decay float64
	w     []float32
	t     int
}

// newRunningMean starts at w; with decay 0 there is no average.
func newRunningMean(decay float64, w []float32) *runningMean {
	a := &runningMean{decay: decay}
	if decay > 0 {
		a.w = append(a.w, w...)
	}
	return a
}

func (a *runningMean) update(w []float32) {
	if a.decay == 0 {
		return
	}
	a.t++
	t := float64(a.t)
	move := float32(1 - min(a.decay, (1+t)/(10+t)))
	for i, v := range w {
		a.w[i] += float32(move * (v - a.w[i]))
	}
}

// average returns the average, or the latest weights where there is none.
func (a *runningMean) average(d *descent) []float32 {
	if a.decay == 0 {
		return d.w
	}
	return a.w
}

// addAverage makes a part of the checkpoint.
func (s *state) addAverage(a *runningMean) {
	s.counters = append(s.counters, &a.t)
	s.vectors = append(s.vectors, a.w)
}
