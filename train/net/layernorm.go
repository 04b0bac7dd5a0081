package net

import "math"

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

func (o *layerNormOp) backward(w []float32, dy Matrix, from int) Matrix {
	o.delta = dy
	dx := o.dx.Slice(0, dy.Rows)
	if from >= dy.Rows {
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
