package net

import "math"

// batchMomentum is the weight of the newest batch in the running statistics, the
// default of PyTorch.
const batchMomentum = 0.1

// batchNorm brings each column of a batch to mean 0 and variance 1 (Ioffe,
// Szegedy 2015). It mixes examples, so Net.PerExample refuses it. The running
// statistics that it uses outside training are kept as two tensors whose
// gradient is always zero; forward in training updates them in the weights.
type batchNorm struct{ cols int }

func (l *batchNorm) name() string { return "batch_norm" }
func (l *batchNorm) width() int   { return l.cols }
func (l *batchNorm) mixes() bool  { return true }

func (l *batchNorm) tensors() []Tensor {
	c := l.cols
	return []Tensor{
		{Name: "gain", Shape: []int{c}, start: 1},
		{Name: "offset", Shape: []int{c}, Offset: c},
		{Name: "running_mean", Shape: []int{c}, Offset: 2 * c},
		{Name: "running_variance", Shape: []int{c}, Offset: 3 * c, start: 1},
	}
}

func (l *batchNorm) op(rows int) op {
	return &batchNormOp{batchNorm: l, unit: NewMatrix(rows, l.cols), y: NewMatrix(rows, l.cols),
		dx: NewMatrix(rows, l.cols), inverse: make([]float64, l.cols)}
}

type batchNormOp struct {
	*batchNorm
	unit, y, dx Matrix
	inverse     []float64 // 1/standard deviation of each column
	train       bool
	delta       Matrix
}

func (o *batchNormOp) forward(w []float32, x Matrix, m Mode) Matrix {
	o.train = m.Train
	y := o.y.Slice(0, x.Rows)
	for j := range o.cols {
		mean, variance := float64(w[2*o.cols+j]), float64(w[3*o.cols+j])
		if m.Train {
			mean, variance = moments(x, j)
			o.remember(w, j, mean, variance, x.Rows)
		}
		o.inverse[j] = 1 / math.Sqrt(variance+normEpsilon)
		for i := range x.Rows {
			u := float32((float64(x.Row(i)[j]) - mean) * o.inverse[j])
			o.unit.Row(i)[j] = u
			y.Row(i)[j] = float32(u*w[j]) + w[o.cols+j]
		}
	}
	y.setExtra(1)
	return y
}

// remember moves the running statistics towards those of a batch of n; the
// running variance is the unbiased one.
func (o *batchNormOp) remember(w []float32, j int, mean, variance float64, n int) {
	if n < 2 {
		return
	}
	variance = float64(variance * (float64(n) / float64(n-1)))
	w[2*o.cols+j] += float32(batchMomentum * (mean - float64(w[2*o.cols+j])))
	w[3*o.cols+j] += float32(batchMomentum * (variance - float64(w[3*o.cols+j])))
}

// moments returns the mean and the biased variance of column j.
func moments(x Matrix, j int) (mean, variance float64) {
	n := float64(x.Rows)
	for i := range x.Rows {
		mean += float64(x.Row(i)[j])
	}
	mean /= n
	for i := range x.Rows {
		d := float64(x.Row(i)[j]) - mean
		variance += float64(d * d)
	}
	return mean, variance / n
}

func (o *batchNormOp) backward(w []float32, dy Matrix, from int) Matrix {
	o.delta = dy
	dx := o.dx.Slice(0, dy.Rows)
	if from >= dy.Rows {
		return dx
	}
	for j := range o.cols {
		o.column(dx, dy, j, float64(w[j])*o.inverse[j])
	}
	return dx
}

// column sets column j of dx; scale is gain/deviation.
func (o *batchNormOp) column(dx, dy Matrix, j int, scale float64) {
	var sum, dot float64
	if o.train {
		for i := range dy.Rows {
			g := float64(dy.Row(i)[j])
			sum += g
			dot += float64(g * float64(o.unit.Row(i)[j]))
		}
	}
	n := float64(dy.Rows)
	for i := range dy.Rows {
		u := float64(o.unit.Row(i)[j])
		dx.Row(i)[j] = float32(scale * (float64(dy.Row(i)[j]) - sum/n - u*dot/n))
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
	rows := layerNormOp{layerNorm: &layerNorm{cols: o.cols}, unit: o.unit, delta: o.delta}
	rows.accumulate(grad, scale)
}
