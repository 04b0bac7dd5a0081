package net

import (
	"math/rand/v2"
)

// Mode says how to run forward. Rand is needed where a layer draws (dropout while
// training, gumbel_softmax always). Rows, where given, are the draws of each row of the
// input for dropout: what it draws then does not depend on the place of a row.
// Frozen keeps forward in training from moving the running statistics of batch_norm. Groups
// splits the rows into equal runs, each of which batch_norm brings to mean 0 and variance 1 on its own; 0 is one.
type Mode struct {
	Train, Frozen bool
	Groups        int
	Rand          *rand.Rand
	Rows          []*rand.Rand
}

// row returns the draws of row i.
func (m Mode) row(i int) *rand.Rand {
	if m.Rows != nil {
		return m.Rows[i]
	}
	return m.Rand
}

// op is one layer with the buffers of one Pass. w and grad are the layer's own
// part of the flat vectors.
type op interface {
	// forward may change x in place and return it.
	forward(w []float32, x Matrix, m Mode) Matrix
	// backward may change dy in place and return it. Of the result only rows from
	// on are used.
	backward(w []float32, dy Matrix, from int) Matrix
	// squares adds the squared norm of each example's gradient to dst, and the
	// square of the sum of its parts' norms to bound. Example i is rows i,
	// len(dst)+i, 2*len(dst)+i, ...
	squares(dst, bound []float64, scratch *scratch)
	// accumulate adds the sum of the rows' gradients, each times its scale
	// (nil: 1), to grad. A row of scale zero is left out.
	accumulate(grad []float32, scale []float32)
}

// unweighted serves layers without weights.
type unweighted struct{}

func (unweighted) tensors() []Tensor                   { return nil }
func (unweighted) squares(_, _ []float64, _ *scratch)  {}
func (unweighted) accumulate(_ []float32, _ []float32) {}

// Pass is a net at work on up to a fixed number of rows.
type Pass struct {
	net     *Net
	in      Matrix
	dout    Matrix
	cur     Matrix // output of the last Forward
	rows    int
	ops     []op
	scratch scratch
	bend    *bend // of the last GradientPenalty; nil where no layer is bent
}

// NewPass allocates the buffers for up to rows rows.
func (n *Net) NewPass(rows int) *Pass {
	p := &Pass{net: n, in: NewMatrix(rows, n.In()), dout: NewMatrix(rows, n.Out())}
	p.ops = newOps(n.layers, rows)
	return p
}

func newOps(layers []layer, rows int) []op {
	ops := make([]op, len(layers))
	for i, l := range layers {
		ops[i] = l.op(rows)
	}
	return ops
}

// Input returns the matrix that the next Forward reads, for the caller to fill.
// rows must not exceed the capacity of the Pass.
func (p *Pass) Input(rows int) Matrix {
	p.rows = rows
	return p.in.Slice(0, rows)
}

// Forward runs the net on the rows of Input and returns its output, which belongs
// to the Pass and lasts until the next call. The input is not kept intact when
// the first layer works in place.
func (p *Pass) Forward(w []float32, m Mode) Matrix {
	x := p.in.Slice(0, p.rows)
	x.setExtra(1)
	if p.bend != nil {
		p.bend.rows = 0
	}
	p.cur = runForward(p.ops, p.net.offsets, w, x, m)
	return p.cur
}

func runForward(ops []op, offsets []int, w []float32, x Matrix, m Mode) Matrix {
	for i, o := range ops {
		x = o.forward(w[offsets[i]:], x, m)
	}
	return x
}

// OutGrad returns the matrix that Backward reads: the gradient of the loss at
// each output, for the caller to fill. Backward may change it.
func (p *Pass) OutGrad() Matrix { return p.dout.Slice(0, p.rows) }

// FixLastBias leaves the bias of a last dense layer out of the gradients of the batch at hand, from
// Squares and Accumulate alike. It is for losses that know it to be zero: a difference of two
// outputs, from which the bias drops out.
func (p *Pass) FixLastBias() {
	if last, ok := p.ops[len(p.ops)-1].(*denseOp); ok {
		last.x.setExtra(0) // the next forward sets it again
	}
}

// Backward runs the net backwards from OutGrad and leaves in each layer what
// Squares and Accumulate need.
func (p *Pass) Backward(w []float32) { p.BackwardInput(w, p.rows) }

// BackwardInput runs Backward and returns the gradient at the input too, which
// belongs to the Pass. Only rows from on are computed.
func (p *Pass) BackwardInput(w []float32, from int) Matrix {
	return runBackward(p.ops, p.net.offsets, w, p.OutGrad(), from)
}

func runBackward(ops []op, offsets []int, w []float32, dy Matrix, start int) Matrix {
	for i := len(ops) - 1; i > 0; i-- {
		dy = ops[i].backward(w[offsets[i]:], dy, 0)
	}
	return ops[0].backward(w[offsets[0]:], dy, start)
}

// Squares adds to dst[i] the squared norm of example i's gradient, as left by
// Backward. Example i is the sum of rows i, n+i, 2n+i, ... with n = len(dst).
// bound[i] grows, layer by layer, by the square of the sum of the parts' norms:
// the rounding error of dst[i] is a small multiple of it (2^-24 times the number
// of terms of a dot product lane), which matters where the parts cancel. A dense layer of
// more than 2,000 inputs or units counts as so many times more.
func (p *Pass) Squares(dst, bound []float64) {
	for _, o := range p.ops {
		o.squares(dst, bound, &p.scratch)
	}
}

// Accumulate adds to grad, in the layout of the weights, the sum over rows of
// scale[row] times the row's gradient; a nil scale is all ones, and a row of
// scale zero is left out even where it holds NaN.
func (p *Pass) Accumulate(grad, scale []float32) {
	for i, o := range p.ops {
		o.accumulate(grad[p.net.offsets[i]:], scale)
	}
	if p.bend != nil && p.bend.rows > 0 {
		p.bend.Accumulate(grad, nil)
	}
}

// scratch is working memory that grows to what the layers of a Pass ask for.
type scratch struct{ x, y, z []float32 }

func grow(s *[]float32, n int) []float32 {
	if cap(*s) < n {
		*s = make([]float32, n)
	}
	*s = (*s)[:n]
	return *s
}
