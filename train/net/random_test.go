package net

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// TestDropout: while training, the gradient is the gradient under the mask that forward drew
// (the layer is linear given the mask, so the input's gradient times the input
// is the output); outside training it is the identity.
func TestDropout(t *testing.T) {
	n, err := New(Spec{Inputs: 400, Layers: []Layer{Dropout(0.25)}})
	if err != nil {
		t.Fatal(err)
	}
	p := n.NewPass(5)
	r := rand.New(rand.NewPCG(1, 2))
	in := p.Input(5)
	for i := range in.Data {
		in.Data[i] = 2
	}
	y := p.Forward(nil, Mode{Train: true, Rand: r})
	count := 0
	for i := range 5 {
		for j, v := range y.Row(i) {
			switch v {
			case 0:
			case float32(2 / 0.75):
				count++
			default:
				t.Fatalf("output %g is neither 0 nor 2/0.75", v)
			}
			p.OutGrad().Row(i)[j] = 1
		}
	}
	// 2000 coins at 0.75: 5.2 standard deviations of 19.4, false alarm 2e-7.
	if math.Abs(float64(count)-1500) > 101 {
		t.Errorf("%d of 2000 kept, want 1500", count)
	}
	dx := p.BackwardInput(nil, 0)
	for i := range 5 {
		for j, v := range dx.Row(i) {
			if 2*v != y.Row(i)[j] {
				t.Fatalf("gradient %g at output %g of input 2", v, y.Row(i)[j])
			}
		}
	}
	p.Input(5).Row(0)[0] = 3
	if y := p.Forward(nil, Mode{}); y.Row(0)[0] != 3 {
		t.Errorf("outside training 3 became %g", y.Row(0)[0])
	}
}

// TestGumbelSoftmax: the gradient agrees with float64 differences for the same
// noise, and the largest element falls on category j with the probability of its
// softmax (Jang et al. 2017): 4000 draws, 5.4 standard deviations, false alarm
// below 1e-6 over the three categories.
func TestGumbelSoftmax(t *testing.T) {
	spec := Spec{Inputs: 3, Layers: []Layer{Blocks(Block{Activation: "gumbel_softmax", Width: 3, Temperature: 0.5})}}
	n, err := New(spec)
	if err != nil {
		t.Fatal(err)
	}
	logits := []float64{1, 0, -0.5}
	fresh := func() Mode { return Mode{Train: true, Rand: rand.New(rand.NewPCG(3, 4))} }
	p := n.NewPass(4000)
	load := func(rows int) {
		in := p.Input(rows)
		for i := range rows {
			for j, v := range logits {
				in.Row(i)[j] = float32(v)
			}
		}
	}
	load(1)
	p.Forward(nil, fresh())
	for j := range 3 {
		p.OutGrad().Row(0)[j] = float32(weightOf(0, j))
	}
	dx := p.BackwardInput(nil, 0)
	value := func() (sum float64) {
		r := fresh().Rand
		var e [3]float64
		total := 0.0
		for j := range e {
			u := (float64(r.Uint64()>>12) + 0.5) / (1 << 52)
			e[j] = math.Exp((logits[j] - math.Log(-math.Log(u))) / 0.5)
			total += e[j]
		}
		for j := range e {
			sum += weightOf(0, j) * e[j] / total
		}
		return sum
	}
	near(t, "inputs", widen(dx.Row(0)), differences(logits, value), 1e-5)
	load(4000)
	y := p.Forward(nil, fresh())
	var count [3]float64
	for i := range 4000 {
		best := 0
		for j, v := range y.Row(i) {
			if v > y.Row(i)[best] {
				best = j
			}
		}
		count[best]++
	}
	total := math.E + 1 + math.Exp(-0.5)
	for j, v := range logits {
		q := math.Exp(v) / total
		if math.Abs(count[j]/4000-q) > 5.4*math.Sqrt(q*(1-q)/4000) {
			t.Errorf("category %d: frequency %g, want %g", j, count[j]/4000, q)
		}
	}
}

// TestBatchNormRemembers: outside training the running statistics are used; after
// many batches of one law they are near its mean and variance.
func TestBatchNormRemembers(t *testing.T) {
	n, err := New(Spec{Inputs: 1, Layers: []Layer{{Type: "batch_norm"}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.PerExample(); err == nil || !strings.Contains(err.Error(), "mixes the examples") {
		t.Errorf("PerExample: error %v", err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	w := n.Init(r)
	p := n.NewPass(1000)
	for range 200 {
		in := p.Input(1000)
		for i := range 1000 {
			in.Row(i)[0] = 5 + 2*float32(r.NormFloat64())
		}
		p.Forward(w, Mode{Train: true})
	}
	p.Input(1).Row(0)[0] = 7
	// Weighted over about 19 batches of 1000: deviation of the mean 0.015, of the
	// output 0.01; 0.1 is ten of them.
	if y := p.Forward(w, Mode{}).Row(0)[0]; math.Abs(float64(y)-1) > 0.1 {
		t.Errorf("one deviation above the mean became %g", y)
	}
}

func TestSpecIsPlainData(t *testing.T) {
	for name, spec := range cases() {
		text, err := json.Marshal(spec)
		if err != nil {
			t.Fatal(err)
		}
		var back Spec
		if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(back, spec) {
			t.Errorf("%s: %s came back as %+v (%v)", name, text, back, err)
		}
		n, err := New(spec)
		if err != nil {
			t.Fatal(err)
		}
		w := n.Init(rand.New(rand.NewPCG(1, 1)))
		got, err := n.Import(n.Export(w))
		if err != nil || !reflect.DeepEqual(got, w) {
			t.Errorf("%s: weights did not survive export and import: %v", name, err)
		}
	}
}

func TestImportRefuses(t *testing.T) {
	n, _ := New(Spec{Inputs: 2, Layers: []Layer{Dense(3)}})
	for _, byName := range []map[string][]float32{
		{}, {"0.dense.weight": make([]float32, 6), "0.dense.offset": make([]float32, 3)},
		{"0.dense.weight": make([]float32, 5), "0.dense.bias": make([]float32, 3)},
	} {
		if _, err := n.Import(byName); err == nil {
			t.Errorf("%v was accepted", byName)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for want, layer := range map[string]Layer{
		"layers[0].type":                {Type: "attention"},
		"layers[0].units":               Dense(0),
		"layers[0].slope":               LeakyReLU(2),
		"layers[0].rate":                Dropout(1),
		"layers[0].channels":            {Type: "conv1d", Channels: 3, Filters: 1, Kernel: 1, Stride: 1},
		"layers[0].stride":              {Type: "conv1d_transpose", Channels: 2, Filters: 1, Kernel: 1},
		"layers[0].kernel":              {Type: "conv1d", Channels: 2, Filters: 1, Kernel: 4, Stride: 1},
		"layers[0].channels: is 3":      {Type: "instance_norm", Channels: 3},
		"layers[0].channels: is 4":      {Type: "instance_norm", Channels: 4},
		"layers[0].channels: is -1":     {Type: "batch_norm", Channels: -1},
		"layers[0].blocks[0].hot":       Blocks(Block{Activation: "one_hot", Width: 4, Hot: 4}),
		"layers[0].join":                {Type: "residual", Layers: []Layer{Dense(4)}},
		"layers[0].layers[1].units":     Residual("add", Dense(4), Dense(-1)),
		"must keep their number":        Residual("add", Dense(3)),
		"layers[0].blocks":              Blocks(Block{Activation: "tanh", Width: 3}),
		"layers[0].blocks[0].temper":    Blocks(Block{Activation: "gumbel_softmax", Width: 4}),
		"layers[0].blocks[0].activatio": Blocks(Block{Activation: "relu", Width: 4}),
	} {
		if _, err := New(Spec{Inputs: 4, Layers: []Layer{layer}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, must name %s", err, want)
		}
	}
}

// TestConvolutionsAreWritten: positions of one row may cancel to a gradient of one part in a
// thousand million of theirs, wherever in a net they are added up; dense layers have none.
func TestConvolutionsAreWritten(t *testing.T) {
	conv := func(kind string) Layer { return Layer{Type: kind, Channels: 2, Filters: 1, Kernel: 1, Stride: 1} }
	for name, c := range map[string]struct {
		layers []Layer
		want   bool
	}{
		"conv1d":           {[]Layer{conv("conv1d")}, true},
		"conv1d_transpose": {[]Layer{conv("conv1d_transpose")}, true},
		"instance_norm":    {[]Layer{{Type: "instance_norm", Channels: 2}}, true},
		"in a residual":    {[]Layer{{Type: "residual", Join: "concat", Layers: []Layer{conv("conv1d")}}, Dense(1)}, true},
		"dense":            {[]Layer{{Type: "residual", Join: "concat", Layers: []Layer{Dense(2)}}, Dense(1)}, false},
	} {
		n, err := New(Spec{Inputs: 4, Layers: c.layers})
		if err != nil {
			t.Fatal(err)
		}
		if written, err := n.PerExample(); written != c.want || err != nil {
			t.Errorf("%s: PerExample is %t, %v; must be %t", name, written, err, c.want)
		}
	}
}
