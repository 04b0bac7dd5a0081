package net

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// materialise returns the gradient of each example on its own: rows i, n+i, ...
func materialise(n *Net, p *Pass, examples, rows int) [][]float32 {
	out := make([][]float32, examples)
	for i := range out {
		scale := make([]float32, rows)
		for r := i; r < rows; r += examples {
			scale[r] = 1
		}
		out[i] = make([]float32, n.Params())
		p.Accumulate(out[i], scale)
	}
	return out
}

// TestGhostNorms: the squared norms without per-example gradients are the squared norms of
// the gradients themselves, to 1e-5.
func TestGhostNorms(t *testing.T) {
	for name, spec := range cases() {
		t.Run(name, func(t *testing.T) {
			n, _ := New(spec)
			if _, err := n.PerExample(); err != nil && strings.Contains(err.Error(), "mixes") {
				return // batch norm has no per-example gradient
			}
			r := rand.New(rand.NewPCG(1, 2))
			w := n.Init(r)
			p := n.NewPass(batch)
			draw(p, r)
			p.Forward(w, Mode{Train: true})
			for i := range batch {
				for j := range n.Out() {
					p.OutGrad().Row(i)[j] = float32(weightOf(i, j))
				}
			}
			p.Backward(w)
			for _, examples := range []int{batch, batch / 2, batch / 3} {
				checkGhost(t, n, p, examples)
			}
		})
	}
}

func checkGhost(t *testing.T, n *Net, p *Pass, examples int) {
	t.Helper()
	got, bound := make([]float64, examples), make([]float64, examples)
	p.Squares(got, bound)
	for i, g := range materialise(n, p, examples, p.rows) {
		var want float64
		for _, v := range g {
			want += float64(v) * float64(v)
		}
		if !(math.Abs(got[i]-want) <= 1e-5*want) {
			t.Errorf("%d examples: squared norm %d: %g, materialised %g", examples, i, got[i], want)
		}
		if !(bound[i] >= want*(1-1e-5)) {
			t.Errorf("%d examples: bound %d: %g is below the squared norm %g", examples, i, bound[i], want)
		}
	}
}

// TestGradientPenalty compares the penalty and its gradient with float64 central
// differences of weight*(|grad D| - 1)², where grad D is a central difference too
// (exact for a net that is linear piece by piece).
func TestGradientPenalty(t *testing.T) {
	for name, spec := range map[string]Spec{
		"one layer": {Inputs: 4, Layers: []Layer{Dense(6), LeakyReLU(0.2), Dense(1)}},
		"two":       {Inputs: 4, Layers: []Layer{Dense(6), LeakyReLU(0.2), Dense(5), Activation("relu"), Dense(1)}},
		"linear":    {Inputs: 4, Layers: []Layer{Dense(3), Dense(1)}},
	} {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(5, 6))
			n, err := New(spec)
			if err != nil {
				t.Fatal(err)
			}
			if err := n.Penalisable(); err != nil {
				t.Fatal(err)
			}
			w := n.Init(r)
			for i := range w {
				w[i] *= 3 // norms away from 0
			}
			p := n.NewPass(batch)
			x := draw(p, r)
			p.Forward(w, Mode{Train: true})
			for i := range batch {
				p.OutGrad().Row(i)[0] = float32(i + 1) // rows below lo keep theirs
			}
			const lo = 2
			for i := lo; i < batch; i++ {
				p.OutGrad().Row(i)[0] = 1
			}
			dx := p.BackwardInput(w, lo)
			loss := make([]float64, batch-lo)
			p.GradientPenalty(w, dx, lo, 10, loss)
			grad := make([]float32, n.Params())
			p.Accumulate(grad, nil)
			places := widen(w)
			f := func() (sum float64) {
				for i, row := range x {
					if i < lo {
						sum += float64(i+1) * (&reference{w: places}).run(spec.Layers, [][]float64{row})[0][0]
						continue
					}
					sum += penaltyOf(spec, places, row)
				}
				return sum
			}
			near(t, "weights", widen(grad), differences(places, f), 1e-4)
			for i := range loss {
				near(t, "loss", []float64{loss[i]}, []float64{penaltyOf(spec, places, x[lo+i])}, 1e-4)
			}
			checkGhost(t, n, p, batch/2)
		})
	}
}

func penaltyOf(s Spec, w []float64, x []float64) float64 {
	var square float64
	for _, g := range differences(x, func() float64 { return (&reference{w: w}).run(s.Layers, [][]float64{x})[0][0] }) {
		square += g * g
	}
	d := math.Sqrt(square) - 1
	return 10 * d * d
}

// TestGradientPenaltyOfBatches compares the gradient of a loss over two groups with central differences: the first
// has weights of its own at its outputs, the second the penalty, where grad D is of the sum of its scores, since
// batch_norm mixes its rows. Values, and so gradients, of one group must not know the other.
func TestGradientPenaltyOfBatches(t *testing.T) {
	norm := Layer{Type: "batch_norm"}
	for name, spec := range map[string]Spec{
		"one layer": {Inputs: 4, Layers: []Layer{Dense(6), norm, LeakyReLU(0.2), Dense(1)}},
		"two": {Inputs: 4, Layers: []Layer{Dense(6), norm, LeakyReLU(0.2), Dense(5), norm, Activation("relu"),
			Dense(1)}},
		"at once": {Inputs: 4, Layers: []Layer{norm, Dense(5), LeakyReLU(0.1), Dense(1)}},
	} {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(5, 7))
			n, err := New(spec)
			if err == nil {
				err = n.Penalisable()
			}
			if err != nil {
				t.Fatal(err)
			}
			w := n.Init(r)
			for i := range w {
				w[i] = 3*w[i] + float32(0.1*r.NormFloat64())
			}
			p, places := n.NewPass(batch), widen(w)
			for range 2 { // a pass is used again
				grad, x := make([]float32, n.Params()), draw(p, r)
				penaltyOfBatches(p, w, grad)
				near(t, "weights", widen(grad), differences(places, func() float64 { return lossOfBatches(spec, places, x) }), 1e-4)
			}
		})
	}
}

const half = batch / 2

// penaltyOfBatches adds the gradient under test.
func penaltyOfBatches(p *Pass, w, grad []float32) {
	p.Forward(w, Mode{Train: true, Frozen: true, Groups: 2})
	for i := range batch {
		p.OutGrad().Row(i)[0] = 1
		if i < half {
			p.OutGrad().Row(i)[0] = float32(i + 1)
		}
	}
	dx := p.BackwardInput(w, half)
	p.GradientPenalty(w, dx, half, 10, nil)
	p.Accumulate(grad, nil)
}

func lossOfBatches(s Spec, w []float64, x [][]float64) (sum float64) {
	for i, y := range (&reference{w: w}).run(s.Layers, x[:half]) {
		sum += float64(i+1) * y[0]
	}
	for _, row := range x[half:] {
		var square float64
		for _, g := range differences(row, func() (total float64) {
			for _, y := range (&reference{w: w}).run(s.Layers, x[half:]) {
				total += y[0]
			}
			return total
		}) {
			square += g * g
		}
		sum += 10 * (math.Sqrt(square) - 1) * (math.Sqrt(square) - 1)
	}
	return sum
}

func TestPenaltyRefusesCurvedNets(t *testing.T) {
	for name, layers := range map[string][]Layer{
		"tanh":     {Dense(2), Activation("tanh"), Dense(1)},
		"channels": {Dense(4), {Type: "batch_norm", Channels: 2}, Dense(1)},
		"draws":    {Dense(4), {Type: "batch_norm"}, Dropout(0.5), Dense(1)},
	} {
		n, err := New(Spec{Inputs: 3, Layers: layers})
		if err != nil || n.Penalisable() == nil {
			t.Errorf("%s: was accepted (%v)", name, err)
		}
	}
}

// TestLosses compares gradients with central differences of the values.
func TestLosses(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	y, target, dy, e := NewMatrix(1, 6), NewMatrix(1, 6), NewMatrix(1, 6), NewMatrix(1, 3)
	for j := range 6 {
		y.Row(0)[j], target.Row(0)[j] = float32(r.NormFloat64()), r.Float32()
	}
	for j := range 3 {
		e.Row(0)[j] = float32(r.NormFloat64())
	}
	places := widen(y.Row(0))
	check := func(name string, value func() float64) {
		near(t, name, widen(dy.Row(0)), differences(places, value), 1e-5)
	}
	loss := make([]float64, 1)
	BCE(dy, y, target, loss)
	bce := func() (s float64) {
		for j, v := range places {
			p, q := sigma(v), float64(target.Row(0)[j])
			s -= (q*math.Log(p) + (1-q)*math.Log(1-p)) / 6
		}
		return s
	}
	check("bce", bce)
	near(t, "bce value", loss, []float64{bce()}, 1e-6)
	MSE(dy, y, target, loss)
	mse := func() (s float64) {
		for j, v := range places {
			d := v - float64(target.Row(0)[j])
			s += d * d / 6
		}
		return s
	}
	check("mse", mse)
	near(t, "mse value", loss, []float64{mse()}, 1e-6)
	clear(dy.Data)
	loss[0] = 0
	GaussianKL(dy, y, 0.7, loss)
	kl := func() (s float64) { // sum of log-density ratios of normals, closed form
		for j := range 3 {
			m, v := places[j], math.Exp(places[3+j])
			s += 0.7 * (-0.5*math.Log(v) + (v+m*m)/2 - 0.5)
		}
		return s
	}
	check("kl", kl)
	near(t, "kl value", loss, []float64{kl()}, 1e-6)
	dz, z := NewMatrix(1, 3), NewMatrix(1, 3)
	for j := range 3 {
		dz.Row(0)[j] = float32(weightOf(0, j))
	}
	Reparameterise(z, y, e)
	ReparameteriseBackward(dy, dz, y, e)
	check("reparameterise", func() (s float64) {
		for j := range 3 {
			s += weightOf(0, j) * (places[j] + math.Exp(places[3+j]/2)*float64(e.Row(0)[j]))
		}
		return s
	})
}

// TestLargeInputsHaveNoFiniteNorm: an input past the range of float32 squares is
// dropped even where its gradient is small, because its scaled gradient is not
// held by float32.
func TestLargeInputsHaveNoFiniteNorm(t *testing.T) {
	for name, layer := range map[string]Layer{
		"dense":     Dense(2),
		"conv":      {Type: "conv1d", Channels: 1, Filters: 2, Kernel: 2, Stride: 1},
		"transpose": {Type: "conv1d_transpose", Channels: 1, Filters: 2, Kernel: 2, Stride: 1},
	} {
		n, _ := New(Spec{Inputs: 3, Layers: []Layer{layer}})
		p := n.NewPass(1)
		p.Input(1).Row(0)[1] = 1e30
		p.Forward(n.Init(rand.New(rand.NewPCG(1, 1))), Mode{})
		for j := range p.OutGrad().Row(0) {
			p.OutGrad().Row(0)[j] = 1e-28
		}
		p.Backward(make([]float32, n.Params()))
		square, bound := make([]float64, 1), make([]float64, 1)
		p.Squares(square, bound)
		if square[0]-square[0] == 0 {
			t.Errorf("%s: squared norm %g, must not be finite", name, square[0])
		}
	}
}

// TestWideBounds: the norm of a gradient over 4,500 inputs is told with three times the
// bound of one over 2,000, for all weights and tensor by tensor: its dot products have
// as many more terms, and their rounding is what the clip allows for.
func TestWideBounds(t *testing.T) {
	for inputs, times := range map[int]float64{1999: 1, 2000: 1, 2001: 2, 4500: 3} {
		n, err := New(Spec{Inputs: inputs, Layers: []Layer{Dense(1)}})
		if err != nil {
			t.Fatal(err)
		}
		p := n.NewPass(batch)
		w := n.Init(rand.New(rand.NewPCG(1, 2)))
		draw(p, rand.New(rand.NewPCG(3, 4)))
		p.Forward(w, Mode{Train: true})
		for k := range batch {
			p.OutGrad().Row(k)[0] = 1
		}
		p.Backward(w)
		square, bound := make([]float64, batch), make([]float64, batch)
		p.Squares(square, bound)
		squares, bounds := [][]float64{make([]float64, batch), make([]float64, batch)}, [][]float64{make([]float64, batch),
			make([]float64, batch)}
		p.TensorSquares(squares, bounds)
		for what, ratio := range map[string]float64{"all": bound[0] / square[0], "weights": bounds[0][0] / squares[0][0],
			"offsets": bounds[1][0] / squares[1][0]} {
			if math.Abs(ratio-times) > 1e-6 {
				t.Errorf("%d inputs, %s: the bound is %g squares, must be %g", inputs, what, ratio, times)
			}
		}
	}
}
