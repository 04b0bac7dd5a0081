package generator

import (
	"fmt"

	"weir/train/net"
)

// transpose gives the units of a transposed convolution. Its weights are there, a number
// for each channel, place of the kernel and filter; what lies between input and output is
// a kernel for each position, which is counted as units too. No product overflows: positions, the
// kernel, filters and the stride are each at most mostUnits.
func (s *shape) transpose(at, name string, in int, l net.Layer) (out int, err error) {
	weight, bias := s.size(name+"weight"), s.size(name+"bias")
	for _, f := range []struct {
		name         string
		given, least int
	}{{"channels", l.Channels, 1}, {"filters", l.Filters, 1}, {"kernel", l.Kernel, 1}, {"stride", l.Stride, 1}, {"padding", l.Padding, 0}} {
		if f.given < f.least || f.given > mostUnits {
			return 0, fmt.Errorf("%s.%s: is %d, must be from %d to %d", at, f.name, f.given, f.least, mostUnits)
		}
	}
	switch {
	case in%l.Channels != 0:
		return 0, fmt.Errorf("%s.channels: is %d, must divide its %d inputs", at, l.Channels, in)
	case l.Filters != bias:
		return 0, fmt.Errorf("%s.filters: is %d, must be %d, the length of its bias", at, l.Filters, bias)
	case l.Kernel > weight || l.Kernel*l.Filters > weight || l.Channels*l.Kernel*l.Filters != weight:
		return 0, fmt.Errorf("%s: has %d weights, must have one for each channel, place of its kernel and filter", at, weight)
	}
	positions := in / l.Channels
	if s.units += positions * l.Kernel * l.Filters; s.units > mostUnits {
		return 0, s.tooMany(at)
	}
	wide := (positions-1)*l.Stride - 2*l.Padding + l.Kernel
	if wide < 1 || wide > mostUnits {
		return 0, fmt.Errorf("%s: puts out %d positions, must put out from 1 to %d", at, wide, mostUnits)
	}
	return wide * l.Filters, nil
}

// norm: tensors of a number for each channel, and channels that divide the inputs.
func (s *shape) norm(at, name string, in, channels int, tensors ...string) (out int, err error) {
	if channels < 1 || in%channels != 0 {
		return 0, fmt.Errorf("%s.channels: is %d, must be at least 1 and divide its %d inputs", at, channels, in)
	}
	return in, s.columns(at, name, channels, tensors...)
}
