package latent

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"weir/schema"
	"weir/train/net"
)

// ends returns how many numbers a stack puts out, and whether a dense layer follows the list.
func ends(t *testing.T, s *stack, list []Convolution, f form) (out int, dense bool) {
	t.Helper()
	inputs := s.width()
	var ps schema.Problems
	layers := s.build(list, f, &ps)
	must(t, ps.Err())
	n, err := net.New(net.Spec{Inputs: inputs, Layers: layers})
	must(t, err)
	learn := 0
	for _, l := range layers {
		if l.Type == "dense" || strings.HasPrefix(l.Type, "conv") {
			learn++
		}
	}
	return n.Out(), learn > len(list)
}

// TestPublishedStacksFit: the stacks of the thesis (docs/papers.md section 4, RDP-CGAN) fit the widths of
// its three tables, 13, 34 and 179, and end in what they must without a dense layer; so do the ones
// that go back from a code, of 32 numbers or UCI's 64.
func TestPublishedStacksFit(t *testing.T) {
	dst := []Convolution{{Filters: 4, Kernel: 4}, {Filters: 4, Kernel: 4, Stride: 2, Padding: 1},
		{Filters: 4, Kernel: 4, Stride: 2, Padding: 1}, {Filters: 1, Kernel: 4, Stride: 2, Padding: 1}}
	for name, c := range map[string]struct {
		width, code                         int
		encoder, decoder, generator, critic []Convolution
	}{
		"cardio": {13, 32, []Convolution{{Filters: 4, Kernel: 5, Stride: 2}, {Filters: 32, Kernel: 5, Stride: 2}},
			[]Convolution{{Filters: 8, Kernel: 5, Stride: 4}, {Filters: 4, Kernel: 4}, {Filters: 1, Kernel: 6}}, dst,
			[]Convolution{{Filters: 16, Kernel: 8, Stride: 5, Padding: 1}, {Filters: 1, Kernel: 2}}},
		"cervical": {34, 32, []Convolution{{Filters: 4, Kernel: 5, Stride: 2}, {Filters: 8, Kernel: 5, Stride: 2},
			{Filters: 32, Kernel: 5, Stride: 3}},
			[]Convolution{{Filters: 8, Kernel: 5, Stride: 4}, {Filters: 4, Kernel: 4, Stride: 3},
				{Filters: 1, Kernel: 4, Stride: 2}}, dst,
			[]Convolution{{Filters: 16, Kernel: 8, Stride: 5, Padding: 1}, {Filters: 1, Kernel: 6, Stride: 2}}},
		"UCI": {179, 64, []Convolution{{Filters: 4, Kernel: 5, Stride: 2}, {Filters: 8, Kernel: 5, Stride: 2},
			{Filters: 16, Kernel: 5, Stride: 3}, {Filters: 32, Kernel: 5, Stride: 3}, {Filters: 64, Kernel: 3}},
			[]Convolution{{Filters: 32, Kernel: 5}, {Filters: 16, Kernel: 5, Stride: 4}, {Filters: 8, Kernel: 7, Stride: 4},
				{Filters: 1, Kernel: 7, Stride: 2}},
			[]Convolution{{Filters: 64, Kernel: 4}, {Filters: 32, Kernel: 4, Stride: 2, Padding: 1},
				{Filters: 16, Kernel: 4, Stride: 2, Padding: 1}, {Filters: 8, Kernel: 4, Stride: 2, Padding: 1},
				{Filters: 1, Kernel: 4, Stride: 2, Padding: 1}},
			[]Convolution{{Filters: 16, Kernel: 8, Stride: 4, Padding: 1}, {Filters: 32, Kernel: 8, Stride: 4, Padding: 1},
				{Filters: 64, Kernel: 8, Stride: 4, Padding: 1}, {Filters: 1, Kernel: 2}}},
	} {
		row, code := func() *stack { return &stack{positions: c.width, channels: 1} },
			func() *stack { return &stack{positions: 1, channels: c.code} }
		for what, s := range map[string]struct {
			from *stack
			list []Convolution
			form form
		}{
			"encoder": {row(), c.encoder, form{norm: "instance_norm", outputs: c.code}}, "critic": {row(), c.critic,
				form{norm: "instance_norm", outputs: 1}},
			"decoder": {code(), c.decoder, form{transpose: true, norm: "instance_norm", outputs: c.width}},
			"generator": {&stack{positions: 1, channels: 128}, c.generator, form{transpose: true, norm: "batch_norm",
				outputs: c.code}},
		} {
			if out, dense := ends(t, s.from, s.list, s.form); out != s.form.outputs || dense {
				t.Errorf("%s of %s puts out %d numbers, with a dense layer: %t; must put out %d without", what, name, out, dense,
					s.form.outputs)
			}
		}
	}
}

// TestDerivedStacksFitEveryWidth: what follows from a width fits it, and from wide tables the decoder needs no
// dense layer.
func TestDerivedStacksFitEveryWidth(t *testing.T) {
	for width := 1; width <= 400; width++ {
		row := func() *stack { return &stack{positions: width, channels: 1} }
		if out, dense := ends(t, row(), narrowing(width, 16), form{norm: "instance_norm", outputs: 16}); out != 16 || dense {
			t.Errorf("the encoder of %d columns: %d numbers, dense %t", width, out, dense)
		}
		if out, dense := ends(t, &stack{positions: 1, channels: 16}, widening(width),
			form{transpose: true, norm: "instance_norm", outputs: width}); out != width || dense != (width <= narrow) {
			t.Errorf("the decoder of %d columns: %d numbers, dense %t", width, out, dense)
		}
		if out, _ := ends(t, row(), judging(width), form{norm: "instance_norm", outputs: 1}); out != 1 {
			t.Errorf("the critic of %d columns: %d numbers", width, out)
		}
		if out, dense := ends(t, &stack{positions: 1, channels: 3}, doubling(width), form{transpose: true, norm: "batch_norm",
			outputs: width}); out != width || dense != (width < 4 || width&(width-1) != 0) {
			t.Errorf("a generator of %d codes: %d numbers, dense %t", width, out, dense)
		}
	}
}

// TestWholeConvolutionIsDense: a convolution over all positions and a dense layer are one function of the same
// weights, so that each may stand for the other.
func TestWholeConvolutionIsDense(t *testing.T) {
	conv, err := net.New(net.Spec{Inputs: 12, Layers: []net.Layer{{Type: "conv1d", Channels: 3, Filters: 5, Kernel: 4,
		Stride: 2}}})
	must(t, err)
	dense, err := net.New(net.Spec{Inputs: 12, Layers: []net.Layer{net.Dense(5)}})
	must(t, err)
	w := conv.Init(rand.New(rand.NewPCG(1, 2)))
	a, b := conv.NewPass(4), dense.NewPass(4)
	for i := range 4 {
		for j := range 12 {
			v := float32(i*7%5) - float32(j*j%11)
			a.Input(4).Row(i)[j], b.Input(4).Row(i)[j] = v, v
		}
	}
	x, y := a.Forward(w, net.Mode{}), b.Forward(w, net.Mode{})
	for i := range 4 {
		for j, v := range x.Row(i) {
			if math.Abs(float64(v-y.Row(i)[j])) > 1e-5 {
				t.Errorf("row %d: %g by the convolution, %g by the dense layer", i, v, y.Row(i)[j])
			}
		}
	}
}

// TestNormsOfAStack: none after the first convolution of an encoder, nor after the last of any stack, nor over one
// position.
func TestNormsOfAStack(t *testing.T) {
	var ps schema.Problems
	list := []Convolution{{Filters: 2, Kernel: 3}, {Filters: 2, Kernel: 2}, {Filters: 2, Kernel: 4},
		{Filters: 3, Kernel: 1}}
	// of the encoder the third has one position, as the fourth
	for transpose, want := range map[bool]int{false: 1, true: 3} {
		norms := 0
		from := &stack{positions: 7, channels: 1}
		for _, l := range from.build(list, form{transpose: transpose, norm: "instance_norm", outputs: 3}, &ps) {
			if l.Type == "instance_norm" {
				norms++
			}
		}
		if norms != want {
			t.Errorf("transposed %t: %d norms, must be %d", transpose, norms, want)
		}
	}
	must(t, ps.Err())
}
