package training

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/schema"
	"weir/train/net"
)

// Bounds on a net that comes from anyone. Its weights are there, in full; what is made
// for them beside is a few numbers for each unit and row of a chunk.
const (
	mostUnits = 1 << 21 // in all layers of a net: 3 GiB of activations
	mostDeep  = 4       // residuals within residuals
)

// check compares the net that a part describes with the weights that it holds, before
// anything is allocated for either: layers as wide as their weights say, and as
// many outputs as the domain needs.
func (p described) check(d *domain.Domain) error {
	layers := p.Net.Layers
	if n := len(layers); n < 2 || layers[n-1].Type != "blocks" {
		return fmt.Errorf("net.layers: are %d, must be at least 2, the last of type blocks", n)
	}
	s := shape{size: func(tensor string) int { return len(p.weights[tensor]) }}
	out, err := s.chain("net.layers", "", p.Net.Inputs, layers[:len(layers)-1], 0)
	if err == nil {
		err = checkOutputs(d, out)
	}
	if err == nil {
		err = p.Prior.check(p.Net.Inputs)
	}
	return err
}

// Drawable returns an error where a net for rows of d could not be read back: what a stranger's is
// judged by is told before anything is paid.
func Drawable(n *net.Net, d *domain.Domain) error {
	sizes := map[string]int{}
	for _, t := range n.Tensors() {
		sizes[t.Name] = t.Size()
	}
	layers := n.Spec().Layers
	s := shape{size: func(tensor string) int { return sizes[tensor] }}
	out, err := s.chain("layers", "", n.In(), layers[:len(layers)-1], 0)
	if err == nil {
		err = checkOutputs(d, out)
	}
	return err
}

// shape follows the widths of a net.
type shape struct {
	size  func(tensor string) int
	units int // so far
}

// chain gives the width after layers; path and name lead to them in the description
// and in the names of weights.
func (s *shape) chain(path, name string, in int, layers []net.Layer, deep int) (out int, err error) {
	for i, l := range layers {
		where := fmt.Sprintf("%s[%d]", path, i)
		if in, err = s.layer(where, fmt.Sprintf("%s%d.%s.", name, i, l.Type), in, l, deep); err != nil {
			return 0, err
		}
		if s.units += in; s.units > mostUnits {
			return 0, s.tooMany(where)
		}
	}
	return in, nil
}

func (s *shape) tooMany(at string) error {
	return fmt.Errorf("%s: is where the net has more than %d units, which must be enough", at, mostUnits)
}

func (s *shape) layer(path, name string, in int, l net.Layer, deep int) (out int, err error) {
	switch l.Type {
	case "dense":
		return s.dense(path, name, in, l.Units)
	case "layer_norm":
		return in, s.columns(path, name, in, "gain", "offset")
	case "batch_norm":
		return s.norm(path, name, in, cmp.Or(l.Channels, in), "gain", "offset", "running_mean", "running_variance")
	case "instance_norm":
		return s.norm(path, name, in, l.Channels, "gain", "offset")
	case "conv1d_transpose":
		return s.transpose(path, name, in, l)
	case "residual":
		return s.residual(path, name, in, l, deep)
	}
	if !slices.Contains(Activations(), l.Type) {
		return 0, fmt.Errorf("%s.type: is %.60q, must be dense, layer_norm, batch_norm, instance_norm, conv1d_transpose, "+
			"residual or one of %v", path, l.Type, Activations())
	}
	return in, nil
}

// dense gives the units of a dense layer. The weights are there, so sizes that
// equal theirs can be multiplied without overflow.
func (s *shape) dense(path, name string, in, units int) (out int, err error) {
	weight, bias := s.size(name+"weight"), s.size(name+"bias")
	switch {
	case units < 1 || units != bias:
		return 0, fmt.Errorf("%s.units: is %d, must be %d, the length of its bias, and at least 1", path, units, bias)
	case in < 1 || in > weight || in*units != weight:
		return 0, fmt.Errorf("%s: has %d weights, must have %d for each of its %d inputs", path, weight, units, in)
	}
	return units, nil
}

// columns: tensors of a number for each of in columns or channels.
func (s *shape) columns(path, name string, in int, tensors ...string) error {
	for _, t := range tensors {
		if n := s.size(name + t); n != in || n == 0 {
			return fmt.Errorf("%s: has %d numbers in %s, must have one for each of its %d inputs or channels", path, n, t, in)
		}
	}
	return nil
}

func (s *shape) residual(path, name string, in int, l net.Layer, deep int) (out int, err error) {
	if deep == mostDeep {
		return 0, errors.New(path + ": is a residual within too many others")
	}
	if out, err = s.chain(path+".layers", name, in, l.Layers, deep+1); err != nil {
		return 0, err
	}
	if l.Join == "concat" {
		return in + out, nil
	}
	return in, nil // net.New compares it with out
}

// checkOutputs checks that the net puts out one number for each that an encoded row has.
func checkOutputs(d *domain.Domain, out int) error {
	width := 0
	for i, c := range d.Columns {
		if c.Encoding == nil {
			return fmt.Errorf("domain.columns[%d].encoding: is missing, must be the encoding of an encoded column", i)
		}
		if c.Encoding.Width > out-width {
			return fmt.Errorf("domain.columns[%d].encoding.width: is %d, must be at most %d, what the net has left to put out",
				i, c.Encoding.Width, out-width)
		}
		width += c.Encoding.Width
	}
	if width != out {
		return fmt.Errorf("net: puts out %d numbers a row, must be %d", out, width)
	}
	return nil
}

// transpose gives the units of a transposed convolution. Its weights are there, a number
// for each channel, place of the kernel and filter; what lies between input and output is
// a kernel for each position, which is counted as units too. No product overflows: positions, the
// kernel, filters and the stride are each at most mostUnits.
func (s *shape) transpose(path, name string, in int, l net.Layer) (out int, err error) {
	weight, bias := s.size(name+"weight"), s.size(name+"bias")
	for _, f := range []struct {
		name         string
		given, least int
	}{{"channels", l.Channels, 1}, {"filters", l.Filters, 1}, {"kernel", l.Kernel, 1}, {"stride", l.Stride, 1},
		{"padding", l.Padding, 0}} {
		if f.given < f.least || f.given > mostUnits {
			return 0, fmt.Errorf("%s.%s: is %d, must be from %d to %d", path, f.name, f.given, f.least, mostUnits)
		}
	}
	switch {
	case in%l.Channels != 0:
		return 0, fmt.Errorf("%s.channels: is %d, must divide its %d inputs", path, l.Channels, in)
	case l.Filters != bias:
		return 0, fmt.Errorf("%s.filters: is %d, must be %d, the length of its bias", path, l.Filters, bias)
	case l.Kernel > weight || l.Kernel*l.Filters > weight || l.Channels*l.Kernel*l.Filters != weight:
		return 0, fmt.Errorf("%s: has %d weights, must have one for each channel, place of its kernel and filter", path,
			weight)
	}
	positions := in / l.Channels
	if s.units += positions * l.Kernel * l.Filters; s.units > mostUnits {
		return 0, s.tooMany(path)
	}
	wide := (positions-1)*l.Stride - 2*l.Padding + l.Kernel
	if wide < 1 || wide > mostUnits {
		return 0, fmt.Errorf("%s: puts out %d positions, must put out from 1 to %d", path, wide, mostUnits)
	}
	return wide * l.Filters, nil
}

// norm: tensors of a number for each channel, and channels that divide the inputs.
func (s *shape) norm(path, name string, in, channels int, tensors ...string) (out int, err error) {
	if channels < 1 || in%channels != 0 {
		return 0, fmt.Errorf("%s.channels: is %d, must be at least 1 and divide its %d inputs", path, channels, in)
	}
	return in, s.columns(path, name, channels, tensors...)
}

// Width returns the number of float32 columns of an encoded row.
func Width(d *domain.Domain) int {
	n := 0
	for _, c := range d.Columns {
		n += c.Encoding.Width
	}
	return n
}

// Outputs returns the activations of a generator's last layer: softmax over each
// one-hot group, or a sigmoid for each of its cells where they are separate, tanh or sigmoid for a
// number scaled to [-1,1] or [0,1], none for a standardised one.
func Outputs(d *domain.Domain) net.Layer {
	var blocks []net.Block
	for _, c := range d.Columns {
		blocks = append(blocks, net.Block{Activation: activation(c.Encoding), Width: c.Encoding.Width})
	}
	return net.Blocks(blocks...)
}

func activation(e *domain.Encoding) string {
	switch {
	case e.Separate():
		return "sigmoid"
	case e.Form == domain.OneHot:
		return "softmax"
	case e.Form == domain.MinMax && e.Range[0] < 0:
		return "tanh"
	case e.Form == domain.MinMax:
		return "sigmoid"
	}
	return "linear"
}

// NeedEncoded adds a problem of the columns that a model cannot take.
func NeedEncoded(h pipeline.Header, ps *schema.Problems) {
	var raw []string
	for _, c := range h.Domain.Columns {
		if c.Encoding == nil {
			raw = append(raw, fmt.Sprintf("%s (%s)", c.Name, c.Type))
		}
	}
	if len(raw) > 0 {
		ps.Add("from", "a table whose "+pipeline.ColumnsAre(raw)+" not encoded",
			"the output of a stage of kind encode; drop columns that no model needs")
		return
	}
	if len(h.Domain.History) == 0 || h.Domain.History[len(h.Domain.History)-1].Kind != "encode" {
		ps.Add("from", "a table that is not the direct result of encode", "the output of a stage of kind encode")
	}
}

// ModelHeader returns the header of what a stage releases: a model of the encoded
// domain of in.
func ModelHeader(in pipeline.Header) pipeline.Header {
	return pipeline.Header{Form: pipeline.FormModel, Domain: in.Domain,
		Class: pipeline.Released, Terms: in.Terms}
}
