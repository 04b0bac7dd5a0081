package net

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"weir/internal/bitmath"
	"weir/train/internal/kernel"
)

// The gradient penalty of WGAN-GP (Gulrajani et al. 2017) is, for an example with
// input gradient g = dD/dx at an interpolate, weight*(|g|-1)². Its gradient by the
// weights is the gradient of the directional derivative u·g with u = 2*weight*(|g|-1)g/|g|
// held fixed, which is a forward tangent: push u through the net at the
// interpolate, then differentiate the tangent's output by the weights. Where every
// layer is linear piece by piece, that gradient is, in each dense layer, the outer
// product of the tangent at its input and the gradient that Backward left at its
// output. So the tangents overwrite the inputs of the interpolates, and one
// Accumulate serves fake, real and penalty rows alike. Of a layer that is not linear piece by piece
// the tangent depends on its input too: bend.go.

// tangenter is an op that can replace its stored inputs of rows lo to hi-1 by
// tangents t; it returns the tangents at its output, which are in y's rows when
// the op works in place.
type tangenter interface {
	tangent(w []float32, t Matrix, lo int) Matrix
}

// Penalisable returns an error unless the net is linear piece by piece, but for batch_norm of
// columns, and has one output, as GradientPenalty needs. Dropout beside batch_norm would draw other rows where
// bend.go runs it again.
func (n *Net) Penalisable() error {
	if n.Out() != 1 {
		return fmt.Errorf("net: has %d outputs, must have 1 for a gradient penalty", n.Out())
	}
	ops := newOps(n.layers, 0)
	bends := slices.ContainsFunc(ops, isBent)
	for i, o := range ops {
		a, other := o.(*activationOp)
		b, norm := o.(*batchNormOp)
		_, drops := o.(*dropoutOp)
		_, pushes := o.(tangenter)
		if !pushes || other && a.kind != leaky || norm && b.channels != b.cols || drops && bends {
			return fmt.Errorf("net: layers[%d]: is %s, must be dense, leaky_relu, relu, dropout or batch_norm of columns, the "+
				"last two not together, for a gradient penalty", i, n.layers[i].name())
		}
	}
	return nil
}

// GradientPenalty turns rows lo to the last of a Pass into the penalty's: call it
// after BackwardInput(w, lo) with an output gradient of 1 on these rows, a group of their own
// (Mode.Groups); dx is what it returned. Afterwards Squares and Accumulate see the penalty's gradient
// there. loss, unless nil, receives the penalty of each row.
func (p *Pass) GradientPenalty(w []float32, dx Matrix, lo int, weight float64, loss []float64) {
	t := p.in.Slice(lo, p.rows)
	p.beforePush(w, t)
	for i := range t.Rows {
		g := dx.Row(lo + i)
		norm := math.Sqrt(kernel.SumSquares(g))
		c := float32(0) // where g is 0 the penalty has no direction
		if norm != 0 {
			c = float32(2 * weight * (norm - 1) / norm)
		}
		for j, v := range g {
			t.Row(i)[j] = c * v
		}
		if loss != nil {
			loss[i] = weight * (norm - 1) * (norm - 1)
		}
	}
	t.setExtra(0)
	for i, o := range p.ops {
		t = o.(tangenter).tangent(w[p.net.offsets[i]:], t, lo)
	}
	if p.bend != nil {
		p.bend.afterPush(w, p.ops, lo)
	}
}

func (o *denseOp) tangent(w []float32, t Matrix, lo int) Matrix {
	x := o.x.Slice(lo, o.x.Rows)
	if !x.same(t) {
		copy(x.all(), t.all())
	}
	if len(o.t.Data) < t.Rows*(o.units+1) {
		o.t = NewMatrix(o.y.Rows, o.units)
	}
	y := o.t.Slice(0, t.Rows)
	kernel.GemmNN(t.Rows, o.units, o.in, x.Data, x.LD, w, o.units, y.Data, y.LD, false)
	return y
}

func (o *activationOp) tangent(_ []float32, t Matrix, lo int) Matrix {
	y := o.y.Slice(lo, o.y.Rows)
	kernel.LeakyReLUBackward(y.all(), t.all(), y.all(), o.slope)
	return y
}

func (o *dropoutOp) tangent(_ []float32, t Matrix, lo int) Matrix {
	if o.on {
		kernel.Mul(t.all(), t.all(), o.mask.Slice(lo, lo+t.Rows).all())
	}
	return t
}

// A layer is bent where its tangent depends on its input, as batch_norm's does through the mean
// and deviation of its rows. The gradient of a penalty by the weights below has a second part then:
// what a change of that input does to the sum of all tangents at the output. bend finds it on
// the interpolates once more, run as a batch of their own: each bent layer adds its part to the
// gradient on its way back, which began with zeros at the output.
type bend struct {
	*Pass
	most int // rows that there is room for
}

// bent is an op of that kind. addBend adds to dx, at its input, the derivative of the sum of
// tangents that pushed, the same layer with tangents from row lo on, has at its output, each weighted by the gradient
// there. Both ran on the same inputs of these rows.
type bent interface {
	addBend(w []float32, dx Matrix, pushed op, lo int)
}

func isBent(o op) bool {
	_, ok := o.(bent)
	return ok
}

// beforePush runs the interpolates x on their own, before tangents overwrite them.
func (p *Pass) beforePush(w []float32, x Matrix) {
	if p.bend == nil || p.bend.most < x.Rows {
		if !slices.ContainsFunc(p.ops, isBent) {
			return
		}
		p.bend = &bend{Pass: p.net.NewPass(x.Rows), most: x.Rows}
	}
	p.bend.Input(x.Rows).CopyFrom(x)
	p.bend.Forward(w, Mode{Train: true, Frozen: true})
}

// afterPush leaves in the layers of b what Accumulate adds to the gradient of pushed.
func (b *bend) afterPush(w []float32, pushed []op, lo int) {
	dy := b.OutGrad()
	clear(dy.all())
	for i := len(b.ops) - 1; i >= 0; i-- {
		items := w[b.net.offsets[i]:]
		dy = b.ops[i].backward(items, dy, 0)
		if o, ok := b.ops[i].(bent); ok {
			o.addBend(items, dy, pushed[i], lo)
		}
	}
}

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
			return fmt.Errorf("net: layers[%d]: is %s, must be dense or without weights where each weight tensor has its clip",
				i, l.name())
		}
	}
	return nil
}

// TensorSquares computes Squares for each tensor of a net that PerTensor allows: dst[k] and
// bound[k] are for tensor k, in the order of Tensors.
func (p *Pass) TensorSquares(dst, bound [][]float64) {
	k := 0
	for i, o := range p.ops {
		if n := len(p.net.layers[i].tensors()); n > 0 {
			o.(tensorOp).tensorSquares(dst[k:k+n], bound[k:k+n], &p.scratch)
			k += n
		}
	}
}

// TensorAccumulate accumulates, as Accumulate does, with scales of its own for each tensor: scale[k] has
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
	kernel.GemmTNScaled(1, o.units, d.Rows, x.Data[o.in:], x.LD, d.Data, d.LD, grad[o.in*o.units:], o.units, true,
		scale[1])
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
