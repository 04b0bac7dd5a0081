package generator

import (
	"fmt"

	"weir/pipeline/domain"
	"weir/schema"
	"weir/stages/model/internal/encoded"
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

// Leaky are hidden layers of LeakyReLU.
func Leaky(slope float64, units []int) Hidden {
	return Hidden{Units: units, Activation: "leaky_relu", Slope: slope}
}

// Layers are those of a net of in inputs.
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

// active is the activation with its norm.
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
	width := encoded.Width(d)
	return net.New(net.Spec{Inputs: width, Layers: append(h.Layers(width), net.Dense(1))})
}

// Generator maps rows of latent numbers to encoded rows of domain d. One that could
// not be read back is a problem of the setting generator.
func Generator(h Hidden, latent int, d *domain.Domain) (*net.Net, error) {
	var ps schema.Problems
	if n := float64(4*Units(h.Units...)) + float64(2*encoded.Width(d)); n > mostUnits {
		ps.Add("generator", fmt.Sprintf("%v, too wide for a model that can be read back", h.Units), "fewer units")
		return nil, ps.Err()
	}
	return net.New(net.Spec{Inputs: latent, Layers: append(h.Layers(latent), net.Dense(encoded.Width(d)), encoded.Outputs(d))})
}

// Chain is one net of two, the second on what the first puts out; its weights are
// those of the first, then those of the second.
func Chain(first, second *net.Net) (*net.Net, error) {
	a, b := first.Spec(), second.Spec()
	return net.New(net.Spec{Inputs: a.Inputs, Layers: append(append([]net.Layer(nil), a.Layers...), b.Layers...)})
}
