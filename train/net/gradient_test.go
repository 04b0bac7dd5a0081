package net

import (
	"math"
	"math/rand/v2"
	"testing"
)

// cases returns nets of every layer and of compositions.
func cases() map[string]Spec {
	conv := func(kind string) Layer {
		return Layer{Type: kind, Channels: 2, Filters: 3, Kernel: 3, Stride: 2, Padding: 1}
	}
	return map[string]Spec{
		"dense":      {Inputs: 5, Layers: []Layer{Dense(4)}},
		"leaky":      {Inputs: 5, Layers: []Layer{Dense(7), LeakyReLU(0.2), Dense(3)}},
		"relu first": {Inputs: 5, Layers: []Layer{Activation("relu"), Dense(3)}},
		"tanh":       {Inputs: 5, Layers: []Layer{Dense(7), Activation("tanh"), Dense(3), Activation("sigmoid")}},
		"stacked": {Inputs: 5, Layers: []Layer{Dense(6), Activation("tanh"), LeakyReLU(0.3),
			Activation("sigmoid"), Dense(2)}},
		"layer norm": {Inputs: 5, Layers: []Layer{Dense(6), {Type: "layer_norm"}, LeakyReLU(0.1), Dense(2)}},
		"batch norm": {Inputs: 5, Layers: []Layer{Dense(6), {Type: "batch_norm"}, Activation("relu"), Dense(2)}},
		"batch norm of channels": {Inputs: 6, Layers: []Layer{Dense(6), {Type: "batch_norm", Channels: 2}, Activation("tanh"),
			Dense(2)}},
		"instance norm": {Inputs: 6, Layers: []Layer{Dense(8), {Type: "instance_norm", Channels: 2},
			Activation("tanh"), Dense(2)}},
		"conv and instance norm": {Inputs: 12, Layers: []Layer{conv("conv1d"), {Type: "instance_norm", Channels: 3},
			LeakyReLU(0.2), Dense(2)}},
		"constants": {Inputs: 4, Layers: []Layer{Dense(6), Blocks(Block{Activation: "zeros", Width: 2},
			Block{Activation: "tanh", Width: 1},
			Block{Activation: "one_hot", Width: 3, Hot: 1}), Dense(2)}},
		"blocks": {Inputs: 4, Layers: []Layer{Dense(9), Blocks(Block{Activation: "tanh", Width: 2},
			Block{Activation: "softmax", Width: 3},
			Block{Activation: "linear", Width: 1}, Block{Activation: "sigmoid", Width: 1}, Block{Activation: "softmax",
				Width: 2}), Dense(2)}},
		"conv":      {Inputs: 12, Layers: []Layer{conv("conv1d"), LeakyReLU(0.2), Dense(2)}},
		"transpose": {Inputs: 8, Layers: []Layer{conv("conv1d_transpose"), Activation("tanh"), Dense(2)}},
		"conv pair": {Inputs: 12, Layers: []Layer{conv("conv1d"), Activation("tanh"), {Type: "conv1d_transpose", Channels: 3,
			Filters: 2, Kernel: 2, Stride: 2}}},
		"residual": {Inputs: 5, Layers: []Layer{Residual("add", Activation("tanh"), Dense(5), Activation("tanh")),
			Dense(2)}},
		"concat": {Inputs: 5, Layers: []Layer{Dense(4), Activation("tanh"), Residual("concat", Dense(3), LeakyReLU(0.2)),
			Activation("sigmoid"), Dense(2)}},
	}
}

const batch = 6

// draw fills a Pass's input and returns it in float64 too.
func draw(p *Pass, r *rand.Rand) [][]float64 {
	in := p.Input(batch)
	x := make([][]float64, batch)
	for i := range x {
		for j := range in.Row(i) {
			in.Row(i)[j] = float32(r.NormFloat64())
			x[i] = append(x[i], float64(in.Row(i)[j]))
		}
	}
	return x
}

func widen(x []float32) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	return out
}

// weightOf returns a fixed weighting of outputs, so that the loss sum(c*y) has a
// gradient in every output.
func weightOf(i, j int) float64 { return math.Sin(float64(3*i + 7*j + 1)) }

func objective(s Spec, w []float64, x [][]float64) (sum float64) {
	r := &reference{w: w}
	for i, row := range r.run(s.Layers, x) {
		for j, v := range row {
			sum += weightOf(i, j) * v
		}
	}
	return sum
}

// TestGradients compares forward, the gradient by weights and the gradient by
// inputs with float64 evaluation and central differences (step 1e-5: error about
// 1e-9 away from kinks, which normal draws do not hit within 1e-5 here). The
// tolerance 2e-5 of the largest component is the float32 arithmetic.
func TestGradients(t *testing.T) {
	for name, spec := range cases() {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(7, 11))
			n, err := New(spec)
			if err != nil {
				t.Fatal(err)
			}
			w := n.Init(r)
			for i := range w { // gains and offsets too
				w[i] += float32(0.1 * r.NormFloat64())
			}
			before := widen(w)
			p := n.NewPass(batch + 3)
			x := draw(p, r)
			y := p.Forward(w, Mode{Train: true})
			want := (&reference{w: before}).run(spec.Layers, x)
			for i := range want {
				near(t, "output", widen(y.Row(i)), want[i], 1e-5)
				for j := range want[i] {
					p.OutGrad().Row(i)[j] = float32(weightOf(i, j))
				}
			}
			dx := p.BackwardInput(w, 0)
			grad := make([]float32, n.Params())
			p.Accumulate(grad, nil)
			near(t, "weights", widen(grad), differences(before, func() float64 { return objective(spec, before, x) }), 2e-5)
			for i := range x {
				near(t, "inputs", widen(dx.Row(i)), differences(x[i], func() float64 { return objective(spec, before, x) }), 2e-5)
			}
		})
	}
}

func differences(places []float64, f func() float64) []float64 {
	const h = 1e-5
	out := make([]float64, len(places))
	for i, v := range places {
		places[i] = v + h
		up := f()
		places[i] = v - h
		out[i] = (up - f()) / (2 * h)
		places[i] = v
	}
	return out
}

func near(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers, want %d", what, len(got), len(want))
	}
	top := 1.0
	for _, v := range want {
		top = math.Max(top, math.Abs(v))
	}
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= tolerance*top) {
			t.Fatalf("%s[%d]: %g, want %g", what, i, got[i], want[i])
		}
	}
}
