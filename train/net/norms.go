package net

import (
	"fmt"
	"math"
)

// normEpsilon keeps the variance of a constant row away from zero; 1e-5 is the
// value of the papers (Ioffe, Szegedy 2015; Ba, Kiros, Hinton 2016).
const normEpsilon = 1e-5

// layerNorm brings each row to mean 0 and variance 1, then applies a gain and an
// offset for each column (Ba, Kiros, Hinton 2016). Rows do not mix.
type layerNorm struct{ cols int }

func (l *layerNorm) name() string { return "layer_norm" }
func (l *layerNorm) width() int   { return l.cols }

func (l *layerNorm) tensors() []Tensor {
	return []Tensor{
		{Name: "gain", Shape: []int{l.cols}, start: 1},
		{Name: "offset", Shape: []int{l.cols}, Offset: l.cols},
	}
}

func (l *layerNorm) op(rows int) op {
	return &layerNormOp{layerNorm: l, unit: NewMatrix(rows, l.cols), y: NewMatrix(rows, l.cols),
		dx: NewMatrix(rows, l.cols), inverse: make([]float64, rows)}
}

type layerNormOp struct {
	*layerNorm
	unit, y, dx Matrix    // unit is the normalised input
	inverse     []float64 // 1/standard deviation of each row
	delta       Matrix
}

func (o *layerNormOp) forward(w []float32, x Matrix, _ Mode) Matrix {
	y := o.y.Slice(0, x.Rows)
	gain, offset := w[:o.cols], w[o.cols:2*o.cols]
	for i := range x.Rows {
		u := o.unit.Row(i)
		o.inverse[i] = normalise(u, x.Row(i))
		for j, v := range u {
			y.Row(i)[j] = float32(v*gain[j]) + offset[j]
		}
	}
	y.setExtra(1)
	return y
}

// normalise sets u to (x-mean)/deviation and returns 1/deviation.
func normalise(u, x []float32) float64 {
	var mean, square float64
	for _, v := range x {
		mean += float64(v)
	}
	mean /= float64(len(x))
	for _, v := range x {
		d := float64(v) - mean
		square += float64(d * d)
	}
	inverse := 1 / math.Sqrt(square/float64(len(x))+normEpsilon)
	for j, v := range x {
		u[j] = float32((float64(v) - mean) * inverse)
	}
	return inverse
}

func (o *layerNormOp) backward(w []float32, dy Matrix, start int) Matrix {
	o.delta = dy
	dx := o.dx.Slice(0, dy.Rows)
	if start >= dy.Rows {
		return dx
	}
	for i := range dy.Rows {
		denormalise(dx.Row(i), o.unit.Row(i), dy.Row(i), w[:o.cols], o.inverse[i])
	}
	return dx
}

// denormalise sets dx to the gradient at the input of normalise.
func denormalise(dx, u, dy, gain []float32, inverse float64) {
	var sum, dot float64
	for j := range dx {
		g := float64(float64(dy[j]) * float64(gain[j]))
		sum += g
		dot += float64(g * float64(u[j]))
	}
	n := float64(len(dx))
	for j := range dx {
		g := float64(float64(dy[j]) * float64(gain[j]))
		dx[j] = float32(inverse * (g - sum/n - float64(u[j])*dot/n))
	}
}

// squares adds up the gradients of gain and offset themselves: they are as small
// as a row of activations.
func (o *layerNormOp) squares(dst, bound []float64, _ *scratch) {
	parts := o.delta.Rows / max(len(dst), 1)
	for i := range dst {
		var total, upper float64
		for j := range o.cols {
			var gain, offset, absolute float64
			for p := range parts {
				d := float64(o.delta.Row(p*len(dst) + i)[j])
				g := float64(d * float64(o.unit.Row(p*len(dst) + i)[j]))
				gain, offset = gain+g, offset+d
				absolute += math.Abs(g) + math.Abs(d)
			}
			total += float64(gain*gain) + float64(offset*offset)
			upper += float64(absolute * absolute)
		}
		dst[i] += total
		bound[i] += upper
	}
}

func (o *layerNormOp) accumulate(grad, scale []float32) {
	gain, offset := grad[:o.cols], grad[o.cols:2*o.cols]
	for i := range o.delta.Rows {
		c := float32(1)
		if scale != nil {
			c = scale[i]
		}
		if c == 0 {
			continue
		}
		u := o.unit.Row(i)
		for j, d := range o.delta.Row(i) {
			gain[j] += float32(c * d * u[j])
			offset[j] += float32(c * d)
		}
	}
}

// instanceNorm brings each channel of each row to mean 0 and variance 1 over the row's
// positions, then applies a gain and an offset for each channel (Ulyanov, Vedaldi,
// Lempitsky 2016). It is what batch_norm of channels is with one row a batch: rows do not
// mix, so that a net that holds it can be clipped row by row. Of one position nothing
// would be left but the offset.
type instanceNorm struct{ cols, channels int }

func newInstanceNorm(path string, in, channels int) (layer, error) {
	if err := checkChannels(path, in, channels); err != nil {
		return nil, err
	}
	if in == channels {
		return nil, fmt.Errorf("%s.channels: is %d, must be fewer than the %d columns of the input: over one position each "+
			"channel is 0", path, channels, in)
	}
	return &instanceNorm{in, channels}, nil
}

func checkChannels(at string, in, channels int) error {
	if channels < 1 || in%channels != 0 {
		return fmt.Errorf("%s.channels: is %d, must be at least 1 and divide the %d columns of the input", at, channels, in)
	}
	return nil
}

func (l *instanceNorm) name() string { return "instance_norm" }
func (l *instanceNorm) width() int   { return l.cols }

// cancels: the gradient is a sum over positions.
func (l *instanceNorm) cancels() bool { return true }

func (l *instanceNorm) tensors() []Tensor {
	return []Tensor{
		{Name: "gain", Shape: []int{l.channels}, start: 1},
		{Name: "offset", Shape: []int{l.channels}, Offset: l.channels},
	}
}

func (l *instanceNorm) op(rows int) op {
	return &instanceNormOp{instanceNorm: l, unit: NewMatrix(rows, l.cols), y: NewMatrix(rows, l.cols),
		dx:      NewMatrix(rows, l.cols),
		inverse: make([]float64, rows*l.channels), sum: make([]float64, l.channels), dot: make([]float64, l.channels)}
}

type instanceNormOp struct {
	*instanceNorm
	unit, y, dx Matrix    // unit is the normalised input
	inverse     []float64 // 1/standard deviation of each row's channels
	sum, dot    []float64 // of each channel: its mean and variance, or what its gradient needs
	delta       Matrix
}

func (o *instanceNormOp) forward(w []float32, x Matrix, _ Mode) Matrix {
	y := o.y.Slice(0, x.Rows)
	for i := range x.Rows {
		o.normalise(y.Row(i), o.unit.Row(i), x.Row(i), w, o.inverse[i*o.channels:][:o.channels])
	}
	y.setExtra(1)
	return y
}

// normalise sets one row of the unit values and of the output.
func (o *instanceNormOp) normalise(y, unit, x, w []float32, inverse []float64) {
	channelMoments(o.sum, o.dot, x)
	for c, v := range o.dot {
		inverse[c] = 1 / math.Sqrt(v+normEpsilon)
	}
	gain, offset := w[:o.channels], w[o.channels:2*o.channels]
	for pos := 0; pos < len(x); pos += o.channels {
		for c, v := range x[pos:][:o.channels] {
			u := float32((float64(v) - o.sum[c]) * inverse[c])
			unit[pos+c] = u
			y[pos+c] = float32(u*gain[c]) + offset[c]
		}
	}
}

// channelMoments sets mean and biased variance of each channel of a row.
func channelMoments(mean, variance []float64, x []float32) {
	n := float64(len(x) / len(mean))
	clear(mean)
	clear(variance)
	for at := 0; at < len(x); at += len(mean) {
		for c, v := range x[at:][:len(mean)] {
			mean[c] += float64(v) / n
		}
	}
	for at := 0; at < len(x); at += len(mean) {
		for c, v := range x[at:][:len(mean)] {
			d := float64(v) - mean[c]
			variance[c] += float64(d*d) / n
		}
	}
}

func (o *instanceNormOp) backward(w []float32, dy Matrix, start int) Matrix {
	o.delta = dy
	dx := o.dx.Slice(0, dy.Rows)
	if start >= dy.Rows {
		return dx
	}
	for i := range dy.Rows {
		o.denormalise(dx.Row(i), o.unit.Row(i), dy.Row(i), w[:o.channels], o.inverse[i*o.channels:][:o.channels])
	}
	return dx
}

// denormalise sets dx to the gradient at the input of normalise.
func (o *instanceNormOp) denormalise(dx, unit, dy, gain []float32, inverse []float64) {
	clear(o.sum)
	clear(o.dot)
	for pos := 0; pos < len(dy); pos += o.channels {
		for c, d := range dy[pos:][:o.channels] {
			o.sum[c] += float64(d)
			o.dot[c] += float64(float64(d) * float64(unit[pos+c]))
		}
	}
	n := float64(len(dy) / o.channels)
	for pos := 0; pos < len(dy); pos += o.channels {
		for c, d := range dy[pos:][:o.channels] {
			scale := float64(gain[c]) * inverse[c]
			dx[pos+c] = float32(scale * (float64(d) - o.sum[c]/n - float64(unit[pos+c])*o.dot[c]/n))
		}
	}
}

// squares adds up the gradients of gain and offset themselves, over parts and positions.
func (o *instanceNormOp) squares(dst, bound []float64, _ *scratch) {
	parts := o.delta.Rows / max(len(dst), 1)
	for i := range dst {
		var total, upper float64
		for c := range o.channels {
			var gain, offset, absolute float64
			for p := range parts {
				d, u := o.delta.Row(p*len(dst)+i), o.unit.Row(p*len(dst)+i)
				for pos := c; pos < o.cols; pos += o.channels {
					g := float64(float64(d[pos]) * float64(u[pos]))
					gain, offset = gain+g, offset+float64(d[pos])
					absolute += math.Abs(g) + math.Abs(float64(d[pos]))
				}
			}
			total += float64(gain*gain) + float64(offset*offset)
			upper += float64(absolute * absolute)
		}
		dst[i] += total
		bound[i] += upper
	}
}

func (o *instanceNormOp) accumulate(grad, scale []float32) {
	addChannels(grad, scale, o.delta, o.unit, o.channels)
}

// addChannels adds the gradients of gains and offsets of the given number of channels, each a sum over
// positions and rows.
func addChannels(grad, scale []float32, delta, unit Matrix, channels int) {
	gain, offset := grad[:channels], grad[channels:2*channels]
	for i := range delta.Rows {
		s := float32(1)
		if scale != nil {
			s = scale[i]
		}
		if s == 0 {
			continue
		}
		d, u := delta.Row(i), unit.Row(i)
		for at := 0; at < len(d); at += channels {
			for c, v := range d[at:][:channels] {
				gain[c] += float32(s * v * u[at+c])
				offset[c] += float32(s * v)
			}
		}
	}
}
