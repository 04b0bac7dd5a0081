package train

import (
	"math"

	"weir/train/internal/kernel"
)

// apart adds the examples whose parts cancel, each on its own: a float32 sum over many
// rows errs by the size of the parts, which can be any number of clips long where the gradient
// itself is within one.
//
// What is clipped is the example's gradient as float32 gives it, rounding and all: a function
// of its private row, the weights and draws of its own, since a row of scale zero leaves
// no trace in the sum of a chunk. Its norm is that of the numbers at hand, so none of it is hidden, and
// what is added is at most a clip long like any other example.
type apart struct {
	grad, scale []float32
	which       []int
}

// spanned are workers of which an example's gradient is zero outside of a part of the weights,
// where Accumulate writes nothing for it.
type spanned interface{ Span(i int) (from, to int) }

func spanOf(w Worker, i, all int) (from, to int) {
	if s, ok := w.(spanned); ok {
		return s.Span(i)
	}
	return 0, all
}

// pick lists the examples whose parts would stay longer than parts clips once they are clipped,
// and sets their factors to zero. One whose parts are over 2^100 clips has none, and one of omit is not
// listed.
func (a *apart) pick(factor []float32, square, bound []float64, clip, parts float64, omit []bool) {
	a.which = a.which[:0]
	if math.IsInf(parts, 1) {
		return
	}
	for i := range factor {
		all := math.Sqrt(bound[i])
		if all <= parts*math.Max(clip, longest(square[i], bound[i])) {
			continue
		}
		factor[i] = 0
		if all <= clip*0x1p100 && (omit == nil || !omit[i]) {
			a.which = append(a.which, i)
		}
	}
}

// all picks every one of n examples but those of omit: those of a net whose gradient adds up parts of one example
// (net.Net.PerExample), of which no bound is at hand.
func (a *apart) all(n int, omit []bool) {
	a.which = a.which[:0]
	for i := range n {
		if omit == nil || !omit[i] {
			a.which = append(a.which, i)
		}
	}
}

// add adds the clipped gradients of the examples picked to grad. n is how many the chunk has.
func (a *apart) add(w Worker, grad []float32, n int, clip float64) {
	if len(a.which) == 0 {
		return
	}
	if a.grad == nil {
		a.grad, a.scale = make([]float32, len(grad)), make([]float32, joinedRows)
	}
	for _, i := range a.which {
		from, to := spanOf(w, i, len(grad))
		own := a.grad[from:to]
		clear(own)
		a.scale[i] = 1
		w.Accumulate(a.grad, a.scale[:n])
		a.scale[i] = 0
		if factor := rowFactor(own, clip); factor > 0 {
			kernel.Axpy(factor, own, grad[from:to])
		}
	}
}
