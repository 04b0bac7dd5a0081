package gan

import (
	"fmt"

	"weir/train/net"
)

// checkShape compares the net that a model describes with the weights that it
// holds, before anything is allocated for either: layers as nets makes them, each as
// wide as its weights say, and as many outputs as the domain needs.
func (g *generator) checkShape() error {
	layers := g.Net.Layers
	if n := len(layers); n < 2 || n%2 != 0 {
		return fmt.Errorf("net.layers: are %d, must be pairs of dense and leaky_relu, the last of dense and blocks", n)
	}
	in := g.Net.Inputs
	for i := 0; i < len(layers); i += 2 {
		units, err := g.checkDense(i, in, layers[i])
		if err != nil {
			return err
		}
		after := "leaky_relu"
		if i == len(layers)-2 {
			after = "blocks"
		}
		if layers[i+1].Type != after {
			return fmt.Errorf("net.layers[%d].type: is %q, must be %s", i+1, layers[i+1].Type, after)
		}
		in = units
	}
	return g.checkOutputs(in)
}

// checkDense gives the units of a dense layer. The weights are there, so sizes that
// equal theirs can be multiplied without overflow.
func (g *generator) checkDense(i, in int, l net.Layer) (units int, err error) {
	name := fmt.Sprintf("%d.dense.", i)
	weight, bias := len(g.weights[name+"weight"]), len(g.weights[name+"bias"])
	switch {
	case l.Type != "dense":
		return 0, fmt.Errorf("net.layers[%d].type: is %q, must be dense", i, l.Type)
	case l.Units < 1 || l.Units != bias:
		return 0, fmt.Errorf("net.layers[%d].units: is %d, must be %d, the length of its bias, and at least 1", i, l.Units, bias)
	case in < 1 || in > weight || in*l.Units != weight:
		return 0, fmt.Errorf("net.layers[%d]: has %d weights, must have %d for each of its %d inputs", i, weight, l.Units, in)
	}
	return l.Units, nil
}

// checkOutputs: the net puts out one number for each that an encoded row has.
func (g *generator) checkOutputs(out int) error {
	width := 0
	for i, c := range g.Domain.Columns {
		if c.Encoding == nil {
			return fmt.Errorf("domain.columns[%d].encoding: is missing, must be that of an encoded column", i)
		}
		if c.Encoding.Width > out-width {
			return fmt.Errorf("domain.columns[%d].encoding.width: is %d, must be at most %d, what the net has left to put out", i, c.Encoding.Width, out-width)
		}
		width += c.Encoding.Width
	}
	if width != out {
		return fmt.Errorf("net: puts out %d numbers a row, must be %d", out, width)
	}
	return nil
}
