package training

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/stages/model/artifact"

	"weir/stages/prep"
	"weir/train"
	"weir/train/net"
)

// header returns the header of an encoded table of a number and a category of three.
func header(t *testing.T) pipeline.Header { return headerOf(t, false) }

func headerOf(t *testing.T, separate bool) pipeline.Header {
	t.Helper()
	d := &domain.Domain{Columns: []domain.Column{
		{Name: "x", Type: domain.Numeric, Bounds: &[2]float64{-50, 50}},
		{Name: "c", Type: domain.Categorical, Categories: []string{"a", "b", "c"}},
	}}
	h := pipeline.TableHeader(d, pipeline.Header{Class: pipeline.Released, Stability: pipeline.Unbounded()})
	w, err := (&prep.Encode{MinMax: [2]float64{0, 1}, Missing: "error", Separate: separate,
		Standard: map[string]prep.Moments{"x": {Mean: 0, SD: 1}}}).Plan(pipeline.Headers{"in": h})
	must(t, err)
	return ModelHeader(w.Out["out"])
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// files returns the parts of an artifact below its cover.
func files(t *testing.T, model pipeline.Table) map[string][]byte {
	t.Helper()
	list, err := pipeline.ReadFiles(t.Context(), model)
	must(t, err)
	out := map[string][]byte{}
	for _, f := range list[1:] {
		out[f.Name] = f.Data
	}
	return out
}

func random(purpose string) *rand.Rand { return rand.New(rand.NewPCG(uint64(len(purpose)), 7)) }

// rich returns a net of every layer that a generator may have, a chain of two.
func rich(t *testing.T, h pipeline.Header) *net.Net {
	t.Helper()
	first, err := net.New(net.Spec{Inputs: 4, Layers: append(
		Hidden{Units: []int{4, 4, 3}, Activation: "leaky_relu", Slope: 0.2, Norm: "batch_norm", Residual: true}.Layers(4),
		net.Residual("concat", net.Dense(2), net.Activation("relu")), // 5
		net.Layer{Type: "conv1d_transpose", Channels: 5, Filters: 3, Kernel: 4, Stride: 1},
		net.Layer{Type: "batch_norm", Channels: 3},
		net.Layer{Type: "conv1d_transpose", Channels: 3, Filters: 2, Kernel: 4, Stride: 2, Padding: 1},
		net.Layer{Type: "instance_norm", Channels: 2})})
	must(t, err)
	second, err := Generator(Hidden{Units: []int{6}, Activation: "tanh", Norm: "layer_norm"}, first.Out(), h.Domain)
	must(t, err)
	chain, err := Chain(first, second)
	must(t, err)
	if want := first.Params() + second.Params(); chain.Params() != want {
		t.Fatalf("a chain of %d weights, must be %d", chain.Params(), want)
	}
	return chain
}

// TestReleaseIsReadBack: a chain with every layer gives, read back, the rows that the
// net gave; what is missing, of another length or another's is refused.
func TestReleaseIsReadBack(t *testing.T) {
	h := header(t)
	n := rich(t, h)
	weights := n.Init(rand.New(rand.NewPCG(1, 2)))
	packed, err := Release(h, "toy", Part{Share: 1, Net: n, Weights: weights})
	must(t, err)
	parts := files(t, packed)
	m, err := Readers()[0].(artifact.Decoder).Decode(parts)
	must(t, err)
	draw, err := m.(*model).drawing(random)
	must(t, err)
	if !slices.Equal(draw(300), train.Generate(n, weights, 300, train.StandardNormal, random("latent"))) {
		t.Error("a model that was read back draws other rows")
	}
	for name, data := range parts {
		if name == describedBy {
			continue
		}
		for what, damaged := range map[string][]byte{"shorter": data[4:], "longer": append(slices.Clone(data), 0, 0, 0, 0),
			"half a number": data[2:], "none": nil} {
			parts[name] = damaged
			if _, err := Readers()[0].(artifact.Decoder).Decode(parts); err == nil {
				t.Errorf("%s %s is taken", name, what)
			}
		}
		parts[name] = data
	}
	for _, name := range []string{"weights/1/0.dense.weight", "weights/00/0.dense.weight", "weights/-1/0.dense.weight",
		"weights/0.dense.weight", "critic", "weights/0/77.dense.bias"} {
		parts[name] = make([]byte, 16)
		if _, err := Readers()[0].(artifact.Decoder).Decode(parts); err == nil {
			t.Errorf("%s is taken", name)
		}
		delete(parts, name)
	}
}

// TestSeparateCellsAreReadBack: cells that are numbers of their own have a sigmoid each, and no sum, in a model that
// was read back too.
func TestSeparateCellsAreReadBack(t *testing.T) {
	h := headerOf(t, true)
	n, err := Generator(Leaky(0.2, []int{5}), 2, h.Domain)
	must(t, err)
	weights := n.Init(rand.New(rand.NewPCG(1, 2)))
	packed, err := Release(h, "toy", Part{Share: 1, Net: n, Weights: weights})
	must(t, err)
	m, err := Readers()[0].(artifact.Decoder).Decode(files(t, packed))
	must(t, err)
	draw, err := m.(*model).drawing(random)
	must(t, err)
	rows := draw(50)
	if !slices.Equal(rows, train.Generate(n, weights, 50, train.StandardNormal, random("latent"))) {
		t.Error("a model that was read back draws other rows")
	}
	for i := 0; i < len(rows); i += 4 {
		cells := rows[i+1 : i+4]
		if sum := cells[0] + cells[1] + cells[2]; slices.Min(cells) <= 0 || slices.Max(cells) >= 1 ||
			math.Abs(float64(sum)-1) < 1e-3 {
			t.Fatalf("cells are %v: a softmax, or no sigmoids", cells)
		}
	}
}

// TestFormerFormat: a model of format 2, one net beside its domain, draws the rows that
// it drew.
func TestFormerFormat(t *testing.T) {
	h := header(t)
	n, err := Generator(Leaky(0.2, []int{5}), 2, h.Domain)
	must(t, err)
	weights := n.Init(rand.New(rand.NewPCG(1, 2)))
	about, err := json.Marshal(map[string]any{"net": n.Spec(), "domain": h.Domain})
	must(t, err)
	parts := map[string][]byte{describedBy: about}
	for name, w := range n.Export(weights) {
		parts[weightPrefix+name] = floatBytes(w)
	}
	m, err := Former().(artifact.Decoder).Decode(parts)
	must(t, err)
	draw, err := m.(*model).drawing(random)
	must(t, err)
	if !slices.Equal(draw(300), train.Generate(n, weights, 300, train.StandardNormal, random("latent"))) {
		t.Error("a model of format 2 draws other rows")
	}
	if _, err := Readers()[0].(artifact.Decoder).Decode(parts); err == nil {
		t.Error("format 2 is read as format 3")
	}
}

// constant returns a net whose number is the sum of its two latents plus add, and whose
// category is free.
func constant(t *testing.T, h pipeline.Header, add float32) Part {
	t.Helper()
	n, err := net.New(net.Spec{Inputs: 2, Layers: []net.Layer{net.Dense(4), Outputs(h.Domain)}})
	must(t, err)
	w := make([]float32, n.Params())
	w[0], w[4], w[8] = 1, 1, add // weight 2×4, then bias
	return Part{Net: n, Weights: w}
}

// TestPriorsAndParts: rows are of parts and components in proportion to their shares,
// with their moments. Of 40,000 rows a mean is off by 5 standard errors with a
// probability below 6e-7 each.
func TestPriorsAndParts(t *testing.T) {
	const rows = 40000
	h := header(t)
	left, right := constant(t, h, -20), constant(t, h, 20)
	left.Share, right.Share = 1, 3
	right.Prior = Prior{{Share: 0, Mean: []float64{99, 99}, Factor: [][]float64{{1}, {0, 1}}},
		{Share: 2, Mean: []float64{1, 2}, Factor: [][]float64{{2}, {-1, 0.5}}}}
	packed, err := Release(h, "toy", left, right)
	must(t, err)
	m, err := Readers()[0].(artifact.Decoder).Decode(files(t, packed))
	must(t, err)
	draw, err := m.(*model).drawing(random)
	must(t, err)
	var n, sum, square [2]float64
	out := draw(rows)
	for r := range rows {
		side, x := 0, float64(out[4*r])+20
		if out[4*r] > 0 {
			side, x = 1, float64(out[4*r])-20
		}
		n[side], sum[side], square[side] = n[side]+1, sum[side]+x, square[side]+x*x
	}
	// z1+z2: mean 0, variance 2; and mean 3, variance (2-1)²+0.5² = 1.25.
	for side, want := range [][3]float64{{0.25, 0, 2}, {0.75, 3, 1.25}} {
		share, mean := n[side]/rows, sum[side]/n[side]
		variance := square[side]/n[side] - mean*mean
		if math.Abs(share-want[0]) > 5*math.Sqrt(0.25*0.75/rows) || math.Abs(mean-want[1]) > 5*math.Sqrt(want[2]/n[side]) ||
			math.Abs(variance-want[2]) > 5*want[2]*math.Sqrt(2/n[side]) {
			t.Errorf("part %d: share %.3f, mean %.3f, variance %.3f, must be near %v", side, share, mean, variance, want)
		}
	}
}

// TestHostileShapes: what a stranger may describe beside weights that are there.
func TestHostileShapes(t *testing.T) {
	h := header(t)
	deep := net.Dense(2)
	for range 40 {
		deep = net.Residual("concat", deep)
	}
	wide := []net.Layer{net.Dense(4)}
	for range 70 {
		wide = append(wide, net.Residual("concat", net.Activation("relu")))
	}
	head := Outputs(h.Domain)
	huge := net.Blocks(slices.Concat(head.Blocks, slices.Repeat([]net.Block{{Activation: "tanh", Width: 1 << 62}}, 4))...)
	for what, layers := range map[string][]net.Layer{
		"as it was":        {net.Dense(4), head},
		"deep":             {deep, net.Dense(4), head},
		"wide":             append(wide, head),
		"conv":             {net.Dense(4), {Type: "conv1d", Channels: 1, Filters: 1, Kernel: 1, Stride: 1}, head},
		"of many units":    {net.Dense(1 << 62), net.Dense(4), head},
		"of overflow":      {net.Dense(4), huge},
		"without its head": {net.Dense(4), net.Activation("relu")},
		"narrow":           {net.Dense(4), net.Residual("add", net.Dense(3)), head},
	} {
		p := constant(t, h, 0)
		packed, err := Release(h, "toy", Part{Share: 1, Net: p.Net, Weights: p.Weights})
		must(t, err)
		parts := files(t, packed)
		var m model
		must(t, json.Unmarshal(parts[describedBy], &m))
		m.Parts[0].Net.Layers = layers
		parts[describedBy], err = json.Marshal(m)
		must(t, err)
		if _, err := Readers()[0].(artifact.Decoder).Decode(parts); (err == nil) != (what == "as it was") {
			t.Errorf("a net %s: %v", what, err)
		}
	}
}

// TestShapesAreJudgedFirst: without a net made for them, which would allocate. Widths that double
// without weights, and weights that do not match the inputs.
func TestShapesAreJudgedFirst(t *testing.T) {
	h := header(t)
	p := constant(t, h, 0)
	doubling := []net.Layer{net.Dense(4)}
	for range 40 {
		doubling = append(doubling, net.Residual("concat", net.Activation("relu")))
	}
	for want, spec := range map[string]net.Spec{
		"more than 2097152 units":          {Inputs: 2, Layers: append(doubling, Outputs(h.Domain))},
		"has 8 weights, must have 4":       {Inputs: 3, Layers: p.Net.Spec().Layers},
		"net.layers[0].units: is 5, must":  {Inputs: 2, Layers: []net.Layer{net.Dense(5), Outputs(h.Domain)}},
		"layers[0]: has 0 numbers in gain": {Inputs: 2, Layers: []net.Layer{net.Activation("layer_norm"), Outputs(h.Domain)}},
	} {
		d := described{Net: spec, weights: p.Net.Export(p.Weights)}
		if err := d.check(h.Domain); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, must say %q", err, want)
		}
	}
}

// TestHostileConvolutions: sizes that a stranger names beside weights that are there, among them the ones
// of which a product overflows, and kernels that would take terabytes between a few inputs and
// outputs, are refused by a word on the layer before anything is made for them.
func TestHostileConvolutions(t *testing.T) {
	conv := func(change func(l *net.Layer)) []net.Layer {
		l := net.Layer{Type: "conv1d_transpose", Channels: 1, Filters: 2, Kernel: 2, Stride: 1}
		change(&l)
		return []net.Layer{l}
	}
	weights := func(n, bias int) map[string]int {
		return map[string]int{"0.conv1d_transpose.weight": n, "0.conv1d_transpose.bias": bias}
	}
	build := func(sizes map[string]int) shape { return shape{size: func(tensor string) int { return sizes[tensor] }} }
	four := weights(4, 2)
	good := build(four)
	if out, err := good.chain("net.layers", "", 3, conv(func(*net.Layer) {}), 0); out != 8 || err != nil {
		t.Errorf("3 positions give %d numbers (%v), must give 4 positions of 2", out, err)
	}
	for name, c := range map[string]struct {
		in      int
		weights map[string]int
		layers  []net.Layer
		want    string
	}{
		"no stride":        {3, four, conv(func(l *net.Layer) { l.Stride = 0 }), "stride: is 0"},
		"a vast stride":    {3, four, conv(func(l *net.Layer) { l.Stride = 1 << 62 }), "stride: is 4611686018427387904"},
		"negative padding": {3, four, conv(func(l *net.Layer) { l.Padding = -1 }), "padding: is -1"},
		"all padding":      {3, four, conv(func(l *net.Layer) { l.Padding = 9 }), "puts out -14 positions"},
		"many positions":   {3, four, conv(func(l *net.Layer) { l.Stride = mostUnits }), "positions, must put out"},
		"channels":         {3, four, conv(func(l *net.Layer) { l.Channels = 2 }), "channels: is 2"},
		"no channels":      {3, four, conv(func(l *net.Layer) { l.Channels = 0 }), "channels: is 0"},
		"filters":          {3, four, conv(func(l *net.Layer) { l.Filters = 4 }), "filters: is 4"},
		"kernel":           {3, four, conv(func(l *net.Layer) { l.Kernel = 3 }), "has 4 weights"},
		"a product of 2^63": {mostUnits, weights(4, mostUnits), conv(func(l *net.Layer) {
			l.Channels, l.Filters, l.Kernel = mostUnits, mostUnits, mostUnits
		}), "has 4 weights"},
		"terabytes between": {1 << 20, weights(1<<19, 1), conv(func(l *net.Layer) { l.Filters, l.Kernel = 1, 1<<19 }),
			"more than 2097152 units"},
		"wide": {1 << 19, weights(4, 2), conv(func(l *net.Layer) { l.Stride = 4 }),
			"more than 2097152 units"},
		"norm of no channels":   {3, nil, []net.Layer{{Type: "instance_norm"}}, "channels: is 0"},
		"norm of others":        {3, nil, []net.Layer{{Type: "batch_norm", Channels: 2}}, "channels: is 2"},
		"norm without its gain": {4, nil, []net.Layer{{Type: "instance_norm", Channels: 2}}, "has 0 numbers in gain"},
		"a convolution back": {4, nil, []net.Layer{{Type: "conv1d", Channels: 1, Filters: 1, Kernel: 1, Stride: 1}},
			"type: is \"conv1d\""},
	} {
		s := build(c.weights)
		if _, err := s.chain("net.layers", "", c.in, c.layers, 0); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, must say %q", name, err, c.want)
		}
	}
}

// TestOfLabel: with the weights of one generator rows say their label, or nothing, and are the
// same else.
func TestOfLabel(t *testing.T) {
	h := header(t)
	n, err := Generator(Leaky(0.2, []int{5}), 2, h.Domain)
	must(t, err)
	weights := n.Init(rand.New(rand.NewPCG(1, 2)))
	rows := train.Generate(n, weights, 20, train.StandardNormal, random("latent"))
	blank, err := WithoutLabel(n, h.Domain, 1)
	must(t, err)
	for label, labels := range [][]float32{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 0, 0}} {
		subject := blank
		if label < 3 {
			subject, err = OfLabel(n, h.Domain, 1, label)
			must(t, err)
		}
		for i, row := 0, train.Generate(subject, weights, 20, train.StandardNormal, random("latent")); i < 20; i++ {
			if got := row[4*i:][:4]; got[0] != rows[4*i] || !slices.Equal(got[1:], labels) {
				t.Errorf("label %d: row %v, must begin with %g and say %v", label, got, rows[4*i], labels)
			}
		}
	}
	if _, err := OfLabel(n, h.Domain, 1, 3); err == nil {
		t.Error("a label beyond the last is taken")
	}
}

// TestHostilePriors: a law that cannot be drawn from is refused when it is read.
func TestHostilePriors(t *testing.T) {
	good := func() Prior { return Prior{{Share: 1, Mean: []float64{0, 0}, Factor: [][]float64{{1}, {0, 1}}}} }
	must(t, good().check(2))
	for what, change := range map[string]func(p Prior){
		"no share":       func(p Prior) { p[0].Share = 0 },
		"negative share": func(p Prior) { p[0].Share = -1 },
		"few means":      func(p Prior) { p[0].Mean = p[0].Mean[:1] },
		"few rows":       func(p Prior) { p[0].Factor = p[0].Factor[:1] },
		"a short row":    func(p Prior) { p[0].Factor[1] = nil },
		"a long row":     func(p Prior) { p[0].Factor[0] = []float64{1, 1} },
	} {
		p := good()
		change(p)
		if err := p.check(2); err == nil || !strings.Contains(err.Error(), "must") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

var _ artifact.Model = (*model)(nil)
