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

// NewHeads is an error where a block has no loss.
func NewHeads(blocks []Block, skip int) (*Heads, error) {
	var errs []error
	for i, b := range blocks {
		switch b.Activation {
		case "softmax", "sigmoid", "tanh", "linear":
		default:
			errs = append(errs, fmt.Errorf("heads: blocks[%d].activation: is %q, must be softmax, sigmoid, tanh or linear", i, b.Activation))
		}
	}
	return &Heads{blocks, skip}, errors.Join(errs...)
}

// Loss is a criterion: see BCE for what it sets.
func (h *Heads) Loss(dy, y, target Matrix, loss []float64) {
	clear(loss)
	at := 0
	for i, b := range h.blocks {
		h.block(i, at, dy, y, target, loss)
		at += b.Width
	}
	dy.setExtra(0)
}

func (h *Heads) block(i, at int, dy, y, target Matrix, loss []float64) {
	b := h.blocks[i]
	if i != h.skip && b.Activation == "softmax" && y.Rows > 0 {
		kernel.Softmax(dy.Data[at:], y.Data[at:], y.Rows, b.Width, dy.LD, y.LD)
	}
	for r := range y.Rows {
		d, v, t := dy.Row(r)[at:at+b.Width], y.Row(r)[at:at+b.Width], target.Row(r)[at:at+b.Width]
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

// crossEntropy is ln(sum exp(v)) - sum(t v), for t that adds up to one.
func crossEntropy(v, t []float32) float64 {
	top := math.Inf(-1)
	for _, x := range v {
		top = math.Max(top, float64(x))
	}
	var sum, at float64
	for j, x := range v {
		sum += bitmath.Exp(float64(x) - top)
		at += float64(float64(t[j]) * (float64(x) - top))
	}
	return bitmath.Log(sum) - at
}

// logistic is the binary cross entropy softplus(x) - t x.
func logistic(x, t float64) float64 {
	return math.Max(x, 0) + bitmath.Log1p(bitmath.Exp(-math.Abs(x))) - float64(x*t)
}
