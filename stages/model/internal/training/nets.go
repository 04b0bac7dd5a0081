package training

import (
	"fmt"
	"slices"
	"strings"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/schema"
	"weir/stages/model/artifact"
	"weir/train"
	"weir/train/net"
)

// Hidden are the hidden layers of a net.
type Hidden struct {
	Units      []int
	Activation string  // one of Activations
	Slope      float64 // of leaky_relu below zero
	Norm       string  // before each activation: batch_norm, layer_norm; "" for none
	NormAfter  bool    // Norm stands after each activation
	Residual   bool    // a layer as wide as its input is added to it (He et al. 2016)
	Dropout    float64 // share of units left out after each activation, in training; 0 is none
}

// Activations lists the hidden activations of nets that can be released.
func Activations() []string { return []string{"leaky_relu", "relu", "tanh", "sigmoid"} }

// Leaky returns hidden layers of LeakyReLU.
func Leaky(slope float64, units []int) Hidden {
	return Hidden{Units: units, Activation: "leaky_relu", Slope: slope}
}

// Layers returns the layers of a net of in inputs.
func (h Hidden) Layers(in int) []net.Layer {
	var layers []net.Layer
	for _, u := range h.Units {
		block := append([]net.Layer{net.Dense(u)}, h.active()...)
		if h.Dropout > 0 {
			block = append(block, net.Dropout(h.Dropout))
		}
		if h.Residual && u == in {
			block = []net.Layer{net.Residual("add", block...)}
		}
		layers, in = append(layers, block...), u
	}
	return layers
}

// active returns the activation with its norm.
func (h Hidden) active() []net.Layer {
	switch {
	case h.Norm == "":
		return []net.Layer{h.activation()}
	case h.NormAfter:
		return []net.Layer{h.activation(), net.Activation(h.Norm)}
	}
	return []net.Layer{net.Activation(h.Norm), h.activation()}
}

func (h Hidden) activation() net.Layer {
	if h.Activation == "leaky_relu" {
		return net.LeakyReLU(h.Slope)
	}
	return net.Activation(h.Activation)
}

// Critic maps encoded rows of domain d to one score.
func Critic(h Hidden, d *domain.Domain) (*net.Net, error) {
	width := Width(d)
	return net.New(net.Spec{Inputs: width, Layers: append(h.Layers(width), net.Dense(1))})
}

// Generator maps rows of latent numbers to encoded rows of domain d. One that could
// not be read back is a problem of the setting generator.
func Generator(h Hidden, latent int, d *domain.Domain) (*net.Net, error) {
	var ps schema.Problems
	if n := float64(4*Units(h.Units...)) + float64(2*Width(d)); n > mostUnits {
		ps.Add("generator", fmt.Sprintf("%v, too wide for a model that can be read back", h.Units), "fewer units")
		return nil, ps.Err()
	}
	return net.New(net.Spec{Inputs: latent, Layers: append(h.Layers(latent), net.Dense(Width(d)), Outputs(d))})
}

// Chain returns one net of two, the second on what the first puts out; its weights are
// the weights of the first, then the weights of the second.
func Chain(first, second *net.Net) (*net.Net, error) {
	a, b := first.Spec(), second.Spec()
	return net.New(net.Spec{Inputs: a.Inputs, Layers: append(append([]net.Layer(nil), a.Layers...), b.Layers...)})
}

// Bounds of a training, by public numbers alone: what could not be held or would never
// end is refused before it is paid for.
const (
	maxBytes  = 16 << 30 // of one training, beside its table: two thirds of the 24 GiB that weir is made for
	maxLayers = 64       // hidden ones of one net

	// NetCopies is how often a weight is held, at 4 bytes each. A net that learns: where it starts, where it is, two
	// moments, a gradient, a noisy or averaged one (8 bytes), and a checkpoint of all that.
	NetCopies = 12
	// KeptCopies counts an earlier generator that is kept: itself, in a checkpoint, in the artifact.
	KeptCopies = 3
	// CriticCopies counts one of many critics: where it is, two moments, and both in a checkpoint.
	CriticCopies = 6
	// PassCopies counts the numbers for each unit and generated row: the activation and its gradient, in the
	// passes of critic and generator.
	PassCopies = 4
)

// Cost is what one setting adds to the memory of a training.
type Cost struct {
	setting, of string
	numbers     float64 // floats, so that no product of settings overflows
}

// Costs returns what a setting adds to the memory of a training: numbers floats, at the value given.
func Costs(setting, given string, numbers float64) Cost { return Cost{setting, given, numbers} }

// Fits adds a problem where a training takes more than maxBytes, at the setting that takes
// most.
func Fits(ps *schema.Problems, parts ...Cost) {
	total := 0.0
	for _, p := range parts {
		total += float64(4 * p.numbers)
	}
	if total <= maxBytes {
		return
	}
	most := slices.MaxFunc(parts, func(a, b Cost) int {
		if a.numbers < b.numbers {
			return -1
		}
		return 1
	})
	ps.Add(most.setting, fmt.Sprintf("%s, with which the training takes %.3g GiB", most.of, total/(1<<30)),
		fmt.Sprintf("so small that nets, their copies and batches together take at most %d GiB", maxBytes>>30))
}

// Weights returns the number of weights of a dense net of these layers.
func Weights(layers ...int) float64 {
	n := 0.0
	for i := 1; i < len(layers); i++ {
		n += float64((float64(layers[i-1]) + 1) * float64(layers[i]))
	}
	return n
}

// Units returns the number of units in all layers.
func Units(layers ...int) float64 {
	n := 0.0
	for _, u := range layers {
		n += float64(u)
	}
	return n
}

// Widths lists the widths of a net from its input to its output.
func Widths(in int, hidden []int, out int) []int {
	return slices.Concat([]int{in}, hidden, []int{out})
}

// Shallow adds a problem for a net of more than maxLayers hidden layers.
func Shallow(ps *schema.Problems, setting string, hidden []int) {
	if len(hidden) > maxLayers {
		ps.Add(setting, fmt.Sprintf("%d layers", len(hidden)), fmt.Sprintf("at most %d", maxLayers))
	}
}

// MostSteps is how many generators of one training a model may hold.
const MostSteps = MostParts

// ReleaseSteps packs the generators of several steps of one training as an artifact of
// header h: one part each, of which rows are drawn from the last, or from the generator of the
// step that Model.At names.
func ReleaseSteps(h pipeline.Header, kind string, n *net.Net, iterates []train.Iterate) (pipeline.Table, error) {
	if len(iterates) == 1 {
		return Release(h, kind, Part{Share: 1, Net: n, Weights: iterates[0].Weights})
	}
	var parts []Part
	var steps []int
	for _, k := range iterates {
		parts, steps = append(parts, Part{Share: 1, Net: n, Weights: k.Weights}), append(steps, k.Step)
	}
	return release(h, kind, steps, parts)
}

// checkSteps checks that there is a step for each part, ascending, or none at all.
func (m *model) checkSteps() error {
	if m.Steps == nil {
		return nil
	}
	last := 0
	for i, step := range m.Steps {
		if step <= last || len(m.Steps) != len(m.Parts) {
			return fmt.Errorf("steps[%d]: is %d of %d, must be one step for each of %d parts, ascending from 1", i, step,
				len(m.Steps), len(m.Parts))
		}
		last = step
	}
	return nil
}

// drawnParts returns the parts that rows are drawn from: with steps, the last.
func (m *model) drawnParts() []described {
	if n := len(m.Steps); n > 0 {
		return m.Parts[n-1:]
	}
	return m.Parts
}

// At implements artifact.Stepper.
func (m *model) At(step int) (artifact.Model, error) {
	if i, ok := slices.BinarySearch(m.Steps, step); ok {
		return &model{Domain: m.Domain, Parts: m.Parts[i : i+1]}, nil
	}
	var ps schema.Problems
	accepted := "one of " + strings.Trim(strings.ReplaceAll(fmt.Sprint(m.Steps), " ", ", "), "[]")
	if len(m.Steps) == 0 {
		accepted = "absent: the model holds its last step alone (release_every keeps others)"
	}
	ps.Add("step", fmt.Sprint(step), accepted)
	return nil, ps.Err()
}
