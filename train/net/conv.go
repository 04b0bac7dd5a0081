package net

import (
	"errors"
	"fmt"
	"math"

	"weir/train/internal/kernel"
)

// geometry is a one-dimensional convolution: wide positions of one side, narrow
// positions of the other; narrow position q sees wide positions
// q*stride-padding .. q*stride-padding+kernel-1.
type geometry struct {
	wide, narrow, kernel, stride, padding int
}

// checkConv returns the number of input positions.
func checkConv(path string, in int, s Layer) (int, error) {
	var errs []error
	need := func(field string, value, least int) {
		if value < least {
			errs = append(errs, fmt.Errorf("%s.%s: is %d, must be at least %d", path, field, value, least))
		}
	}
	need("channels", s.Channels, 1)
	need("filters", s.Filters, 1)
	need("kernel", s.Kernel, 1)
	need("stride", s.Stride, 1)
	need("padding", s.Padding, 0)
	if len(errs) == 0 && in%s.Channels != 0 {
		errs = append(errs, fmt.Errorf("%s.channels: is %d, must divide the %d columns of the input", path, s.Channels, in))
	}
	if len(errs) > 0 {
		return 0, errors.Join(errs...)
	}
	return in / s.Channels, nil
}

// unfold copies, for each narrow position, what it sees of one example: x is
// wide×channels, dst narrow×(kernel*channels) with row stride ld; zeros outside.
func (g geometry) unfold(dst, x []float32, channels, ld int) {
	for q := range g.narrow {
		for k := range g.kernel {
			out := dst[q*ld+k*channels:][:channels]
			if p := q*g.stride - g.padding + k; p >= 0 && p < g.wide {
				copy(out, x[p*channels:])
			} else {
				clear(out)
			}
		}
	}
}

// fold adds what unfold would have copied back to where it came from.
func (g geometry) fold(x, src []float32, channels, ld int) {
	for q := range g.narrow {
		for k := range g.kernel {
			if p := q*g.stride - g.padding + k; p >= 0 && p < g.wide {
				from, to := src[q*ld+k*channels:][:channels], x[p*channels:][:channels]
				for c, v := range from {
					to[c] += v
				}
			}
		}
	}
}

// conv is a 1-D convolution: W is (kernel*channels+1)×filters, the bias last, so
// each output position is a dense layer over what it sees.
type conv struct {
	geometry
	channels, filters int
}

func newConv(path string, in int, s Layer) (layer, error) {
	positions, err := checkConv(path, in, s)
	if err != nil {
		return nil, err
	}
	g := geometry{wide: positions, kernel: s.Kernel, stride: s.Stride, padding: s.Padding}
	if positions+2*s.Padding < s.Kernel {
		return nil, fmt.Errorf("%s.kernel: is %d, must be at most %d (positions plus padding)", path, s.Kernel,
			positions+2*s.Padding)
	}
	g.narrow = (positions+2*s.Padding-s.Kernel)/s.Stride + 1
	return &conv{geometry: g, channels: s.Channels, filters: s.Filters}, nil
}

func (l *conv) name() string { return "conv1d" }
func (l *conv) width() int   { return l.narrow * l.filters }
func (l *conv) view() int    { return l.kernel * l.channels }

// cancels: the gradient is a sum over positions.
func (g geometry) cancels() bool { return true }

func (l *conv) tensors() []Tensor {
	b := uniform(l.view())
	return []Tensor{
		{Name: "weight", Shape: []int{l.geometry.kernel, l.channels, l.filters}, bound: b},
		{Name: "bias", Shape: []int{l.filters}, Offset: l.view() * l.filters, bound: b},
	}
}

func (l *conv) op(rows int) op {
	o := &convOp{conv: l, seen: NewMatrix(rows*l.narrow, l.view()), y: NewMatrix(rows, l.width()),
		dx: NewMatrix(rows, l.wide*l.channels), dseen: NewMatrix(l.narrow, l.view())}
	o.seen.setExtra(1)
	return o
}

type convOp struct {
	*conv
	seen  Matrix // narrow rows for each example
	y, dx Matrix
	dseen Matrix
	delta Matrix
}

// patches returns the rows of seen that belong to example i.
func (o *convOp) patches(i int) []float32 {
	return o.seen.Slice(i*o.narrow, (i+1)*o.narrow).Data
}

func (o *convOp) forward(w []float32, x Matrix, _ Mode) Matrix {
	y := o.y.Slice(0, x.Rows)
	for i := range x.Rows {
		seen := o.patches(i)
		o.unfold(seen, x.Row(i), o.channels, o.seen.LD)
		kernel.GemmNN(o.narrow, o.filters, o.view()+1, seen, o.seen.LD, w, o.filters, y.Row(i), o.filters, false)
	}
	y.setExtra(1)
	return y
}

func (o *convOp) backward(w []float32, dy Matrix, start int) Matrix {
	o.delta = dy
	dx := o.dx.Slice(0, dy.Rows)
	if start >= dy.Rows {
		return dx
	}
	clear(dx.all())
	for i := range dy.Rows {
		kernel.GemmNT(o.narrow, o.view(), o.filters, dy.Row(i), o.filters, w, o.filters, o.dseen.Data, o.dseen.LD, false)
		o.fold(dx.Row(i), o.dseen.Data, o.channels, o.dseen.LD)
	}
	return dx
}

func (o *convOp) add(grad []float32, i int, scale []float32) {
	kernel.GemmTNScaled(o.view()+1, o.filters, o.narrow, o.patches(i), o.seen.LD, o.delta.Row(i), o.filters, grad,
		o.filters,
		true, scale)
}

func (o *convOp) squares(dst, bound []float64, s *scratch) {
	oneByOne(dst, bound, s, o.delta.Rows, (o.view()+1)*o.filters, o.narrow, o.patches, o.add)
}

func (o *convOp) accumulate(grad, scale []float32) {
	weighted(grad, scale, o.delta.Rows, o.narrow, o.add)
}

// largestInput is the squared norm at which float32 overflows.
const largestInput = math.MaxFloat32

// oneByOne measures the gradients of shared weights example by example in one
// buffer of the size of the weights: no two are ever held at once. An example
// whose input passes largestInput has an infinite norm, as it has in a dense
// layer: its scaled gradient could not be held in float32.
func oneByOne(dst, bound []float64, s *scratch, rows, size, positions int, input func(int) []float32,
	add func([]float32, int, []float32)) {
	grad, ones := grow(&s.x, size), grow(&s.y, positions)
	fill(ones, 1)
	for i := range dst {
		clear(grad)
		var upper float64
		for r := i; r < rows; r += len(dst) {
			if kernel.SumSquares(input(r)) > largestInput {
				upper = math.Inf(1)
			}
			add(grad, r, ones)
			upper += kernel.SumSquares(grad)
		}
		dst[i] += kernel.SumSquares(grad)
		if math.IsInf(upper, 1) {
			dst[i] = upper
		}
		bound[i] += float64(upper * float64(rows/len(dst)))
	}
}

// weighted adds up scale[i] times the gradient of example i.
func weighted(grad, scale []float32, rows, positions int, add func([]float32, int, []float32)) {
	factor := make([]float32, positions)
	for i := range rows {
		c := float32(1)
		if scale != nil {
			c = scale[i]
		}
		if c == 0 {
			continue
		}
		fill(factor, c)
		add(grad, i, factor)
	}
}

func fill(x []float32, v float32) {
	for i := range x {
		x[i] = v
	}
}

// convTranspose is the transpose of conv: each input position (narrow side) adds
// kernel×filters numbers to the output (wide side). W is channels×(kernel*filters)
// followed by a bias for each filter.
type convTranspose struct {
	geometry
	channels, filters int
}

func newConvTranspose(path string, in int, s Layer) (layer, error) {
	positions, err := checkConv(path, in, s)
	if err != nil {
		return nil, err
	}
	g := geometry{narrow: positions, kernel: s.Kernel, stride: s.Stride, padding: s.Padding}
	g.wide = (positions-1)*s.Stride - 2*s.Padding + s.Kernel
	if g.wide < 1 {
		return nil, fmt.Errorf("%s.padding: is %d, must leave at least one output position", path, s.Padding)
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

func (o *convTransposeOp) backward(w []float32, dy Matrix, start int) Matrix {
	o.delta = dy
	dx := o.dx.Slice(0, dy.Rows)
	for i := range dy.Rows {
		d := o.patches(i)
		o.unfold(d, dy.Row(i), o.filters, o.dspread.LD)
		if start < dy.Rows {
			kernel.GemmNT(o.narrow, o.channels, o.span(), d, o.dspread.LD, w, o.span(), dx.Row(i), o.channels, false)
		}
	}
	return dx
}

func (o *convTransposeOp) patches(i int) []float32 {
	return o.dspread.Slice(i*o.narrow, (i+1)*o.narrow).Data
}

func (o *convTransposeOp) add(grad []float32, i int, scale []float32) {
	kernel.GemmTNScaled(o.channels, o.span(), o.narrow, o.x.Row(i), o.channels, o.patches(i), o.dspread.LD, grad, o.span(),
		true, scale)
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
