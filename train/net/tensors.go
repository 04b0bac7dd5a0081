package net

import (
	"fmt"
	"math"
	"math/rand/v2"

	"weir/internal/bitmath"
	"weir/train/internal/kernel"
)

// tensorOp is a layer whose weight tensors can be clipped one by one.
type tensorOp interface {
	// tensorSquares is squares for each of the layer's tensors.
	tensorSquares(dst, bound [][]float64, scratch *scratch)
	// tensorAccumulate is accumulate with scales of its own for each tensor.
	tensorAccumulate(grad []float32, scale [][]float32)
}

// PerTensor returns an error unless the weight tensors of the net can be clipped one
// by one, which dense layers alone allow, beside layers without weights.
func (n *Net) PerTensor() error {
	for i, l := range n.layers {
		if _, ok := l.(*dense); !ok && len(l.tensors()) > 0 {
			return fmt.Errorf("net: layers[%d]: is %s; clips of single weight tensors are for nets of dense layers", i, l.name())
		}
	}
	return nil
}

// TensorSquares is Squares for each tensor of a net that PerTensor allows: dst[k] and
// bound[k] are those of tensor k, in the order of Tensors.
func (p *Pass) TensorSquares(dst, bound [][]float64) {
	k := 0
	for i, o := range p.ops {
		if n := len(p.net.layers[i].tensors()); n > 0 {
			o.(tensorOp).tensorSquares(dst[k:k+n], bound[k:k+n], &p.scratch)
			k += n
		}
	}
}

// TensorAccumulate is Accumulate with scales of its own for each tensor: scale[k] has
// one for each row.
func (p *Pass) TensorAccumulate(grad []float32, scale [][]float32) {
	k := 0
	for i, o := range p.ops {
		if n := len(p.net.layers[i].tensors()); n > 0 {
			o.(tensorOp).tensorAccumulate(grad[p.net.offsets[i]:], scale[k:k+n])
			k += n
		}
	}
}

// tensorSquares: the weight's gradient is the outer product of input and delta, the
// bias's is delta.
func (o *denseOp) tensorSquares(dst, bound [][]float64, s *scratch) {
	n := len(dst[0])
	a, d := grow(&s.x, n), grow(&s.y, n)
	x, y := o.x.Data, o.delta.Data
	kernel.RowDots(a, x, x, n, o.in, o.x.LD, o.x.LD)
	kernel.RowDots(d, y, y, n, o.units, o.delta.LD, o.delta.LD)
	for i := range n {
		both, bias := outer(a[i], d[i]), float64(d[i])+underflow
		dst[0][i] += both
		bound[0][i] += float64(both * o.wide())
		dst[1][i] += bias
		bound[1][i] += float64(bias * o.wide())
	}
}

// tensorAccumulate: the bias is the last row of the weights, its input the column of
// ones.
func (o *denseOp) tensorAccumulate(grad []float32, scale [][]float32) {
	x, d := o.x, o.delta
	kernel.GemmTNScaled(o.in, o.units, d.Rows, x.Data, x.LD, d.Data, d.LD, grad, o.units, true, scale[0])
	kernel.GemmTNScaled(1, o.units, d.Rows, x.Data[o.in:], x.LD, d.Data, d.LD, grad[o.in*o.units:], o.units, true, scale[1])
}

// InitTruncated returns fresh weights of a net of dense layers: normal of standard
// deviation sd, drawn again beyond two of them (tf.truncated_normal), and biases of
// zero.
func (n *Net) InitTruncated(r *rand.Rand, sd float64) []float32 {
	w := make([]float32, n.params)
	for _, t := range n.tensors {
		if len(t.Shape) < 2 {
			continue
		}
		part := w[t.Offset : t.Offset+t.Size()]
		for i := range part {
			x := bitmath.Normal(r)
			for math.Abs(x) > 2 {
				x = bitmath.Normal(r)
			}
			part[i] = float32(sd * x)
		}
	}
	return w
}
