package latent

import (
	"fmt"
	"slices"

	"weir/schema"
	"weir/train/net"
)

// Convolution is one layer of a stack.
type Convolution struct {
	_ struct{} `defs:"convolution" title:"Settings of a convolution" doc:"Settings of a layer of convolutions, in the kinds that have such layers."`

	Filters int `yaml:"filters" json:"filters" required:"true" min:"1" max:"65536" doc:"Channels that it puts out."`
	Kernel  int `yaml:"kernel" json:"kernel" required:"true" min:"1" max:"1048576" doc:"Positions that it sees, or of a transposed one writes."`
	Stride  int `yaml:"stride,omitempty" json:"stride,omitempty" min:"1" max:"1048576" doc:"Positions from one place to the next; 1 by default."`
	Padding int `yaml:"padding,omitempty" json:"padding,omitempty" min:"0" max:"1048576" doc:"Zeros at either end, or of a transposed one positions that are cut off there; 0 by default."`
}

// stack is a net under construction: rows of positions, each with all channels.
type stack struct {
	positions, channels int
	layers              []net.Layer
	units               float64 // of all layers, and what their kernels see
}

// mostWide bounds a layer, so that nothing that is computed from sizes overflows; what a
// training or a model may hold is far less.
const mostWide = 1 << 24

// form says what stands around the convolutions.
type form struct {
	setting   string // its path, for errors
	transpose bool
	// between a convolution and its activation, but for the first of a stack that is not transposed, and the last
	norm    string
	last    net.Layer // activation of what the stack puts out; without a type: none
	outputs int       // of what the stack puts out
}

// build puts the convolutions one after the other. Where they do not end in as many numbers
// as they must, a dense layer follows that does.
func (s *stack) build(list []Convolution, f form, ps *schema.Problems) []net.Layer {
	for i, c := range list {
		if !s.convolve(c, f.transpose, fmt.Sprintf("%s[%d]", f.setting, i), ps) {
			return nil
		}
		end := i == len(list)-1
		if end && s.width() == f.outputs {
			break
		}
		if !end && (i > 0 || f.transpose) {
			s.normalise(f.norm)
		}
		s.add(net.LeakyReLU(leak))
	}
	if s.width() != f.outputs {
		s.add(net.Dense(f.outputs))
		s.positions, s.channels = f.outputs, 1
	}
	if f.last.Type != "" {
		s.add(f.last)
	}
	return s.layers
}

func (s *stack) width() int { return s.positions * s.channels }

func (s *stack) add(l net.Layer) {
	s.layers = append(s.layers, l)
	s.units += float64(s.width())
}

// convolve adds one layer; false where it does not fit, which is a problem. One that sees all positions
// at once is a dense layer, whose gradients need not be written out to be clipped.
func (s *stack) convolve(c Convolution, transpose bool, path string, ps *schema.Problems) bool {
	if !transpose && c.Kernel == s.positions && c.Padding == 0 {
		s.positions, s.channels = 1, c.Filters
		s.add(net.Dense(c.Filters))
		return true
	}
	l := net.Layer{Type: "conv1d", Channels: s.channels, Filters: c.Filters, Kernel: c.Kernel, Stride: max(1, c.Stride),
		Padding: c.Padding}
	positions, seen := 0, c.Kernel*s.channels
	if transpose {
		l.Type = "conv1d_transpose"
		positions, seen = (s.positions-1)*l.Stride-2*c.Padding+c.Kernel, c.Kernel*c.Filters
	} else if ends := s.positions + 2*c.Padding; c.Kernel > ends {
		ps.Add(path+".kernel", fmt.Sprintf("%d, wider than the %d positions that are left", c.Kernel, ends),
			fmt.Sprintf("at most %d", ends))
		return false
	} else {
		positions = (ends-c.Kernel)/l.Stride + 1
	}
	if positions < 1 {
		ps.Add(path+".padding", fmt.Sprintf("%d, which cuts off every position", c.Padding), "smaller")
		return false
	}
	if positions > mostWide/c.Filters {
		ps.Add(path+".filters", fmt.Sprintf("%d, at %d positions", c.Filters, positions),
			fmt.Sprintf("fewer: at most %d numbers at all positions together", mostWide))
		return false
	}
	s.units += float64(float64(max(positions, s.positions)) * float64(seen))
	s.positions, s.channels = positions, c.Filters
	s.add(l)
	return true
}

// normalise adds a norm; one over the positions of a channel needs more than one of them.
func (s *stack) normalise(norm string) {
	switch norm {
	case "instance_norm":
		if s.positions > 1 {
			s.add(net.Layer{Type: norm, Channels: s.channels})
		}
	case "batch_norm":
		s.add(net.Layer{Type: norm, Channels: s.channels})
	case "layer_norm":
		s.add(net.Activation(norm))
	}
}

// The stacks that follow from the width of a table where none is given.

// narrowing returns the encoder's: half as many positions and twice as many filters until at most
// 8 positions are left, then one layer over all of them, of the given number of filters.
func narrowing(width, filters int) (list []Convolution) {
	for f := 4; width > 8; f = min(2*f, 32) {
		list = append(list, Convolution{Filters: f, Kernel: 5, Stride: 2})
		width = (width-5)/2 + 1
	}
	return append(list, Convolution{Filters: filters, Kernel: width})
}

// widening goes back the way of narrowing; each kernel is so wide that as many positions come out as
// went in there. A narrow table has one layer, of some filters, which a dense layer makes columns of.
func widening(width int) (list []Convolution) {
	if width <= narrow {
		return []Convolution{{Filters: 8, Kernel: min(width, 8)}}
	}
	f, before := 1, width
	for ; before > 8; f = min(max(4, 2*f), 32) {
		after := (before-5)/2 + 1
		list = append(list, Convolution{Filters: f, Kernel: before - 2*(after-1), Stride: 2})
		before = after
	}
	list = append(list, Convolution{Filters: f, Kernel: before})
	slices.Reverse(list)
	return list
}

// narrow tables have so many encoded columns at most.
const narrow = 63

// doubling returns the generator's: 4 positions, then twice as many until there is one for each
// number of a code.
func doubling(code int) []Convolution {
	list := []Convolution{{Filters: 16, Kernel: 4}}
	for positions := 4; positions < code; positions *= 2 {
		list = append(list, Convolution{Filters: 16, Kernel: 4, Stride: 2, Padding: 1})
	}
	list[len(list)-1].Filters = 1
	return list
}

// judging returns the critic's: of a wide table a quarter of the positions until at most 8 are left,
// then a layer over all of them. Of others one layer sees all columns, where any two may
// belong together.
func judging(width int) (list []Convolution) {
	if width <= wide {
		return []Convolution{{Filters: 64, Kernel: width}}
	}
	f := 16
	for ; width > 8; f = min(2*f, 64) {
		list = append(list, Convolution{Filters: f, Kernel: 8, Stride: 4, Padding: 1})
		width = (width+2-8)/4 + 1
	}
	return append(list, Convolution{Filters: f, Kernel: width})
}

// wide tables have more encoded columns.
const wide = 128
