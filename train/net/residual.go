package net

import (
	"cmp"
	"fmt"
	"slices"

	"weir/train/internal/kernel"
)

// residual is x + f(x) (He et al. 2016) or [f(x), x], the block of CTGAN (Xu et
// al. 2019), where f is a chain of layers.
type residual struct {
	in      int
	concat  bool
	layers  []layer
	offsets []int
	parts   []Tensor
	params  int
}

func newResidual(path string, in int, s Layer) (layer, error) {
	if s.Join != "add" && s.Join != "concat" {
		return nil, fmt.Errorf("%s.join: is %q, must be add or concat", path, s.Join)
	}
	if len(s.Layers) == 0 {
		return nil, fmt.Errorf("%s.layers: is empty, must name at least one layer", path)
	}
	inner, err := build(path+".layers", in, s.Layers)
	if err != nil {
		return nil, err
	}
	l := &residual{in: in, concat: s.Join == "concat", layers: inner}
	if out := l.inner(); !l.concat && out != in {
		return nil, fmt.Errorf("%s: layers turn %d columns into %d, must keep their number for join: add", path, in, out)
	}
	l.parts, l.offsets, l.params = place(inner)
	return l, nil
}

func (l *residual) inner() int        { return l.layers[len(l.layers)-1].width() }
func (l *residual) name() string      { return "residual" }
func (l *residual) tensors() []Tensor { return append([]Tensor(nil), l.parts...) }

func (l *residual) unclippable() (why string) {
	for _, inner := range l.layers {
		why = cmp.Or(why, whyUnclippable(inner))
	}
	return why
}

func (l *residual) cancels() bool { return slices.ContainsFunc(l.layers, cancels) }

func (l *residual) width() int {
	if l.concat {
		return l.in + l.inner()
	}
	return l.in
}

func (l *residual) op(rows int) op {
	return &residualOp{residual: l, ops: newOps(l.layers, rows), x: NewMatrix(rows, l.in),
		y: NewMatrix(rows, l.width()), d: NewMatrix(rows, l.inner()), dx: NewMatrix(rows, l.in)}
}

type residualOp struct {
	*residual
	ops         []op
	x, y, d, dx Matrix
}

func (o *residualOp) forward(w []float32, x Matrix, m Mode) Matrix {
	own, y := o.x.Slice(0, x.Rows), o.y.Slice(0, x.Rows)
	copy(own.all(), x.all())
	f := runForward(o.ops, o.offsets, w, own, m)
	o.join(y, f, x)
	y.setExtra(1)
	return y
}

// join sets y from the outputs of the two arms.
func (o *residualOp) join(y, f, x Matrix) {
	if !o.concat {
		kernel.Add(y.all(), f.all(), x.all())
		return
	}
	for i := range y.Rows {
		row := y.Row(i)
		copy(row, f.Row(i))
		copy(row[f.Cols:], x.Row(i))
	}
}

func (o *residualOp) backward(w []float32, dy Matrix, start int) Matrix {
	d, dx := o.d.Slice(0, dy.Rows), o.dx.Slice(0, dy.Rows)
	for i := range dy.Rows {
		row := dy.Row(i)
		copy(d.Row(i), row)
		if o.concat {
			row = row[d.Cols:]
		}
		copy(dx.Row(i), row)
	}
	inner := runBackward(o.ops, o.offsets, w, d, start)
	if start < dy.Rows {
		kernel.Add(dx.all(), dx.all(), inner.all())
	}
	return dx
}

func (o *residualOp) squares(dst, bound []float64, s *scratch) {
	for _, inner := range o.ops {
		inner.squares(dst, bound, s)
	}
}

func (o *residualOp) accumulate(grad, scale []float32) {
	for i, inner := range o.ops {
		inner.accumulate(grad[o.offsets[i]:], scale)
	}
}
