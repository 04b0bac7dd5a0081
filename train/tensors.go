package train

import (
	"errors"
	"fmt"
)

// tensorGradients are per-example gradients whose weight tensors can be clipped one by
// one (see net.Pass).
type tensorGradients interface {
	TensorSquares(dst, bound [][]float64)
	TensorAccumulate(grad []float32, scale [][]float32)
}

// tensored is an objective whose workers are tensorGradients; Tensors is their number.
type tensored interface{ Tensors() (int, error) }

// checkTensors says why an objective cannot be clipped tensor by tensor, as n are paid for.
func checkTensors(o Objective, n int) error {
	t, ok := o.(tensored)
	if !ok {
		return errors.New("paid: has a clip for each weight tensor; this loss joins rows and has one clip")
	}
	has, err := t.Tensors()
	if err == nil && has != n {
		err = fmt.Errorf("paid: is for %d weight tensors, the net has %d", n, has)
	}
	return err
}

// tensorClip clips the gradients of up to rows examples tensor by tensor.
type tensorClip struct {
	square, bound [][]float64 // of each tensor
	scale         [][]float32
}

func newTensorClip(tensors, rows int) *tensorClip {
	c := &tensorClip{}
	for range tensors {
		c.square, c.bound = append(c.square, make([]float64, rows)), append(c.bound, make([]float64, rows))
		c.scale = append(c.scale, make([]float32, rows))
	}
	return c
}

// accumulate adds to grad the sum of the gradients of n examples, of each tensor at
// most clip, but for those of omit.
func (c *tensorClip) accumulate(g tensorGradients, grad []float32, n int, clip float64, omit []bool) {
	for k := range c.square {
		c.square[k], c.bound[k], c.scale[k] = c.square[k][:n], c.bound[k][:n], c.scale[k][:n]
		clear(c.square[k])
		clear(c.bound[k])
	}
	g.TensorSquares(c.square, c.bound)
	for k := range c.square {
		clipFactors(c.scale[k], c.square[k], c.bound[k], clip)
		leaveOut(c.scale[k], omit)
	}
	g.TensorAccumulate(grad, c.scale)
}
