package net

import (
	"errors"
	"fmt"
	"math"

	"weir/internal/bitmath"
	"weir/train/internal/kernel"
)

// Heads is the criterion of rows that are made of blocks, for a net that ends where
// its blocks would begin: y are their inputs. It adds up, over blocks,
//
//	softmax  the cross entropy of the block with its target
//	sigmoid  the binary cross entropy of each column, as in BCE, but summed
//	tanh     (tanh(y) - t)² of each column
//	linear   (y - t)² of each column
//
// so that without noise the net learns what the blocks then put out. Columns from
// the block skip on, as wide as that block, count for nothing: their gradient is zero;
// -1 skips none.
type Heads struct {
	blocks []Block
	skip   int
}

// NewHeads returns the heads of blocks, an error where a block has no loss.
func NewHeads(blocks []Block, skip int) (*Heads, error) {
	var errs []error
	for i, b := range blocks {
		switch b.Activation {
		case "softmax", "sigmoid", "tanh", "linear":
		default:
			errs = append(errs, fmt.Errorf("heads: blocks[%d].activation: is %q, must be softmax, sigmoid, tanh or linear", i,
				b.Activation))
		}
	}
	return &Heads{blocks, skip}, errors.Join(errs...)
}

// Loss computes a criterion: see BCE for what it sets.
func (h *Heads) Loss(dy, y, target Matrix, loss []float64) {
	clear(loss)
	pos := 0
	for i, b := range h.blocks {
		h.block(i, pos, dy, y, target, loss)
		pos += b.Width
	}
	dy.setExtra(0)
}

func (h *Heads) block(i, pos int, dy, y, target Matrix, loss []float64) {
	b := h.blocks[i]
	if i != h.skip && b.Activation == "softmax" && y.Rows > 0 {
		kernel.Softmax(dy.Data[pos:], y.Data[pos:], y.Rows, b.Width, dy.LD, y.LD)
	}
	for r := range y.Rows {
		d, v, t := dy.Row(r)[pos:pos+b.Width], y.Row(r)[pos:pos+b.Width], target.Row(r)[pos:pos+b.Width]
		if i == h.skip {
			clear(d)
			continue
		}
		headGradient(b.Activation, d, v, t)
		if loss != nil {
			loss[r] += headLoss(b.Activation, v, t)
		}
	}
}

// headGradient sets d to the gradient at inputs v; of softmax it holds the outputs.
func headGradient(activation string, d, v, t []float32) {
	switch activation {
	case "softmax":
		kernel.Axpy(-1, t, d)
	case "sigmoid":
		kernel.Sigmoid(d, v)
		kernel.Axpy(-1, t, d)
	case "tanh":
		kernel.Tanh(d, v)
		for j, y := range d {
			d[j] = 2 * (y - t[j]) * (1 - float32(y*y))
		}
	case "linear":
		for j := range d {
			d[j] = 2 * (v[j] - t[j])
		}
	}
}

func headLoss(activation string, v, t []float32) (sum float64) {
	if activation == "softmax" {
		return crossEntropy(v, t)
	}
	for j, x := range v {
		switch activation {
		case "sigmoid":
			sum += logistic(float64(x), float64(t[j]))
		case "tanh":
			d := bitmath.Tanh(float64(x)) - float64(t[j])
			sum += float64(d * d)
		case "linear":
			d := float64(x) - float64(t[j])
			sum += float64(d * d)
		}
	}
	return sum
}

// crossEntropy returns ln(sum exp(v)) - sum(t v), for t that adds up to one.
func crossEntropy(v, t []float32) float64 {
	top := math.Inf(-1)
	for _, x := range v {
		top = math.Max(top, float64(x))
	}
	var sum, point float64
	for j, x := range v {
		sum += bitmath.Exp(float64(x) - top)
		point += float64(float64(t[j]) * (float64(x) - top))
	}
	return bitmath.Log(sum) - point
}

// logistic returns the binary cross entropy softplus(x) - t x.
func logistic(x, t float64) float64 {
	return math.Max(x, 0) + bitmath.Log1p(bitmath.Exp(-math.Abs(x))) - float64(x*t)
}

// Each loss sets dy to the gradient of each example's own loss (not divided by
// the batch) and, unless loss is nil, loss[i] to example i's loss. The extra
// columns are ignored and dy's stays zero.

// BCE computes binary cross-entropy on logits, the mean over columns:
// softplus(y) - t*y for targets t in [0, 1].
func BCE(dy, y, target Matrix, loss []float64) {
	kernel.Sigmoid(dy.all(), y.all())
	kernel.Axpy(-1, target.all(), dy.all())
	kernel.Scale(1/float32(y.Cols), dy.all())
	dy.setExtra(0)
	if loss == nil {
		return
	}
	for i := range y.Rows {
		var sum float64
		for j, v := range y.Row(i) {
			sum += logistic(float64(v), float64(target.Row(i)[j]))
		}
		loss[i] = sum / float64(y.Cols)
	}
}

// MSE computes the mean over columns of (y-t)².
func MSE(dy, y, target Matrix, loss []float64) {
	copy(dy.all(), y.all())
	kernel.Axpy(-1, target.all(), dy.all())
	kernel.Scale(2/float32(y.Cols), dy.all())
	dy.setExtra(0)
	for i := range loss {
		var sum float64
		for j, v := range y.Row(i) {
			d := float64(v) - float64(target.Row(i)[j])
			sum += float64(d * d)
		}
		loss[i] = sum / float64(y.Cols)
	}
}

// Wasserstein computes sign*y for a critic's one output (Arjovsky et al. 2017): sign -1
// raises the score, +1 lowers it.
func Wasserstein(dy, y Matrix, sign float32, loss []float64) {
	clear(dy.all())
	for i := range y.Rows {
		dy.Row(i)[0] = sign
	}
	for i := range loss {
		loss[i] = float64(sign * y.Row(i)[0])
	}
}

// Logistic computes the cross entropy of a critic's one output, the logit of "real" (Goodfellow et
// al. 2014): softplus(sign*y), -1 for rows that are to pass as real, +1 for others.
func Logistic(dy, y Matrix, sign float32, loss []float64) {
	clear(dy.all())
	s := float64(sign)
	for i := range y.Rows {
		v := float64(y.Row(i)[0])
		dy.Row(i)[0] = float32(s / (1 + bitmath.Exp(-s*v)))
		if loss != nil {
			loss[i] = logistic(float64(s*v), 0)
		}
	}
}

// GaussianKL computes the divergence of N(mean, exp(logvar)) from N(0, 1), summed over
// columns (Kingma, Welling 2014, appendix B). y holds means, then log variances,
// 2*d columns; the gradient is added to dy and the value to loss, times weight.
func GaussianKL(dy, y Matrix, weight float64, loss []float64) {
	d := y.Cols / 2
	for i := range y.Rows {
		row, g := y.Row(i), dy.Row(i)
		var sum float64
		for j := range d {
			mean, logvar := float64(row[j]), float64(row[d+j])
			variance := bitmath.Exp(logvar)
			sum += variance + float64(mean*mean) - 1 - logvar
			g[j] += float32(weight * mean)
			g[d+j] += float32(weight * (variance - 1) / 2)
		}
		if loss != nil {
			loss[i] += float64(weight * sum / 2)
		}
	}
}

// Reparameterise sets z = mean + exp(logvar/2)*e row by row, where y holds means,
// then log variances (Kingma, Welling 2014); e is standard normal.
func Reparameterise(z, y, e Matrix) {
	for i := range z.Rows {
		row, to := y.Row(i), z.Row(i)
		for j := range to {
			to[j] = row[j] + float32(float32(bitmath.Exp(float64(row[z.Cols+j])/2))*e.Row(i)[j])
		}
	}
}

// ReparameteriseBackward sets dy, over means and log variances, to the gradient
// that dz at the sampled z causes.
func ReparameteriseBackward(dy, dz, y, e Matrix) {
	for i := range dz.Rows {
		g, row := dy.Row(i), y.Row(i)
		for j, v := range dz.Row(i) {
			g[j] = v
			g[dz.Cols+j] = v * e.Row(i)[j] * float32(bitmath.Exp(float64(row[dz.Cols+j])/2)/2)
		}
	}
}
