package train

import (
	"fmt"
	"math"

	"weir/internal/bitmath"
	"weir/train/internal/kernel"
)

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

// RMSPropTensorFlow is tf.train.RMSPropOptimizer of TensorFlow 1.13 without momentum:
// decay 0.9, epsilon 1e-10 inside the root, and a mean square that starts at 1.
func RMSPropTensorFlow(learningRate float64) Optimiser {
	return Optimiser{Kind: "rmsprop_tensorflow", LearningRate: learningRate, Alpha: 0.9, Epsilon: 1e-10}
}

// SGD is gradient descent with heavy-ball momentum; 0 is none.
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
