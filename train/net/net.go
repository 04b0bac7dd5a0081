// Package net builds neural nets from plain data and differentiates them by hand:
// forward, backward, per-example squared gradient norms without a per-example
// gradient (ghost norms), weighted sums of per-example gradients, and forward
// tangents for the gradient penalty.
//
// A Net is a shape. Its weights are one flat []float32 that the caller owns, in
// the order of Net.Tensors, so an optimiser, a clip or a noise draw is one pass
// over one slice. A Pass holds the activations of up to a fixed number of rows;
// one goroutine uses a Pass at a time, and one Net serves any number of them.
//
// Every matrix of activations carries a last column of ones, so that the bias is
// the last row of a weight matrix and sits inside the matrix products; every
// matrix of gradients carries a last column of zeros.
package net

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"weir/internal/bitmath"
)

// Tensor names a part of the flat weights.
type Tensor struct {
	Name   string `json:"name"`  // such as 0.dense.weight
	Shape  []int  `json:"shape"` // row-major
	Offset int    `json:"offset"`

	bound float64 // initial weights are uniform in +-bound around start
	start float32
}

// Size returns the number of weights in the tensor.
func (t Tensor) Size() int {
	n := 1
	for _, d := range t.Shape {
		n *= d
	}
	return n
}

// Net is the shape of a net; it holds no weights and no data.
type Net struct {
	spec    Spec
	layers  []layer
	offsets []int // of each layer in the flat weights
	tensors []Tensor
	params  int
}

// layer is the shape of one layer.
type layer interface {
	name() string
	width() int        // of its output rows
	tensors() []Tensor // offsets within the layer
	op(rows int) op
}

// unclippable is a layer of whose gradient one example's part cannot be clipped, and says
// why; "" where it can be after all.
type unclippable interface{ unclippable() string }

// cancelling is a layer that may add up its gradient over parts of one example, which may cancel.
// Then it is far shorter than its parts, by whose size a float32 sum errs.
type cancelling interface{ cancels() bool }

func cancels(l layer) bool {
	c, ok := l.(cancelling)
	return ok && c.cancels()
}

// New builds the net that spec describes.
func New(spec Spec) (*Net, error) {
	if spec.Inputs < 1 {
		return nil, fmt.Errorf("net: inputs: is %d, must be at least 1", spec.Inputs)
	}
	if len(spec.Layers) == 0 {
		return nil, fmt.Errorf("net: layers: is empty, must name at least one layer")
	}
	layers, err := build("net: layers", spec.Inputs, spec.Layers)
	if err != nil {
		return nil, err
	}
	n := &Net{spec: spec, layers: layers}
	n.tensors, n.offsets, n.params = place(layers)
	return n, nil
}

// place lays the tensors of layers one after the other.
func place(layers []layer) (tensors []Tensor, offsets []int, size int) {
	for i, l := range layers {
		offsets = append(offsets, size)
		for _, t := range l.tensors() {
			t.Name = fmt.Sprintf("%d.%s.%s", i, l.name(), t.Name)
			t.Offset = size
			size += t.Size()
			tensors = append(tensors, t)
		}
	}
	return tensors, offsets, size
}

// Spec returns the description that the net was built from.
func (n *Net) Spec() Spec { return n.spec }

// In and Out are the widths of input and output rows.
func (n *Net) In() int  { return n.spec.Inputs }
func (n *Net) Out() int { return n.layers[len(n.layers)-1].width() }

// Params returns the number of weights.
func (n *Net) Params() int { return n.params }

// Tensors names the parts of the flat weights, in order.
func (n *Net) Tensors() []Tensor { return n.tensors }

// Init returns fresh weights: uniform within +-1/sqrt(inputs of the unit), biases
// included; gains 1, offsets 0.
func (n *Net) Init(r *rand.Rand) []float32 {
	w := make([]float32, n.params)
	for _, t := range n.tensors {
		part := w[t.Offset : t.Offset+t.Size()]
		for i := range part {
			part[i] = t.start
			if t.bound > 0 {
				part[i] += float32((float64(2*float64(r.Float64())) - 1) * t.bound)
			}
		}
	}
	return w
}

// InitNormal returns fresh weights that are standard normals wherever the weights of Init
// are uniform. In wide nets such weights explode; the Turku thesis states them.
func (n *Net) InitNormal(r *rand.Rand) []float32 {
	w := make([]float32, n.params)
	for _, t := range n.tensors {
		part := w[t.Offset : t.Offset+t.Size()]
		for i := range part {
			if part[i] = t.start; t.bound > 0 {
				part[i] = float32(bitmath.Normal(r))
			}
		}
	}
	return w
}

// InitByInputs returns fresh weights that are normal with a variance over the number of a unit's inputs
// wherever the weights of Init are uniform, and offsets of zero.
func (n *Net) InitByInputs(r *rand.Rand, variance float64) []float32 {
	w := make([]float32, n.params)
	for _, t := range n.tensors {
		part := w[t.Offset : t.Offset+t.Size()]
		for i := range part {
			if part[i] = t.start; t.bound > 0 && len(t.Shape) > 1 {
				part[i] = float32(math.Sqrt(variance) * t.bound * bitmath.Normal(r))
			}
		}
	}
	return w
}

// PerExample returns an error unless each example's gradient depends on that example alone, as clipping per
// example requires. written reports whether the norm can be taken only from the gradient written out: where parts
// of one example cancel, rounding makes what Accumulate adds differ from what Squares says by more than either can
// bound.
func (n *Net) PerExample() (written bool, err error) {
	for i, l := range n.layers {
		if why := whyUnclippable(l); why != "" {
			return false, fmt.Errorf("net: layers[%d]: is %s, which %s; a net whose gradients are clipped per example may not "+
				"hold it", i, l.name(), why)
		}
		written = written || cancels(l)
	}
	return written, nil
}

// PerExampleOfAll runs PerExample of several nets that one gradient is of.
func PerExampleOfAll(nets ...*Net) (written bool, err error) {
	for _, n := range nets {
		of, wrong := n.PerExample()
		written, err = written || of, errors.Join(err, wrong)
	}
	return written, err
}

func whyUnclippable(l layer) string {
	if u, ok := l.(unclippable); ok {
		return u.unclippable()
	}
	return ""
}

// Export returns the weights tensor by tensor; the slices are copies.
func (n *Net) Export(w []float32) map[string][]float32 {
	out := make(map[string][]float32, len(n.tensors))
	for _, t := range n.tensors {
		out[t.Name] = append([]float32(nil), w[t.Offset:t.Offset+t.Size()]...)
	}
	return out
}

// Import returns flat weights from named tensors. A missing, unknown or
// mis-sized tensor is an error.
func (n *Net) Import(byName map[string][]float32) ([]float32, error) {
	if len(byName) != len(n.tensors) {
		return nil, fmt.Errorf("net: weights: are %d tensors, must be the %d of the net", len(byName), len(n.tensors))
	}
	for _, t := range n.tensors {
		x, ok := byName[t.Name]
		if !ok {
			return nil, fmt.Errorf("net: weights: tensor %s is missing, must be there", t.Name)
		}
		if len(x) != t.Size() {
			return nil, fmt.Errorf("net: weights: tensor %s has %d elements, must have %d", t.Name, len(x), t.Size())
		}
	}
	w := make([]float32, n.params) // as much as there is
	for _, t := range n.tensors {
		copy(w[t.Offset:], byName[t.Name])
	}
	return w, nil
}

// Draws reports whether forward uses Mode.Rand.
func (n *Net) Draws() bool { return draws(n.layers) }

func draws(layers []layer) bool {
	for _, l := range layers {
		switch l := l.(type) {
		case *dropout:
			return true
		case *residual:
			if draws(l.layers) {
				return true
			}
		case *blocks:
			for _, b := range l.list {
				if b.Activation == "gumbel_softmax" {
					return true
				}
			}
		}
	}
	return false
}

// Matrix is Rows×Cols float32, row-major, with LD elements from row to row. In
// this package LD is Cols+1: activations keep a one in the extra column,
// gradients a zero.
type Matrix struct {
	Data           []float32
	Rows, Cols, LD int
}

// NewMatrix returns a zero matrix with its extra column.
func NewMatrix(rows, cols int) Matrix {
	return Matrix{Data: make([]float32, rows*(cols+1)), Rows: rows, Cols: cols, LD: cols + 1}
}

// Row returns row i without the extra column.
func (m Matrix) Row(i int) []float32 { return m.Data[i*m.LD : i*m.LD+m.Cols : i*m.LD+m.Cols] }

// Slice returns rows lo to hi-1; they share storage with m.
func (m Matrix) Slice(lo, hi int) Matrix {
	return Matrix{Data: m.Data[lo*m.LD : hi*m.LD], Rows: hi - lo, Cols: m.Cols, LD: m.LD}
}

// CopyFrom copies the columns of x, which has the shape of m; the extra column
// of m stays.
func (m Matrix) CopyFrom(x Matrix) {
	for i := range m.Rows {
		copy(m.Row(i), x.Row(i))
	}
}

// all returns every element in use, the extra column included.
func (m Matrix) all() []float32 { return m.Data[:m.Rows*m.LD] }

// setExtra writes v into the extra column.
func (m Matrix) setExtra(v float32) {
	for p := m.Cols; p < m.Rows*m.LD; p += m.LD {
		m.Data[p] = v
	}
}

// same reports whether two matrices start at the same element.
func (m Matrix) same(x Matrix) bool {
	return len(m.Data) > 0 && len(x.Data) > 0 && &m.Data[0] == &x.Data[0]
}
