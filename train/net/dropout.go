package net

import "weir/train/internal/kernel"

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
