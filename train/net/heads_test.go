package net

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func headBlocks() []Block {
	return []Block{{Activation: "softmax", Width: 3}, {Activation: "sigmoid", Width: 2}, {Activation: "linear", Width: 1},
		{Activation: "softmax", Width: 2}, {Activation: "tanh", Width: 1}}
}

// headReference returns the loss of one row by its definition: logarithms of the
// probabilities that the blocks put out, and squared errors.
func headReference(y, t []float64, skip int) (sum float64) {
	pos := 0
	for i, b := range headBlocks() {
		total := 0.0
		for j := pos; j < pos+b.Width; j++ {
			total += math.Exp(y[j])
		}
		for j := pos; j < pos+b.Width && i != skip; j++ {
			switch b.Activation {
			case "softmax":
				sum -= t[j] * math.Log(math.Exp(y[j])/total)
			case "sigmoid":
				sum -= t[j]*math.Log(sigma(y[j])) + (1-t[j])*math.Log(1-sigma(y[j]))
			case "linear":
				sum += (y[j] - t[j]) * (y[j] - t[j])
			case "tanh":
				sum += (math.Tanh(y[j]) - t[j]) * (math.Tanh(y[j]) - t[j])
			}
		}
		pos += b.Width
	}
	return sum
}

// TestHeads compares values with the definition and gradients with its central
// differences, for several rows at once and with a block left out.
func TestHeads(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	y, target, dy := NewMatrix(4, 9), NewMatrix(4, 9), NewMatrix(4, 9)
	for i := range 4 {
		for j := range 9 {
			y.Row(i)[j], target.Row(i)[j] = float32(2*r.NormFloat64()), r.Float32()
		}
		for _, block := range [][2]int{{0, 3}, {6, 8}} { // one-hot, as rows are
			clear(target.Row(i)[block[0]:block[1]])
			target.Row(i)[block[0]+r.IntN(block[1]-block[0])] = 1
		}
	}
	for _, skip := range []int{-1, 0, 3} {
		h, err := NewHeads(headBlocks(), skip)
		if err != nil {
			t.Fatal(err)
		}
		for i := range dy.Data {
			dy.Data[i] = 7 // of another batch
		}
		loss := []float64{9, 9, 9, 9}
		h.Loss(dy, y, target, loss)
		for i := range 4 {
			places, to := widen(y.Row(i)), widen(target.Row(i))
			value := func() float64 { return headReference(places, to, skip) }
			near(t, "value", loss[i:i+1], []float64{value()}, 1e-6)
			near(t, "gradient", widen(dy.Row(i)), differences(places, value), 1e-5)
			if dy.Data[i*dy.LD+9] != 0 {
				t.Error("the extra column of the gradient is not zero")
			}
		}
	}
	if _, err := NewHeads([]Block{{Activation: "linear", Width: 1}, {Activation: "gumbel_softmax", Width: 2}}, -1); err ==
		nil || !strings.Contains(err.Error(), "blocks[1].activation") {
		t.Errorf("a block without a loss gives %v, must be named", err)
	}
}

// TestHeadsFarOut: losses stay finite where exponentials would not.
func TestHeadsFarOut(t *testing.T) {
	y, target, dy := NewMatrix(1, 9), NewMatrix(1, 9), NewMatrix(1, 9)
	for j := range 9 {
		y.Row(0)[j] = float32([]float64{1e4, -1e4, 3e3}[j%3])
	}
	target.Row(0)[1], target.Row(0)[6] = 1, 1
	h, err := NewHeads(headBlocks(), -1)
	if err != nil {
		t.Fatal(err)
	}
	loss := make([]float64, 1)
	h.Loss(dy, y, target, loss)
	// 2e4 of the first block, 1e4 of columns 3 (and 0 of column 4), 3e3^2 of column 5, 0
	// of the second block, 1 of column 8.
	if want := 2e4 + 1e4 + 9e6 + 0 + 1; loss[0] != want {
		t.Errorf("the loss is %g, must be %g", loss[0], want)
	}
	for j, d := range dy.Row(0) {
		if d-d != 0 {
			t.Errorf("gradient %d is %g, must be finite", j, d)
		}
	}
}

// TestLogistic: the loss is ln(1+exp(sign*y)) and its gradient the quotient of differences, also far
// out, where exp overflows.
func TestLogistic(t *testing.T) {
	scores := []float64{-800, -3, -0.5, 0, 0.25, 2, 800}
	for _, sign := range []float64{-1, 1} {
		y, dy, loss := NewMatrix(len(scores), 1), NewMatrix(len(scores), 1), make([]float64, len(scores))
		for i, v := range scores {
			y.Row(i)[0] = float32(v)
		}
		Logistic(dy, y, float32(sign), loss)
		for i, v := range scores {
			lookup := func(v float64) float64 { return math.Max(0, sign*v) + math.Log1p(math.Exp(-math.Abs(v))) }
			if math.Abs(loss[i]-lookup(v)) > 1e-9 {
				t.Errorf("loss of %g, sign %g: %g, must be %g", v, sign, loss[i], lookup(v))
			}
			if want := (lookup(v+1e-4) - lookup(v-1e-4)) / 2e-4; math.Abs(float64(dy.Row(i)[0])-want) > 1e-6 {
				t.Errorf("gradient at %g, sign %g: %g, must be %g", v, sign, dy.Row(i)[0], want)
			}
		}
	}
}

// TestTensorNorms: the squared norm of each weight tensor's gradient is the squared norm of the part
// of the materialised gradient, and the sum with a scale for each row and tensor is the sum
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
		square, bound, scale = append(square, make([]float64, batch)), append(bound, make([]float64, batch)),
			append(scale, make([]float32, batch))
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
				t.Errorf("%s: %s of row %d: squared norm %g (bound %g), materialised %g", name, tensor.Name, i, square[k][i],
					bound[k][i], norm)
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
// deviations of a sample variance (false alarms 4e-7); the variance of Init is a sixth of it. Offsets are zero.
func TestInitByInputs(t *testing.T) {
	n, err := New(Spec{Inputs: 400, Layers: []Layer{Dense(400)}})
	if err != nil {
		t.Fatal(err)
	}
	lookup := func(w []float32) (variance float64) {
		for _, v := range w {
			variance += float64(v) * float64(v) / float64(len(w))
		}
		return variance * 200
	}
	const weights = 400 * 400
	r := rand.New(rand.NewPCG(11, 12))
	w, uniform := n.InitByInputs(r, 2), n.Init(r)
	if v := lookup(w[:weights]); math.Abs(v-1) > 0.018 {
		t.Errorf("variance %g of 2/400", v)
	}
	if v := lookup(uniform[:weights]); math.Abs(v-1) <= 0.018 {
		t.Errorf("the uniform law has %g as well, the test shows nothing", v)
	}
	if lookup(w[weights:]) != 0 {
		t.Error("offsets are not zero")
	}
}
