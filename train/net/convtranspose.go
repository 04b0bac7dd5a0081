package net

import (
	"fmt"

	"weir/train/internal/kernel"
)

// convTranspose is the transpose of conv: each input position (narrow side) adds
// kernel×filters numbers to the output (wide side). W is channels×(kernel*filters)
// followed by a bias for each filter.
type convTranspose struct {
	geometry
	channels, filters int
}

func newConvTranspose(at string, in int, s Layer) (layer, error) {
	positions, err := checkConv(at, in, s)
	if err != nil {
		return nil, err
	}
	g := geometry{narrow: positions, kernel: s.Kernel, stride: s.Stride, padding: s.Padding}
	g.wide = (positions-1)*s.Stride - 2*s.Padding + s.Kernel
	if g.wide < 1 {
		return nil, fmt.Errorf("%s.padding: is %d, leaves no output positions", at, s.Padding)
	}
	return &convTranspose{geometry: g, channels: s.Channels, filters: s.Filters}, nil
}

func (l *convTranspose) name() string { return "conv1d_transpose" }
func (l *convTranspose) width() int   { return l.wide * l.filters }
func (l *convTranspose) span() int    { return l.kernel * l.filters }

func (l *convTranspose) tensors() []Tensor {
	b := uniform(l.span())
	return []Tensor{
		{Name: "weight", Shape: []int{l.channels, l.geometry.kernel, l.filters}, bound: b},
		{Name: "bias", Shape: []int{l.filters}, Offset: l.channels * l.span(), bound: b},
	}
}

func (l *convTranspose) op(rows int) op {
	return &convTransposeOp{convTranspose: l, spread: make([]float32, l.narrow*l.span()),
		dspread: NewMatrix(rows*l.narrow, l.span()), y: NewMatrix(rows, l.width()), dx: NewMatrix(rows, l.narrow*l.channels)}
}

type convTransposeOp struct {
	*convTranspose
	x, delta Matrix
	spread   []float32
	dspread  Matrix // narrow rows for each example
	y, dx    Matrix
}

func (o *convTransposeOp) bias(w []float32) []float32 {
	at := o.channels * o.span()
	return w[at : at+o.filters]
}

func (o *convTransposeOp) forward(w []float32, x Matrix, _ Mode) Matrix {
	o.x = x
	y := o.y.Slice(0, x.Rows)
	for i := range x.Rows {
		kernel.GemmNN(o.narrow, o.span(), o.channels, x.Row(i), o.channels, w, o.span(), o.spread, o.span(), false)
		row := y.Row(i)
		for p := range o.wide {
			copy(row[p*o.filters:], o.bias(w))
		}
		o.fold(row, o.spread, o.filters, o.span())
	}
	y.setExtra(1)
	return y
}

func (o *convTransposeOp) backward(w []float32, dy Matrix, from int) Matrix {
	o.delta = dy
	dx := o.dx.Slice(0, dy.Rows)
	for i := range dy.Rows {
		d := o.of(i)
		o.unfold(d, dy.Row(i), o.filters, o.dspread.LD)
		if from < dy.Rows {
			kernel.GemmNT(o.narrow, o.channels, o.span(), d, o.dspread.LD, w, o.span(), dx.Row(i), o.channels, false)
		}
	}
	return dx
}

func (o *convTransposeOp) of(i int) []float32 {
	return o.dspread.Slice(i*o.narrow, (i+1)*o.narrow).Data
}

func (o *convTransposeOp) add(grad []float32, i int, scale []float32) {
	kernel.GemmTNScaled(o.channels, o.span(), o.narrow, o.x.Row(i), o.channels, o.of(i), o.dspread.LD, grad, o.span(), true, scale)
	b := o.bias(grad)
	row := o.delta.Row(i)
	for p := range o.wide {
		kernel.Axpy(scale[0], row[p*o.filters:(p+1)*o.filters], b)
	}
}

func (o *convTransposeOp) squares(dst, bound []float64, s *scratch) {
	oneByOne(dst, bound, s, o.delta.Rows, o.channels*o.span()+o.filters, o.narrow, o.x.Row, o.add)
}

func (o *convTransposeOp) accumulate(grad, scale []float32) {
	weighted(grad, scale, o.delta.Rows, o.narrow, o.add)
}
