package net

import (
	"math"
	"math/rand/v2"
	"testing"
)

// reference evaluates a Spec in float64, layer by layer, from the definitions in
// the papers that spec.go names: nothing is shared with the layers under test.
type reference struct {
	w    []float64
	mode string // "train" makes batch_norm use the batch
}

func (r *reference) take(n int) []float64 {
	part := r.w[:n]
	r.w = r.w[n:]
	return part
}

func (r *reference) run(layers []Layer, x [][]float64) [][]float64 {
	for _, l := range layers {
		x = r.layer(l, x)
	}
	return x
}

func each(x [][]float64, f func(float64) float64) [][]float64 {
	out := make([][]float64, len(x))
	for i, row := range x {
		for _, v := range row {
			out[i] = append(out[i], f(v))
		}
	}
	return out
}

func sigma(v float64) float64 { return 1 / (1 + math.Exp(-v)) }

func (r *reference) layer(l Layer, x [][]float64) [][]float64 {
	in := len(x[0])
	switch l.Type {
	case "dense":
		w, b := r.take(in*l.Units), r.take(l.Units)
		return rows(x, l.Units, func(y, x []float64) {
			for j := range y {
				y[j] = b[j]
				for i, v := range x {
					y[j] += v * w[i*l.Units+j]
				}
			}
		})
	case "leaky_relu", "relu":
		return each(x, func(v float64) float64 { return math.Max(v, 0) + l.Slope*math.Min(v, 0) })
	case "tanh":
		return each(x, math.Tanh)
	case "sigmoid":
		return each(x, sigma)
	case "layer_norm":
		g, b := r.take(in), r.take(in)
		return rows(x, in, func(y, x []float64) {
			m, s := stats(x)
			for j, v := range x {
				y[j] = (v-m)/s*g[j] + b[j]
			}
		})
	case "batch_norm":
		return r.batchNorm(x)
	case "blocks":
		return rows(x, in, func(y, x []float64) { blocksReference(l.Blocks, y, x) })
	case "residual":
		f := r.run(l.Layers, x)
		out := make([][]float64, len(x))
		for i := range x {
			if l.Join == "concat" {
				out[i] = append(append(out[i], f[i]...), x[i]...)
				continue
			}
			for j, v := range x[i] {
				out[i] = append(out[i], v+f[i][j])
			}
		}
		return out
	case "conv1d":
		return r.conv(l, x)
	case "conv1d_transpose":
		return r.convTranspose(l, x)
	}
	panic(l.Type)
}

func rows(x [][]float64, width int, f func(y, x []float64)) [][]float64 {
	out := make([][]float64, len(x))
	for i := range x {
		out[i] = make([]float64, width)
		f(out[i], x[i])
	}
	return out
}

func stats(x []float64) (mean, deviation float64) {
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		deviation += (v - mean) * (v - mean) / float64(len(x))
	}
	return mean, math.Sqrt(deviation + 1e-5)
}

func (r *reference) batchNorm(x [][]float64) [][]float64 {
	in := len(x[0])
	g, b := r.take(in), r.take(in)
	r.take(2 * in)
	out := rows(x, in, func(_, _ []float64) {})
	for j := range in {
		var col []float64
		for i := range x {
			col = append(col, x[i][j])
		}
		m, s := stats(col)
		for i := range x {
			out[i][j] = (x[i][j]-m)/s*g[j] + b[j]
		}
	}
	return out
}

func blocksReference(list []Block, y, x []float64) {
	at := 0
	for _, b := range list {
		var sum float64
		for j := at; j < at+b.Width; j++ {
			switch b.Activation {
			case "linear":
				y[j] = x[j]
			case "tanh":
				y[j] = math.Tanh(x[j])
			case "sigmoid":
				y[j] = sigma(x[j])
			case "softmax":
				y[j] = math.Exp(x[j])
				sum += y[j]
			}
		}
		if b.Activation == "softmax" {
			for j := at; j < at+b.Width; j++ {
				y[j] /= sum
			}
		}
		at += b.Width
	}
}

func (r *reference) conv(l Layer, x [][]float64) [][]float64 {
	wide := len(x[0]) / l.Channels
	narrow := (wide+2*l.Padding-l.Kernel)/l.Stride + 1
	w, b := r.take(l.Kernel*l.Channels*l.Filters), r.take(l.Filters)
	return rows(x, narrow*l.Filters, func(y, x []float64) {
		for q := range narrow {
			for f := range l.Filters {
				y[q*l.Filters+f] = b[f]
				for k := range l.Kernel {
					for c := range l.Channels {
						if p := q*l.Stride - l.Padding + k; p >= 0 && p < wide {
							y[q*l.Filters+f] += x[p*l.Channels+c] * w[(k*l.Channels+c)*l.Filters+f]
						}
					}
				}
			}
		}
	})
}

func (r *reference) convTranspose(l Layer, x [][]float64) [][]float64 {
	narrow := len(x[0]) / l.Channels
	wide := (narrow-1)*l.Stride - 2*l.Padding + l.Kernel
	w, b := r.take(l.Channels*l.Kernel*l.Filters), r.take(l.Filters)
	return rows(x, wide*l.Filters, func(y, x []float64) {
		for p := range wide {
			copy(y[p*l.Filters:], b)
		}
		for q := range narrow {
			for k := range l.Kernel {
				p := q*l.Stride - l.Padding + k
				if p < 0 || p >= wide {
					continue
				}
				for c := range l.Channels {
					for f := range l.Filters {
						y[p*l.Filters+f] += x[q*l.Channels+c] * w[(c*l.Kernel+k)*l.Filters+f]
					}
				}
			}
		}
	})
}

// cases are nets of every layer and of compositions.
func cases() map[string]Spec {
	conv := func(kind string) Layer {
		return Layer{Type: kind, Channels: 2, Filters: 3, Kernel: 3, Stride: 2, Padding: 1}
	}
	return map[string]Spec{
		"dense":      {Inputs: 5, Layers: []Layer{Dense(4)}},
		"leaky":      {Inputs: 5, Layers: []Layer{Dense(7), LeakyReLU(0.2), Dense(3)}},
		"relu first": {Inputs: 5, Layers: []Layer{Activation("relu"), Dense(3)}},
		"tanh":       {Inputs: 5, Layers: []Layer{Dense(7), Activation("tanh"), Dense(3), Activation("sigmoid")}},
		"stacked":    {Inputs: 5, Layers: []Layer{Dense(6), Activation("tanh"), LeakyReLU(0.3), Activation("sigmoid"), Dense(2)}},
		"layer norm": {Inputs: 5, Layers: []Layer{Dense(6), {Type: "layer_norm"}, LeakyReLU(0.1), Dense(2)}},
		"batch norm": {Inputs: 5, Layers: []Layer{Dense(6), {Type: "batch_norm"}, Activation("relu"), Dense(2)}},
		"blocks": {Inputs: 4, Layers: []Layer{Dense(9), Blocks(Block{Activation: "tanh", Width: 2}, Block{Activation: "softmax", Width: 3},
			Block{Activation: "linear", Width: 1}, Block{Activation: "sigmoid", Width: 1}, Block{Activation: "softmax", Width: 2}), Dense(2)}},
		"conv":      {Inputs: 12, Layers: []Layer{conv("conv1d"), LeakyReLU(0.2), Dense(2)}},
		"transpose": {Inputs: 8, Layers: []Layer{conv("conv1d_transpose"), Activation("tanh"), Dense(2)}},
		"conv pair": {Inputs: 12, Layers: []Layer{conv("conv1d"), Activation("tanh"), {Type: "conv1d_transpose", Channels: 3, Filters: 2, Kernel: 2, Stride: 2}}},
		"residual":  {Inputs: 5, Layers: []Layer{Residual("add", Activation("tanh"), Dense(5), Activation("tanh")), Dense(2)}},
		"concat":    {Inputs: 5, Layers: []Layer{Dense(4), Activation("tanh"), Residual("concat", Dense(3), LeakyReLU(0.2)), Activation("sigmoid"), Dense(2)}},
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

// weightOf is a fixed weighting of outputs, so that the loss sum(c*y) has a
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

func differences(at []float64, f func() float64) []float64 {
	const h = 1e-5
	out := make([]float64, len(at))
	for i, v := range at {
		at[i] = v + h
		up := f()
		at[i] = v - h
		out[i] = (up - f()) / (2 * h)
		at[i] = v
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
