package net

import (
	"fmt"
	"math"

	"weir/internal/bitmath"
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

func (o *denseOp) backward(w []float32, dy Matrix, start int) Matrix {
	o.delta = dy
	if start < dy.Rows {
		dx, d := o.dx.Slice(start, dy.Rows), dy.Slice(start, dy.Rows)
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

// wide returns 1 for dot products of up to 2,000 terms, whose rounding error is what bound is
// taken to say, and grows with longer ones.
func (o *denseOp) wide() float64 { return math.Ceil(float64(max(o.in, o.units, 1)) / 2000) }

// underflow is more than a float32 dot product of up to 2^22 terms loses where they
// are too small for float32: each loses at most 2^-150.
const underflow = 0x1p-126

// outer returns at least the squared norm of an outer product of squared norms a and d, each
// less what underflow took, but for the rounding that bound is about. Where neither is
// below 2^-73 nothing is added.
func outer(a, d float32) float64 {
	return float64((float64(a) + underflow) * (float64(d) + underflow))
}

// pair sets a to the dot products of input rows i.. and j.., d to the dot products of deltas.
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

// dropout sets each element to zero with probability rate while training and
// divides the others by 1-rate (Srivastava et al. 2014). The mask is drawn for each
// element, so examples do not mix.
type dropout struct {
	unweighted
	cols int
	rate float32
}

func (l *dropout) name() string { return "dropout" }
func (l *dropout) width() int   { return l.cols }

func (l *dropout) op(rows int) op {
	return &dropoutOp{dropout: l, y: NewMatrix(rows, l.cols), mask: NewMatrix(rows, l.cols)}
}

type dropoutOp struct {
	*dropout
	y, mask Matrix
	on      bool
}

func (o *dropoutOp) forward(_ []float32, x Matrix, m Mode) Matrix {
	o.on = m.Train && o.rate > 0
	if !o.on {
		return x
	}
	y, mask := o.y.Slice(0, x.Rows), o.mask.Slice(0, x.Rows)
	keep := 1 / (1 - o.rate)
	for i := range mask.Rows {
		row, r := mask.Row(i), m.row(i)
		for j := range row {
			row[j] = keep
			if r.Float32() < o.rate {
				row[j] = 0
			}
		}
	}
	mask.setExtra(1)
	kernel.Mul(y.all(), x.all(), mask.all())
	return y
}

func (o *dropoutOp) backward(_ []float32, dy Matrix, _ int) Matrix {
	if o.on {
		kernel.Mul(dy.all(), dy.all(), o.mask.Slice(0, dy.Rows).all())
	}
	return dy
}

// blocks applies an activation of its own to each run of columns: the head of a
// generator whose columns are numbers and one-hot groups.
type blocks struct {
	unweighted
	cols int
	list []Block
}

func newBlocks(path string, in int, list []Block) (layer, error) {
	total := 0
	for i, b := range list {
		if b.Width < 1 {
			return nil, fmt.Errorf("%s.blocks[%d].width: is %d, must be at least 1", path, i, b.Width)
		}
		if b.Width > in-total { // before sizes from a stranger overflow
			return nil, fmt.Errorf("%s.blocks: are wider together than the input, must be %d columns", path, in)
		}
		switch b.Activation {
		case "linear", "tanh", "sigmoid", "softmax", "zeros":
		case "one_hot":
			if b.Hot < 0 || b.Hot >= b.Width {
				return nil, fmt.Errorf("%s.blocks[%d].hot: is %d, must be from 0 to %d", path, i, b.Hot, b.Width-1)
			}
		case "gumbel_softmax":
			if !(b.Temperature > 0) {
				return nil, fmt.Errorf("%s.blocks[%d].temperature: is %g, must be above 0", path, i, b.Temperature)
			}
		default:
			return nil, fmt.Errorf("%s.blocks[%d].activation: is %q, must be linear, tanh, sigmoid, softmax, gumbel_softmax, "+
				"zeros or one_hot", path, i, b.Activation)
		}
		total += b.Width
	}
	if total != in {
		return nil, fmt.Errorf("%s.blocks: are %d columns wide together, must be the %d of the input", path, total, in)
	}
	return &blocks{cols: in, list: list}, nil
}

func (l *blocks) name() string { return "blocks" }
func (l *blocks) width() int   { return l.cols }
func (l *blocks) op(rows int) op {
	return &blocksOp{blocks: l, runs: joinBlocks(l.list), y: NewMatrix(rows, l.cols)}
}

type blocksOp struct {
	*blocks
	runs []Block
	y    Matrix
}

// joinBlocks makes neighbours whose activation goes number by number one block: a row of many narrow blocks is then
// one call.
func joinBlocks(list []Block) (runs []Block) {
	for _, b := range list {
		last := len(runs) - 1
		if last >= 0 && runs[last].Activation == b.Activation && (b.Activation == "tanh" || b.Activation == "sigmoid" ||
			b.Activation == "linear") {
			runs[last].Width += b.Width
			continue
		}
		runs = append(runs, b)
	}
	return runs
}

func (o *blocksOp) forward(_ []float32, x Matrix, m Mode) Matrix {
	y := o.y.Slice(0, x.Rows)
	pos := 0
	for _, b := range o.runs {
		forwardBlock(y, x, pos, b, m)
		pos += b.Width
	}
	y.setExtra(1)
	return y
}

func forwardBlock(y, x Matrix, pos int, b Block, m Mode) {
	switch b.Activation {
	case "softmax":
		kernel.Softmax(y.Data[pos:], x.Data[pos:], x.Rows, b.Width, y.LD, x.LD)
	case "gumbel_softmax":
		gumbel(y, x, pos, b, m)
		kernel.Softmax(y.Data[pos:], y.Data[pos:], x.Rows, b.Width, y.LD, y.LD)
	default:
		for i := range x.Rows {
			src, dst := x.Row(i)[pos:pos+b.Width], y.Row(i)[pos:pos+b.Width]
			switch b.Activation {
			case "linear":
				copy(dst, src)
			case "tanh":
				kernel.Tanh(dst, src)
			case "sigmoid":
				kernel.Sigmoid(dst, src)
			case "zeros":
				clear(dst)
			case "one_hot":
				clear(dst)
				dst[b.Hot] = 1
			}
		}
	}
}

// gumbel sets y = (x - ln(-ln U))/temperature, U uniform in (0, 1).
func gumbel(y, x Matrix, at int, b Block, m Mode) {
	for i := range x.Rows {
		from, dst := x.Row(i)[at:at+b.Width], y.Row(i)[at:at+b.Width]
		for j, v := range from {
			u := (float64(m.Rand.Uint64()>>12) + 0.5) / (1 << 52)
			dst[j] = float32((float64(v) - bitmath.Log(-bitmath.Log(u))) / b.Temperature)
		}
	}
}

func (o *blocksOp) backward(_ []float32, dy Matrix, _ int) Matrix {
	pos := 0
	for _, b := range o.runs {
		for i := range dy.Rows {
			backwardBlock(dy.Row(i)[pos:pos+b.Width], o.y.Row(i)[pos:pos+b.Width], b)
		}
		pos += b.Width
	}
	return dy
}

// backwardBlock changes d, the gradient at the output y, into that at the input.
func backwardBlock(d, y []float32, b Block) {
	switch b.Activation {
	case "tanh":
		kernel.TanhBackward(d, d, y)
	case "sigmoid":
		kernel.SigmoidBackward(d, d, y)
	case "softmax":
		softmaxBackward(d, y, 1)
	case "gumbel_softmax":
		softmaxBackward(d, y, float32(1/b.Temperature))
	case "zeros", "one_hot":
		clear(d)
	}
}

func softmaxBackward(d, y []float32, scale float32) {
	var dot float32
	for j, v := range d {
		dot += float32(v * y[j])
	}
	for j := range d {
		d[j] = scale * y[j] * (d[j] - dot)
	}
}
