package train

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"weir/privacy"
	"weir/train/parallel"
)

// Objective is a loss over examples, each of which is one private row. The
// gradient of an example may depend on that row, the weights and draws of its
// own only; PerExample returns an error where a net breaks this, and says whether the
// gradient has to be written out to be measured (see net.Net).
type Objective interface {
	Params() int
	PerExample() (written bool, err error)
	// Worker returns buffers for up to rows examples; one goroutine uses it at a time.
	Worker(rows int) Worker
}

// Worker differentiates the losses of a chunk of examples.
type Worker interface {
	// Run computes what Squares and Accumulate read: the gradient of each listed
	// row's own loss at weights w. draw gives the chunk's secret randomness. loss,
	// unless nil, receives each example's loss.
	Run(w []float32, index []int32, draw Draw, loss []float64)
	// Squares adds each example's squared gradient norm to dst (see net.Pass).
	Squares(dst, bound []float64)
	// Accumulate adds the weighted sum of the gradients to grad; nil is all ones.
	Accumulate(grad, scale []float32)
}

// prepared is an objective that computes once a step what all of its rows share, for the
// workers to read.
type prepared interface{ Prepare(w []float32) }

// Draw returns the randomness of one chunk of one step; it is only called where
// it is needed, and once.
type Draw func() *rand.Rand

// chunkRows is how many examples are worked on at once. It is part of the
// result: sums of a chunk are float32, sums of chunks float64.
const chunkRows = 128

// normSlack times the bound of net.Pass.Squares covers the rounding of a squared
// norm for dot products of up to 2000 terms: 3*(2000/16+6)*2^-24 < 2^-15.
const normSlack = 0x1p-15

// joinedRows is chunkRows where an example joins rows: their gradients may cancel, and a
// short float32 sum errs by less of what cancels.
const joinedRows = 16

// joined is an objective whose examples are a private row with generated ones, Joined rows
// in all, whose gradients may cancel.
type joined interface{ Joined() int }

// checkJoined checks that the lattice is for as many rows an example as the objective joins.
func checkJoined(o Objective, paid int) error {
	rows := 1
	if j, ok := o.(joined); ok {
		rows = j.Joined()
	}
	if rows != max(1, paid) {
		return fmt.Errorf("paid: is for examples of %d rows, must be for the %d that the loss joins", max(1, paid), rows)
	}
	return nil
}

// gradient sums clipped gradients of any number of examples in fixed chunks. It
// adds them up in the order of the chunks, whatever the number of workers.
type gradient struct {
	objective Objective
	use       *privacy.Use // of the step at hand: where secret draws come from
	clip      float64      // infinite: no clip
	// an example whose parts are more clips long in all is added on its own (see apart); infinite: none is
	parts   float64
	rows    int    // of a chunk
	tensors int    // each of so many weight tensors has the clip for itself; 0: all weights together
	written bool   // every example is added on its own
	omit    []bool // examples of the index at hand that add nothing; nil: every one adds its gradient
	lanes   []*lane
	total   []float64
	sum     []float32 // the result
	loss    float64
}

// lane is one worker with its buffers.
type lane struct {
	Worker
	grad          []float32
	square, bound []float64
	scale         []float32
	loss          []float64
	chunk         int
	draw          Draw // the randomness of that chunk
	parts         *tensorClip
	apart         rowGradients
}

func newGradient(o Objective, clip float64, tensors int) *gradient {
	g := &gradient{objective: o, clip: clip, parts: math.Inf(1), rows: chunkRows, tensors: tensors,
		sum: make([]float32, o.Params())}
	if !math.IsInf(clip, 1) {
		g.written, _ = o.PerExample() // newStepper has looked at the error
	}
	if _, ok := o.(joined); ok || g.written {
		g.rows = joinedRows
	}
	return g
}

// lane returns worker i, made when first needed.
func (g *gradient) lane(i int) *lane {
	for len(g.lanes) <= i {
		l := &lane{Worker: g.objective.Worker(g.rows), grad: g.sum,
			square: make([]float64, g.rows), bound: make([]float64, g.rows),
			scale: make([]float32, g.rows), loss: make([]float64, g.rows)}
		l.draw = func() *rand.Rand {
			return rand.New(g.use.Stream("examples", uint64(l.chunk)))
		}
		if len(g.lanes) > 0 {
			l.grad = make([]float32, len(g.sum))
		}
		if g.tensors > 0 {
			l.parts = newTensorClip(g.tensors, g.rows)
		}
		g.lanes = append(g.lanes, l)
	}
	return g.lanes[i]
}

// compute sets sum to the sum of the clipped gradients of the listed rows, and
// loss to the sum of their losses when asked for.
func (g *gradient) compute(w []float32, index []int32, wantLoss bool) {
	g.loss = 0
	g.prepare(w)
	chunks := (len(index) + g.rows - 1) / g.rows
	if chunks <= 1 {
		l := g.lane(0)
		g.chunk(l, w, index, 0, 0, wantLoss)
		g.loss = sumOf(l.loss, len(index), wantLoss)
		return
	}
	if g.total == nil {
		g.total = make([]float64, len(g.sum))
	}
	clear(g.total)
	workers := parallel.Workers(chunks)
	g.lane(workers - 1)
	for first := 0; first < chunks; first += workers {
		g.wave(w, index, first, min(workers, chunks-first), wantLoss)
	}
	for i, v := range g.total {
		g.sum[i] = float32(v)
	}
}

func (g *gradient) prepare(w []float32) {
	if p, ok := g.objective.(prepared); ok {
		p.Prepare(w)
	}
}

// wave runs count chunks side by side and adds them up in order.
func (g *gradient) wave(w []float32, index []int32, first, count int, wantLoss bool) {
	if count == 1 {
		g.chunk(g.lanes[0], w, g.part(index, first), first*g.rows, first, wantLoss) // allocates nothing
	} else {
		parallel.Do(count, count, func(_, k int) {
			g.chunk(g.lanes[k], w, g.part(index, first+k), (first+k)*g.rows, first+k,
				wantLoss)
		})
	}
	for k, l := range g.lanes[:count] {
		for i, v := range l.grad {
			g.total[i] += float64(v)
		}
		g.loss += sumOf(l.loss, len(g.part(index, first+k)), wantLoss)
	}
}

// part returns the rows of one chunk.
func (g *gradient) part(index []int32, chunk int) []int32 {
	return index[chunk*g.rows : min((chunk+1)*g.rows, len(index))]
}

func sumOf(loss []float64, n int, want bool) (sum float64) {
	if want {
		for _, v := range loss[:n] {
			sum += v
		}
	}
	return sum
}

// chunk sets l.grad to the clipped sum of one chunk, whose first example is at so many of the whole index.
func (g *gradient) chunk(l *lane, w []float32, index []int32, pos, chunk int, wantLoss bool) {
	n := len(index)
	var omit []bool
	if g.omit != nil {
		omit = g.omit[pos:][:n]
	}
	clear(l.grad)
	if n == 0 {
		return
	}
	var loss []float64
	if wantLoss {
		loss = l.loss[:n]
	}
	l.chunk = chunk
	l.Run(w, index, l.draw, loss)
	if math.IsInf(g.clip, 1) {
		l.Accumulate(l.grad, l.weights(n, omit))
		return
	}
	if g.written {
		l.apart.all(n, omit)
		l.apart.add(l.Worker, l.grad, n, g.clip)
		return
	}
	if l.parts != nil {
		l.parts.accumulate(l.Worker.(tensorGradients), l.grad, n, g.clip, omit)
		return
	}
	clear(l.square)
	clear(l.bound)
	l.Squares(l.square[:n], l.bound[:n])
	clipFactors(l.scale[:n], l.square, l.bound, g.clip)
	l.apart.pick(l.scale[:n], l.square, l.bound, g.clip, g.parts, omit)
	leaveOut(l.scale, omit)
	l.Accumulate(l.grad, l.scale[:n])
	l.apart.add(l.Worker, l.grad, n, g.clip)
}

// weights returns the weights of examples that are not clipped; nil is all ones.
func (l *lane) weights(n int, omit []bool) []float32 {
	if omit == nil {
		return nil
	}
	for i := range n {
		l.scale[i] = 1
	}
	leaveOut(l.scale, omit)
	return l.scale[:n]
}

// leaveOut sets the factors of examples that add nothing to zero.
func leaveOut(factor []float32, omit []bool) {
	for i, out := range omit {
		if out {
			factor[i] = 0
		}
	}
}

// clipFactors sets each factor to min(1, clip/norm), 0 where the norm is not
// finite or over 2^100 clips (its factor would leave the range where float32 is
// exact to 2^-24).
func clipFactors(factor []float32, square, bound []float64, clip float64) {
	for i := range factor {
		norm := longest(square[i], bound[i])
		switch {
		case !(norm <= clip*0x1p100):
			factor[i] = 0
		case norm <= clip:
			factor[i] = 1
		default:
			factor[i] = float32(clip / norm * (1 - 0x1p-20)) // stays below through its own rounding
		}
	}
}

// longest returns the root of square, raised by what rounding may have hidden.
func longest(square, bound float64) float64 {
	return math.Sqrt(square + float64(normSlack*bound))
}

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
		return errors.New("paid: has a clip for each weight tensor, must have one clip: the loss joins rows")
	}
	has, err := t.Tensors()
	if err == nil && has != n {
		err = fmt.Errorf("paid: is for %d weight tensors, must be for the %d of the net", n, has)
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
// most clip, but for the examples of omit.
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
