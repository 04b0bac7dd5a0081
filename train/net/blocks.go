package net

import (
	"fmt"

	"weir/internal/bitmath"
	"weir/train/internal/kernel"
)

// blocks applies an activation of its own to each run of columns: the head of a
// generator whose columns are numbers and one-hot groups.
type blocks struct {
	unweighted
	cols int
	list []Block
}

func newBlocks(at string, in int, list []Block) (layer, error) {
	total := 0
	for i, b := range list {
		if b.Width < 1 {
			return nil, fmt.Errorf("%s.blocks[%d].width: is %d, must be at least 1", at, i, b.Width)
		}
		if b.Width > in-total { // before sizes from a stranger overflow
			return nil, fmt.Errorf("%s.blocks: are more than %d columns wide together, the width of the input", at, in)
		}
		switch b.Activation {
		case "linear", "tanh", "sigmoid", "softmax", "zeros":
		case "one_hot":
			if b.Hot < 0 || b.Hot >= b.Width {
				return nil, fmt.Errorf("%s.blocks[%d].hot: is %d, must be from 0 to %d", at, i, b.Hot, b.Width-1)
			}
		case "gumbel_softmax":
			if !(b.Temperature > 0) {
				return nil, fmt.Errorf("%s.blocks[%d].temperature: is %g, must be above 0", at, i, b.Temperature)
			}
		default:
			return nil, fmt.Errorf("%s.blocks[%d].activation: is %q, must be linear, tanh, sigmoid, softmax, gumbel_softmax, zeros or one_hot", at, i, b.Activation)
		}
		total += b.Width
	}
	if total != in {
		return nil, fmt.Errorf("%s.blocks: are %d columns wide together, the input has %d", at, total, in)
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
		if last >= 0 && runs[last].Activation == b.Activation && (b.Activation == "tanh" || b.Activation == "sigmoid" || b.Activation == "linear") {
			runs[last].Width += b.Width
			continue
		}
		runs = append(runs, b)
	}
	return runs
}

func (o *blocksOp) forward(_ []float32, x Matrix, m Mode) Matrix {
	y := o.y.Slice(0, x.Rows)
	at := 0
	for _, b := range o.runs {
		forwardBlock(y, x, at, b, m)
		at += b.Width
	}
	y.setExtra(1)
	return y
}

func forwardBlock(y, x Matrix, at int, b Block, m Mode) {
	switch b.Activation {
	case "softmax":
		kernel.Softmax(y.Data[at:], x.Data[at:], x.Rows, b.Width, y.LD, x.LD)
	case "gumbel_softmax":
		gumbel(y, x, at, b, m)
		kernel.Softmax(y.Data[at:], y.Data[at:], x.Rows, b.Width, y.LD, y.LD)
	default:
		for i := range x.Rows {
			from, to := x.Row(i)[at:at+b.Width], y.Row(i)[at:at+b.Width]
			switch b.Activation {
			case "linear":
				copy(to, from)
			case "tanh":
				kernel.Tanh(to, from)
			case "sigmoid":
				kernel.Sigmoid(to, from)
			case "zeros":
				clear(to)
			case "one_hot":
				clear(to)
				to[b.Hot] = 1
			}
		}
	}
}

// gumbel sets y = (x - ln(-ln U))/temperature, U uniform in (0, 1).
func gumbel(y, x Matrix, at int, b Block, m Mode) {
	for i := range x.Rows {
		from, to := x.Row(i)[at:at+b.Width], y.Row(i)[at:at+b.Width]
		for j, v := range from {
			u := (float64(m.Rand.Uint64()>>12) + 0.5) / (1 << 52)
			to[j] = float32((float64(v) - bitmath.Log(-bitmath.Log(u))) / b.Temperature)
		}
	}
}

func (o *blocksOp) backward(_ []float32, dy Matrix, _ int) Matrix {
	at := 0
	for _, b := range o.runs {
		for i := range dy.Rows {
			backwardBlock(dy.Row(i)[at:at+b.Width], o.y.Row(i)[at:at+b.Width], b)
		}
		at += b.Width
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
