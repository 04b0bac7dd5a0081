package net

import "weir/train/internal/kernel"

type activationKind string

const (
	leaky   activationKind = "leaky_relu" // slope 0 is ReLU
	tanh    activationKind = "tanh"
	sigmoid activationKind = "sigmoid"
)

// activation works element by element, in place unless the layer below needs its
// own output again. All three find their derivative in their output.
type activation struct {
	unweighted
	cols   int
	kind   activationKind
	slope  float32
	copies bool
}

func (l *activation) name() string { return string(l.kind) }
func (l *activation) width() int   { return l.cols }

func (l *activation) op(rows int) op {
	o := &activationOp{activation: l}
	if l.copies {
		o.own = NewMatrix(rows, l.cols)
	}
	return o
}

type activationOp struct {
	*activation
	own, y Matrix
}

func (o *activationOp) forward(_ []float32, x Matrix, _ Mode) Matrix {
	y := x
	if o.copies {
		y = o.own.Slice(0, x.Rows)
	}
	switch o.kind {
	case leaky:
		kernel.LeakyReLU(y.all(), x.all(), o.slope)
	case tanh:
		kernel.Tanh(y.all(), x.all())
		y.setExtra(1)
	case sigmoid:
		kernel.Sigmoid(y.all(), x.all())
		y.setExtra(1)
	}
	o.y = y
	return y
}

func (o *activationOp) backward(_ []float32, dy Matrix, _ int) Matrix {
	switch o.kind {
	case leaky:
		kernel.LeakyReLUBackward(dy.all(), dy.all(), o.y.all(), o.slope)
	case tanh:
		kernel.TanhBackward(dy.all(), dy.all(), o.y.all())
	case sigmoid:
		kernel.SigmoidBackward(dy.all(), dy.all(), o.y.all())
	}
	return dy
}
