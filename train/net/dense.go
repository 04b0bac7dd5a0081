package net

import (
	"fmt"
	"math"

	"weir/train/internal/kernel"
)

// dense is y = [x 1]·W with W of (in+1)×units, the bias its last row.
type dense struct{ in, units int }

func newDense(at string, in, units int) (layer, error) {
	if units < 1 {
		return nil, fmt.Errorf("%s.units: is %d, must be at least 1", at, units)
	}
	return &dense{in: in, units: units}, nil
}

func (l *dense) name() string { return "dense" }
func (l *dense) width() int   { return l.units }

func (l *dense) tensors() []Tensor {
	b := uniform(l.in)
	return []Tensor{
		{Name: "weight", Shape: []int{l.in, l.units}, bound: b},
		{Name: "bias", Shape: []int{l.units}, Offset: l.in * l.units, bound: b},
	}
}

func (l *dense) op(rows int) op {
	return &denseOp{dense: l, y: NewMatrix(rows, l.units), dx: NewMatrix(rows, l.in)}
}

type denseOp struct {
	*dense
	x, delta Matrix // of the last forward and backward
	y, dx    Matrix
	t        Matrix // tangents
}

func (o *denseOp) forward(w []float32, x Matrix, _ Mode) Matrix {
	o.x = x
	y := o.y.Slice(0, x.Rows)
	kernel.GemmNN(x.Rows, o.units, o.in+1, x.Data, x.LD, w, o.units, y.Data, y.LD, false)
	y.setExtra(1)
	return y
}

func (o *denseOp) backward(w []float32, dy Matrix, from int) Matrix {
	o.delta = dy
	if from < dy.Rows {
		dx, d := o.dx.Slice(from, dy.Rows), dy.Slice(from, dy.Rows)
		kernel.GemmNT(d.Rows, o.in, o.units, d.Data, d.LD, w, o.units, dx.Data, dx.LD, false)
	}
	return o.dx.Slice(0, dy.Rows)
}

// squares uses |a dᵀ|² = |a|²|d|², and for a sum of outer products the sum of
// (a·a')(d·d') over all pairs (Goodfellow 2015; Li et al. 2022, ghost clipping).
func (o *denseOp) squares(dst, bound []float64, s *scratch) {
	n := len(dst)
	parts := o.delta.Rows / max(n, 1)
	a, d, sum := grow(&s.x, n), grow(&s.y, n), grow(&s.z, n)
	clear(sum)
	for i := range parts {
		for j := range i + 1 {
			o.pair(a, d, i*n, j*n, n)
			for k := range dst {
				v := float64(float64(a[k]) * float64(d[k]))
				if i == j {
					v = outer(a[k], d[k])
					dst[k] += v
					sum[k] += float32(math.Sqrt(v))
				} else {
					dst[k] += float64(2 * v)
				}
			}
		}
	}
	for k, v := range sum {
		bound[k] += float64(float64(float64(v)*float64(v)) * o.wide())
	}
}

// wide is 1 for dot products of up to 2,000 terms, whose rounding error is what bound is
// taken to say, and grows with longer ones.
func (o *denseOp) wide() float64 { return math.Ceil(float64(max(o.in, o.units, 1)) / 2000) }

// underflow is more than a float32 dot product of up to 2^22 terms loses where they
// are too small for float32: each loses at most 2^-150.
const underflow = 0x1p-126

// outer is at least the squared norm of an outer product of squared norms a and d, each
// less what underflow took, but for the rounding that bound is about. Where neither is
// below 2^-73 nothing is added.
func outer(a, d float32) float64 {
	return float64((float64(a) + underflow) * (float64(d) + underflow))
}

// pair sets a to the dot products of input rows i.. and j.., d to those of deltas.
func (o *denseOp) pair(a, d []float32, i, j, n int) {
	x, y := o.x.Data, o.delta.Data
	kernel.RowDots(a, x[i*o.x.LD:], x[j*o.x.LD:], n, o.in+1, o.x.LD, o.x.LD)
	kernel.RowDots(d, y[i*o.delta.LD:], y[j*o.delta.LD:], n, o.units, o.delta.LD, o.delta.LD)
}

func (o *denseOp) accumulate(grad, scale []float32) {
	x, d := o.x, o.delta
	if scale == nil {
		kernel.GemmTN(o.in+1, o.units, d.Rows, x.Data, x.LD, d.Data, d.LD, grad, o.units, true)
		return
	}
	kernel.GemmTNScaled(o.in+1, o.units, d.Rows, x.Data, x.LD, d.Data, d.LD, grad, o.units, true, scale)
}
