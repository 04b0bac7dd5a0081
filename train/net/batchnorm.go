package net

import (
	"math"

	"weir/train/internal/kernel"
)

// batchMomentum is the weight of the newest batch in the running statistics, the
// default of PyTorch.
const batchMomentum = 0.1

// batchNorm brings each column of a batch to mean 0 and variance 1 (Ioffe,
// Szegedy 2015); with channels, each channel over rows and positions, as after a
// convolution (their section 3.2). It mixes examples, so Net.PerExample refuses it. The running
// statistics that it uses outside training are kept as two tensors whose
// gradient is always zero; forward in training updates them in the weights.
type batchNorm struct{ cols, channels int } // as many channels as columns: each is one of its own

func newBatchNorm(path string, in, channels int) (layer, error) {
	if channels == 0 {
		channels = in
	}
	return &batchNorm{in, channels}, checkChannels(path, in, channels)
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
		dx: NewMatrix(rows, l.cols), inverse: make([]float64, l.channels), sum: make([]float64, l.channels),
		dot: make([]float64, l.channels), scale: make([]float64, l.channels)}
}

type batchNormOp struct {
	*batchNorm
	unit, y, dx Matrix
	groups      int
	inverse     []float64 // 1/standard deviation of each group's channels
	sum, dot    []float64 // of each channel: its mean and variance, or the means that its gradient needs
	scale       []float64 // of each channel: gain over deviation
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

// group returns the first row of group g of the rows, and the row behind its last.
func (o *batchNormOp) group(g, rows int) (lo, hi int) {
	return g * rows / o.groups, (g + 1) * rows / o.groups
}

func (o *batchNormOp) forwardGroup(w []float32, x Matrix, g int, m Mode) {
	lo, hi := o.group(g, x.Rows)
	mean, variance, inverse := o.sum, o.dot, o.inverse[g*o.channels:][:o.channels]
	if m.Train {
		o.moments(mean, variance, x, lo, hi)
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
	step, rows, ld := o.runs(hi - lo)
	for i := lo; i < hi; i += step {
		at := i * x.LD
		kernel.Standardise(o.y.Data[at:], o.unit.Data[at:], x.Data[at:], rows, ld, mean, inverse, w[:o.channels],
			w[o.channels:2*o.channels])
	}
}

// runs says how n rows are gone through: step at a time, as so many positions of ld numbers. Without positions
// all rows are one run.
func (o *batchNormOp) runs(n int) (step, positions, ld int) {
	if o.channels == o.cols {
		return n, n, o.cols + 1
	}
	return 1, o.cols / o.channels, o.channels
}

// remember moves the running statistics towards the statistics of a batch of n values a channel; the
// running variance is the unbiased one.
func (o *batchNormOp) remember(w []float32, j int, mean, variance float64, n int) {
	if n < 2 {
		return
	}
	variance = float64(variance * (float64(n) / float64(n-1)))
	w[2*o.channels+j] += float32(batchMomentum * (mean - float64(w[2*o.channels+j])))
	w[3*o.channels+j] += float32(batchMomentum * (variance - float64(w[3*o.channels+j])))
}

// moments sets the mean and the biased variance of each channel over rows lo to hi-1 of x, row by row: columns
// lie far apart in memory.
func (o *batchNormOp) moments(mean, variance []float64, x Matrix, lo, hi int) {
	step, rows, ld := o.runs(hi - lo)
	n := float64((hi - lo) * (o.cols / o.channels))
	clear(mean)
	clear(variance)
	for i := lo; i < hi; i += step {
		kernel.ColumnSums(mean, x.Data[i*x.LD:], rows, ld)
	}
	divide(mean, n)
	for i := lo; i < hi; i += step {
		kernel.ColumnSquares(variance, mean, x.Data[i*x.LD:], rows, ld)
	}
	divide(variance, n)
}

func divide(sums []float64, n float64) {
	for j := range sums {
		sums[j] /= n
	}
}

func (o *batchNormOp) backward(w []float32, dy Matrix, start int) Matrix {
	o.delta = dy
	dx := o.dx.Slice(0, dy.Rows)
	if start >= dy.Rows {
		return dx
	}
	for g := range o.groups {
		lo, hi := o.group(g, dy.Rows)
		o.backwardGroup(w, dy.Slice(lo, hi), dx.Slice(lo, hi), o.unit.Slice(lo, hi), o.inverse[g*o.channels:][:o.channels])
	}
	return dx
}

// backwardGroup sets dx = (dy - <dy> - unit <dy unit>) gain/deviation, angle brackets being means over the rows,
// which are left in sum and dot; outside training they are constants, so zero.
func (o *batchNormOp) backwardGroup(w []float32, dy, dx, unit Matrix, inverse []float64) {
	clear(o.sum)
	clear(o.dot)
	step, rows, ld := o.runs(dy.Rows)
	for i := 0; o.train && i < dy.Rows; i += step {
		kernel.ColumnDots(o.sum, o.dot, dy.Data[i*dy.LD:], unit.Data[i*dy.LD:], rows, ld)
	}
	for j, v := range inverse {
		o.scale[j] = float64(w[j]) * v
	}
	n := dy.Rows * (o.cols / o.channels)
	if n&(n-1) != 0 {
		o.backwardOdd(dy, dx, unit, float64(n))
		return
	}
	divide(o.sum, float64(n))
	divide(o.dot, float64(n))
	for i := 0; i < dy.Rows; i += step {
		at := i * dy.LD
		kernel.Unstandardise(dx.Data[at:], dy.Data[at:], unit.Data[at:], rows, ld, o.sum, o.dot, o.scale)
	}
}

// backwardOdd ends backwardGroup for a number of rows that is not a power of two: unit times dot is divided then,
// since a divided dot would round otherwise.
func (o *batchNormOp) backwardOdd(dy, dx, unit Matrix, n float64) {
	divide(o.sum, n)
	for i := range dy.Rows {
		for at := 0; at < o.cols; at += o.channels {
			u, to := unit.Row(i)[at:], dx.Row(i)[at:]
			for j, g := range dy.Row(i)[at:][:o.channels] {
				to[j] = float32(o.scale[j] * (float64(g) - o.sum[j] - float64(u[j])*o.dot[j]/n))
			}
		}
	}
	divide(o.dot, n)
}

// squares makes every norm infinite: no example of the batch has a gradient of
// its own, and a clip drops what is not finite. PerExample refuses such nets first.
func (o *batchNormOp) squares(dst, _ []float64, _ *scratch) {
	for i := range dst {
		dst[i] = math.Inf(1)
	}
}

func (o *batchNormOp) accumulate(grad, scale []float32) {
	start := o.pushed.from
	if scale == nil {
		o.accumulateAll(grad, start)
		return
	}
	addChannels(grad, scale, o.delta.Slice(0, start), o.unit.Slice(0, start), o.channels)
	for i := start; i < o.delta.Rows; i++ { // an offset is in no tangent
		unit, s := o.unit.Row(i), scale[i]
		for j, d := range o.delta.Row(i) {
			if s != 0 {
				grad[j] += float32(s * d * unit[j])
			}
		}
	}
}

// accumulateAll adds rows of scale one, of which those from on are tangents, without an offset.
func (o *batchNormOp) accumulateAll(grad []float32, start int) {
	gain, offset, d := grad[:o.channels], grad[o.channels:2*o.channels], o.delta
	step, rows, ld := o.runs(d.Rows)
	for i := 0; i < d.Rows; i += step {
		kernel.ColumnMulAdd(gain, d.Data[i*d.LD:], o.unit.Data[i*d.LD:], rows, ld)
	}
	step, rows, ld = o.runs(start)
	for i := 0; i < start; i += step {
		kernel.ColumnAdd(offset, d.Data[i*d.LD:], rows, ld)
	}
}

// pushing is what a batch norm keeps of the tangents of a penalty.
type pushing struct {
	t, y    Matrix // tangents at input and output
	from    int    // of the batch: from this row on unit holds tangents
	mean    []float64
	along   []float64 // the mean of u t, column by column
	weighed []float64 // the mean of a t
}

// tangent takes tangents t of the last group of rows, from lo on. With u = (x - mean)/s the unit value of an
// input x, s its deviation, and angle brackets the mean over the rows of a group, the tangent of u along t is
// (t - <t> - u <ut>)/s. It is left in place of u, where the gradient by the gain expects it, and times the gain at the
// output.
func (o *batchNormOp) tangent(w []float32, t Matrix, lo int) Matrix {
	p := &o.pushed
	p.grow(t.Rows, o.cols)
	p.from, p.t, p.y = lo, p.t.Slice(0, t.Rows), p.y.Slice(0, t.Rows)
	p.t.CopyFrom(t)
	unit := o.unit.Data[lo*t.LD:]
	kernel.ColumnDots(p.mean, p.along, p.t.Data, unit, t.Rows, t.LD)
	divide(p.mean, float64(t.Rows))
	divide(p.along, float64(t.Rows))
	kernel.Unstandardise(unit, p.t.Data, unit, t.Rows, t.LD, p.mean, p.along, o.inverse[(o.groups-1)*o.cols:][:o.cols])
	for i := range t.Rows {
		kernel.Mul(p.y.Row(i), o.unit.Row(lo+i), w[:o.cols])
	}
	p.y.setExtra(0)
	return p.y
}

// grow makes room for so many rows, and zeros of the sums. The values at the output are not overwritten by
// tangents, since a layer above may work in place.
func (p *pushing) grow(rows, cols int) {
	if len(p.t.Data) < rows*(cols+1) {
		p.t, p.y = NewMatrix(rows, cols), NewMatrix(rows, cols)
		p.mean, p.along, p.weighed = make([]float64, cols), make([]float64, cols), make([]float64, cols)
	}
	clear(p.mean)
	clear(p.along)
}

// addBend adds the derivative by each input of the sum of a (t - <t> - u <ut>)/s over the rows, where a is the
// gradient at the output times the gain. With du/dx of one row k, s du(i)/dx(k) = [i=k] - 1/n - u(i)u(k)/n and
// d(1/s)/dx(k) = -u(k)/(n s^2), it is
//
//	-(u (<at> - <a><t> - 3 <au><ut>) + <ut> (a - <a>) + <au> (t - <t>)) / s^2.
//
// The means of a and au are of the sums that pushed left when it went back through that group, its last.
func (o *batchNormOp) addBend(w []float32, dx Matrix, pushed op, lo int) {
	src := pushed.(*batchNormOp)
	a, p := src.delta.Slice(lo, lo+dx.Rows), &src.pushed
	clear(o.sum)
	clear(p.weighed)
	kernel.ColumnDots(o.sum, p.weighed, a.Data, p.t.Data, a.Rows, a.LD)
	divide(p.weighed, float64(dx.Rows))
	for j, v := range p.weighed {
		p.weighed[j] = v - float64(src.sum[j]*p.mean[j]) - float64(3*src.dot[j]*p.along[j])
		o.scale[j] = float64(w[j])
	}
	kernel.Bend(dx.Data, o.unit.Data, a.Data, p.t.Data, dx.Rows, dx.LD, kernel.Bending{
		Unit: p.weighed, Along: p.along, MeanA: src.sum, AlongA: src.dot, MeanT: p.mean, Gain: o.scale,
		Inverse: o.inverse[:o.cols]})
}
