package net

import "math"

// batchMomentum is the weight of the newest batch in the running statistics, the
// default of PyTorch.
const batchMomentum = 0.1

// batchNorm brings each column of a batch to mean 0 and variance 1 (Ioffe,
// Szegedy 2015); with channels, each channel over rows and positions, as after a
// convolution (their section 3.2). It mixes examples, so Net.PerExample refuses it. The running
// statistics that it uses outside training are kept as two tensors whose
// gradient is always zero; forward in training updates them in the weights.
type batchNorm struct{ cols, channels int } // as many channels as columns: each is one of its own

func newBatchNorm(at string, in, channels int) (layer, error) {
	if channels == 0 {
		channels = in
	}
	return &batchNorm{in, channels}, checkChannels(at, in, channels)
}

func (l *batchNorm) name() string { return "batch_norm" }
func (l *batchNorm) width() int   { return l.cols }
func (l *batchNorm) unclippable() string {
	return "mixes the examples of a batch (use layer_norm)"
}

func (l *batchNorm) tensors() []Tensor {
	c := l.channels
	return []Tensor{
		{Name: "gain", Shape: []int{c}, start: 1},
		{Name: "offset", Shape: []int{c}, Offset: c},
		{Name: "running_mean", Shape: []int{c}, Offset: 2 * c},
		{Name: "running_variance", Shape: []int{c}, Offset: 3 * c, start: 1},
	}
}

func (l *batchNorm) op(rows int) op {
	return &batchNormOp{batchNorm: l, unit: NewMatrix(rows, l.cols), y: NewMatrix(rows, l.cols),
		dx: NewMatrix(rows, l.cols), inverse: make([]float64, l.channels), sum: make([]float64, l.channels), dot: make([]float64, l.channels)}
}

type batchNormOp struct {
	*batchNorm
	unit, y, dx Matrix
	groups      int
	inverse     []float64 // 1/standard deviation of each group's channels
	sum, dot    []float64 // of each channel: its mean and variance, or what its gradient needs
	train       bool
	delta       Matrix
	pushed      pushing
}

func (o *batchNormOp) forward(w []float32, x Matrix, m Mode) Matrix {
	o.train, o.groups, o.pushed.from = m.Train, max(m.Groups, 1), x.Rows
	if need := o.groups * o.channels; len(o.inverse) < need {
		o.inverse = make([]float64, need)
	}
	for g := range o.groups {
		o.forwardGroup(w, x, g, m)
	}
	y := o.y.Slice(0, x.Rows)
	y.setExtra(1)
	return y
}

// group are the rows of a group, of so many in all.
func (o *batchNormOp) group(g, rows int) (lo, hi int) {
	return g * rows / o.groups, (g + 1) * rows / o.groups
}

func (o *batchNormOp) forwardGroup(w []float32, x Matrix, g int, m Mode) {
	lo, hi := o.group(g, x.Rows)
	mean, variance, inverse := o.sum, o.dot, o.inverse[g*o.channels:][:o.channels]
	if m.Train {
		moments(mean, variance, x.Slice(lo, hi))
	}
	for j := range o.channels {
		switch {
		case !m.Train:
			mean[j], variance[j] = float64(w[2*o.channels+j]), float64(w[3*o.channels+j])
		case !m.Frozen:
			o.remember(w, j, mean[j], variance[j], (hi-lo)*(o.cols/o.channels))
		}
		inverse[j] = 1 / math.Sqrt(variance[j]+normEpsilon)
	}
	for i := lo; i < hi; i++ {
		for at := 0; at < o.cols; at += o.channels {
			o.normalise(o.y.Row(i)[at:], o.unit.Row(i)[at:], x.Row(i)[at:][:o.channels], inverse, w)
		}
	}
}

// normalise sets one position of the unit values and of the output.
func (o *batchNormOp) normalise(y, unit, x []float32, inverse []float64, w []float32) {
	mean, inverse := o.sum[:len(x)], inverse[:len(x)]
	y, unit, gain, offset := y[:len(x)], unit[:len(x)], w[:len(x)], w[o.channels:][:len(x)]
	for j, v := range x {
		u := float32((float64(v) - mean[j]) * inverse[j])
		unit[j] = u
		y[j] = float32(u*gain[j]) + offset[j]
	}
}

// remember moves the running statistics towards those of a batch of n values a channel; the
// running variance is the unbiased one.
func (o *batchNormOp) remember(w []float32, j int, mean, variance float64, n int) {
	if n < 2 {
		return
	}
	variance = float64(variance * (float64(n) / float64(n-1)))
	w[2*o.channels+j] += float32(batchMomentum * (mean - float64(w[2*o.channels+j])))
	w[3*o.channels+j] += float32(batchMomentum * (variance - float64(w[3*o.channels+j])))
}

// moments sets the mean and the biased variance of each channel, row by row: columns
// lie far apart in memory.
func moments(mean, variance []float64, x Matrix) {
	n := float64(x.Rows * (x.Cols / len(mean)))
	clear(mean)
	clear(variance)
	for i := range x.Rows {
		for row := x.Row(i); len(row) > 0; row = row[len(mean):] {
			for j, v := range row[:len(mean)] {
				mean[j] += float64(v)
			}
		}
	}
	for j := range mean {
		mean[j] /= n
	}
	for i := range x.Rows {
		for row, mean := x.Row(i), mean[:len(variance)]; len(row) > 0; row = row[len(mean):] {
			for j, v := range row[:len(variance)] {
				d := float64(v) - mean[j]
				variance[j] += float64(d * d)
			}
		}
	}
	for j := range variance {
		variance[j] /= n
	}
}

func (o *batchNormOp) backward(w []float32, dy Matrix, from int) Matrix {
	o.delta = dy
	dx := o.dx.Slice(0, dy.Rows)
	if from >= dy.Rows {
		return dx
	}
	for g := range o.groups {
		lo, hi := o.group(g, dy.Rows)
		o.backwardGroup(w, dy.Slice(lo, hi), dx.Slice(lo, hi), o.unit.Slice(lo, hi), o.inverse[g*o.channels:][:o.channels])
	}
	return dx
}

func (o *batchNormOp) backwardGroup(w []float32, dy, dx, units Matrix, inverse []float64) {
	clear(o.sum)
	clear(o.dot)
	for i := range dy.Rows {
		for at := 0; o.train && at < o.cols; at += o.channels {
			o.addUp(dy.Row(i)[at:][:o.channels], units.Row(i)[at:])
		}
	}
	n := float64(dy.Rows * (o.cols / o.channels))
	for i := range dy.Rows {
		for at := 0; at < o.cols; at += o.channels {
			unit, to := units.Row(i)[at:], dx.Row(i)[at:]
			for j, g := range dy.Row(i)[at:][:o.channels] {
				scale := float64(w[j]) * inverse[j]
				to[j] = float32(scale * (float64(g) - o.sum[j]/n - float64(unit[j])*o.dot[j]/n))
			}
		}
	}
}

// addUp adds one position of a row to what the gradients of its channels need.
func (o *batchNormOp) addUp(dy, unit []float32) {
	sum, dot, unit := o.sum[:len(dy)], o.dot[:len(dy)], unit[:len(dy)]
	for j, v := range dy {
		g := float64(v)
		sum[j] += g
		dot[j] += float64(g * float64(unit[j]))
	}
}

// squares makes every norm infinite: no example of the batch has a gradient of
// its own, and a clip drops what is not finite. PerExample refuses such nets first.
func (o *batchNormOp) squares(dst, _ []float64, _ *scratch) {
	for i := range dst {
		dst[i] = math.Inf(1)
	}
}

func (o *batchNormOp) accumulate(grad, scale []float32) {
	from := o.pushed.from
	addChannels(grad, scale, o.delta.Slice(0, from), o.unit.Slice(0, from), o.channels)
	for i := from; i < o.delta.Rows; i++ { // an offset is in no tangent
		unit, s := o.unit.Row(i), float32(1)
		if scale != nil {
			s = scale[i]
		}
		for j, d := range o.delta.Row(i) {
			if s != 0 {
				grad[j] += float32(s * d * unit[j])
			}
		}
	}
}
