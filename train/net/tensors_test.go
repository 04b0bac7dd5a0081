package net

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestTensorNorms: the squared norm of each weight tensor's gradient is that of the part
// of the materialised gradient, and the sum with a scale for each row and tensor is that
// of the scaled parts, both to 1e-5; nets with other weights are refused.
func TestTensorNorms(t *testing.T) {
	checked := 0
	for name, spec := range cases() {
		n, _ := New(spec)
		if n.PerTensor() != nil {
			continue
		}
		checked++
		r := rand.New(rand.NewPCG(1, 2))
		p := n.NewPass(batch)
		draw(p, r)
		w := n.Init(r)
		p.Forward(w, Mode{Train: true})
		for i := range batch {
			for j := range n.Out() {
				p.OutGrad().Row(i)[j] = float32(weightOf(i, j))
			}
		}
		p.Backward(w)
		checkTensors(t, name, n, p)
	}
	if checked < 5 {
		t.Errorf("only %d nets were checked", checked)
	}
	for _, refused := range []string{"layer norm", "batch norm", "conv", "residual"} {
		if n, _ := New(cases()[refused]); n.PerTensor() == nil {
			t.Errorf("%s: clips of single tensors are allowed", refused)
		}
	}
}

func checkTensors(t *testing.T, name string, n *Net, p *Pass) {
	t.Helper()
	var square, bound [][]float64
	var scale [][]float32
	for k := range n.Tensors() {
		square, bound, scale = append(square, make([]float64, batch)), append(bound, make([]float64, batch)), append(scale, make([]float32, batch))
		for i := range batch {
			scale[k][i] = float32(k+1) / float32(i+2)
		}
	}
	p.TensorSquares(square, bound)
	sum, want := make([]float32, n.Params()), make([]float64, n.Params())
	p.TensorAccumulate(sum, scale)
	for i, g := range materialise(n, p, batch, batch) {
		for k, tensor := range n.Tensors() {
			var norm float64
			for j := tensor.Offset; j < tensor.Offset+tensor.Size(); j++ {
				norm += float64(g[j]) * float64(g[j])
				want[j] += float64(scale[k][i]) * float64(g[j])
			}
			if !(math.Abs(square[k][i]-norm) <= 1e-5*norm) || !(bound[k][i] >= norm*(1-1e-5)) {
				t.Errorf("%s: %s of row %d: squared norm %g (bound %g), materialised %g", name, tensor.Name, i, square[k][i], bound[k][i], norm)
			}
		}
	}
	near(t, name, widen(sum), want, 1e-5)
}

// TestInitTruncated: weights lie within two standard deviations, biases are 0. The
// standard deviation of a normal cut at two is .8796 of its own (Johnson, Kotz 1970):
// 4000 weights, 1e-2 is 5.4 standard errors (kurtosis 2.36), false alarm 1e-7.
func TestInitTruncated(t *testing.T) {
	n, _ := New(Spec{Inputs: 40, Layers: []Layer{Dense(100)}})
	w := n.InitTruncated(rand.New(rand.NewPCG(1, 2)), 0.1)
	var square float64
	for _, v := range w[:4000] {
		square += float64(v) * float64(v) / 4000
		if math.Abs(float64(v)) > 0.2*(1+1e-7) {
			t.Fatalf("weight %g is beyond two standard deviations", v)
		}
	}
	if sd := math.Sqrt(square) / 0.1; math.Abs(sd-0.8796) > 0.05*0.8796 {
		t.Errorf("standard deviation %g, want .8796 of the one given", sd)
	}
	for _, v := range w[4000:] {
		if v != 0 {
			t.Fatalf("bias %g", v)
		}
	}
}

// TestInitByInputs: the variance of 160,000 weights of 400 inputs lies within 1.8 % of 2/400, 5.1
// deviations of a sample variance (false alarms 4e-7); that of Init is a sixth of it. Offsets are zero.
func TestInitByInputs(t *testing.T) {
	n, err := New(Spec{Inputs: 400, Layers: []Layer{Dense(400)}})
	if err != nil {
		t.Fatal(err)
	}
	of := func(w []float32) (variance float64) {
		for _, v := range w {
			variance += float64(v) * float64(v) / float64(len(w))
		}
		return variance * 200
	}
	const weights = 400 * 400
	r := rand.New(rand.NewPCG(11, 12))
	w, uniform := n.InitByInputs(r, 2), n.Init(r)
	if v := of(w[:weights]); math.Abs(v-1) > 0.018 {
		t.Errorf("variance %g of 2/400", v)
	}
	if v := of(uniform[:weights]); math.Abs(v-1) <= 0.018 {
		t.Errorf("the uniform law has %g as well, the test shows nothing", v)
	}
	if of(w[weights:]) != 0 {
		t.Error("offsets are not zero")
	}
}
