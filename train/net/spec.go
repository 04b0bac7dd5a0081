package net

import (
	"errors"
	"fmt"
	"math"
)

// Spec describes a net: the width of its input rows and its layers in order.
type Spec struct {
	Inputs int     `json:"inputs"`
	Layers []Layer `json:"layers"`
}

// Layer is one entry of a Spec. Type chooses which of the other fields count:
//
//	dense             units
//	leaky_relu        slope (0 to 1)
//	relu, tanh, sigmoid
//	dropout           rate (the share set to zero while training)
//	layer_norm
//	batch_norm        channels (0: each column is one)
//	instance_norm     channels
//	conv1d            channels, filters, kernel, stride, padding
//	conv1d_transpose  channels, filters, kernel, stride, padding
//	residual          layers, join: add (x + f(x)) or concat ([f(x), x])
//	blocks            blocks: an activation for each run of columns
//
// The row of a convolution is position-major: position p, channel c is column
// p*channels+c.
type Layer struct {
	Type     string  `json:"type"`
	Units    int     `json:"units,omitempty"`
	Slope    float64 `json:"slope,omitempty"`
	Rate     float64 `json:"rate,omitempty"`
	Channels int     `json:"channels,omitempty"`
	Filters  int     `json:"filters,omitempty"`
	Kernel   int     `json:"kernel,omitempty"`
	Stride   int     `json:"stride,omitempty"`
	Padding  int     `json:"padding,omitempty"`
	Join     string  `json:"join,omitempty"`
	Layers   []Layer `json:"layers,omitempty"`
	Blocks   []Block `json:"blocks,omitempty"`
}

// Block is the activation of Width adjacent columns: linear, tanh, sigmoid,
// softmax, or gumbel_softmax with a Temperature (Jang, Gu, Poole 2017: softmax of
// (x + Gumbel noise)/temperature while training or sampling); or what stands there
// whatever comes in: zeros, or one_hot with 1 in the column Hot and 0 in others.
type Block struct {
	Activation  string  `json:"activation"`
	Width       int     `json:"width"`
	Temperature float64 `json:"temperature,omitempty"`
	Hot         int     `json:"hot,omitempty"`
}

// Dense, LeakyReLU and Activation shorten the common entries.
func Dense(units int) Layer         { return Layer{Type: "dense", Units: units} }
func LeakyReLU(slope float64) Layer { return Layer{Type: "leaky_relu", Slope: slope} }
func Activation(kind string) Layer  { return Layer{Type: kind} }
func Dropout(rate float64) Layer    { return Layer{Type: "dropout", Rate: rate} }
func Blocks(b ...Block) Layer       { return Layer{Type: "blocks", Blocks: b} }
func Residual(join string, l ...Layer) Layer {
	return Layer{Type: "residual", Join: join, Layers: l}
}

// build turns entries into layers. Every problem is reported, with its path.
func build(path string, in int, specs []Layer) ([]layer, error) {
	var layers []layer
	var errs []error
	for i, s := range specs {
		at := fmt.Sprintf("%s[%d]", path, i)
		l, err := s.build(at, in, needsCopy(layers))
		if err != nil {
			errs = append(errs, err)
			return layers, errors.Join(errs...)
		}
		layers = append(layers, l)
		in = l.width()
	}
	return layers, errors.Join(errs...)
}

// needsCopy reports whether the last layer needs its output again in backward,
// so that an activation after it may not work in place.
func needsCopy(layers []layer) bool {
	if len(layers) == 0 {
		return false
	}
	switch layers[len(layers)-1].(type) {
	case *activation, *blocks, *dropout:
		return true
	}
	return false
}

func (s Layer) build(path string, in int, copies bool) (layer, error) {
	switch s.Type {
	case "dense":
		return newDense(path, in, s.Units)
	case "leaky_relu":
		if !(s.Slope >= 0 && s.Slope <= 1) {
			return nil, fmt.Errorf("%s.slope: is %g, must be from 0 to 1", path, s.Slope)
		}
		return &activation{cols: in, kind: leaky, slope: float32(s.Slope), copies: copies}, nil
	case "relu":
		return &activation{cols: in, kind: leaky, copies: copies}, nil
	case "tanh":
		return &activation{cols: in, kind: tanh, copies: copies}, nil
	case "sigmoid":
		return &activation{cols: in, kind: sigmoid, copies: copies}, nil
	case "dropout":
		if !(s.Rate >= 0 && s.Rate < 1) {
			return nil, fmt.Errorf("%s.rate: is %g, must be at least 0 and below 1", path, s.Rate)
		}
		return &dropout{cols: in, rate: float32(s.Rate)}, nil
	case "layer_norm":
		return &layerNorm{cols: in}, nil
	case "batch_norm":
		return newBatchNorm(path, in, s.Channels)
	case "instance_norm":
		return newInstanceNorm(path, in, s.Channels)
	case "conv1d":
		return newConv(path, in, s)
	case "conv1d_transpose":
		return newConvTranspose(path, in, s)
	case "residual":
		return newResidual(path, in, s)
	case "blocks":
		return newBlocks(path, in, s.Blocks)
	}
	return nil, fmt.Errorf("%s.type: is %q, must be dense, leaky_relu, relu, tanh, sigmoid, dropout, layer_norm, "+
		"batch_norm, instance_norm, conv1d, conv1d_transpose, residual or blocks", path, s.Type)
}

// uniform returns the bound of the weights of a layer with fanIn inputs, weights and
// bias alike (He et al. 2015 with a = sqrt 5, the default of PyTorch).
func uniform(fanIn int) float64 { return 1 / math.Sqrt(float64(fanIn)) }
