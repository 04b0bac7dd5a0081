package net

import (
	"fmt"
	"math"
	"slices"

	"weir/train/internal/kernel"
)

// The gradient penalty of WGAN-GP (Gulrajani et al. 2017) is, for an example with
// input gradient g = dD/dx at an interpolate, weight*(|g|-1)². Its gradient by the
// weights is that of the directional derivative u·g with u = 2*weight*(|g|-1)g/|g|
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
		return fmt.Errorf("net: has %d outputs, a gradient penalty needs 1", n.Out())
	}
	ops := newOps(n.layers, 0)
	bends := slices.ContainsFunc(ops, isBent)
	for i, o := range ops {
		a, other := o.(*activationOp)
		b, norm := o.(*batchNormOp)
		_, drops := o.(*dropoutOp)
		_, pushes := o.(tangenter)
		if !pushes || other && a.kind != leaky || norm && b.channels != b.cols || drops && bends {
			return fmt.Errorf("net: layers[%d]: is %s, a gradient penalty accepts dense, leaky_relu, relu, and one of dropout and batch_norm of columns", i, n.layers[i].name())
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
