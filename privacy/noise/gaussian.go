package noise

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// Gaussian fills dst with independent standard normal numbers, by a ziggurat of
// 1024 layers with 53-bit positions (Marsaglia, Tsang 2000; Doornik 2005 for
// taking layer, sign and position from separate bits). There is no largest
// value: the tail is drawn from exponentials that have none.
//
// A position is a multiple of width, at most 4.28 * 2^-53. A cell of size h that
// is large beside that therefore has the probability of the normal law up to a
// factor within 1 +- 2^-50/h (positions counted in the cell, and boundaries
// moved by the rounding of ln, each at most a few positions). LatticeGaussian
// turns this into a statement about privacy.
func (st *Stream) Gaussian(dst []float64) {
	for len(dst) > 0 {
		n := min(len(dst), blockNumbers)
		if st.next > bufferBytes-8*n {
			st.refill()
		}
		words := st.buf[st.next : st.next+8*n]
		st.next += 8 * n
		st.gaussianBlock(dst[:n], words)
		dst = dst[n:]
	}
}

// blockNumbers is how many numbers are drawn at a time: what a refill holds less
// 16 words, of which the draws outside the fast path take about one. A block
// for which the rest of the buffer is too small skips it; that depends on what
// was drawn before only, so the words used are as random as any.
const blockNumbers = bufferBytes/8 - 16

// edge is a draw that the fast path did not finish.
type edge struct{ at, layer uint16 }

// gaussianBlock makes dst, at most blockNumbers, from one word of 8 bytes each.
// Draws outside the fast path wait until all words are used, because they take
// more from the stream, which may overwrite the words.
func (st *Stream) gaussianBlock(dst []float64, words []byte) {
	var inside [bufferBytes / 64]uint8
	best.normals(dst, words, inside[:])
	var edges [blockNumbers]edge
	count := 0
	for i := 0; i < len(dst); i += 64 {
		left := ^binary.LittleEndian.Uint64(inside[i/8:])
		if len(dst)-i < 64 {
			left &= 1<<(len(dst)-i) - 1
		}
		for ; left != 0; left &= left - 1 {
			at := i + bits.TrailingZeros64(left)
			edges[count] = edge{uint16(at), binary.LittleEndian.Uint16(words[8*at:]) % layerCount}
			count++
		}
	}
	for _, e := range edges[:count] {
		x := dst[e.at]
		dst[e.at] = math.Copysign(st.gaussianEdge(int(e.layer), math.Abs(x)), x)
	}
}

// gaussianEdge finishes a draw that fell at x in the given layer outside the
// part that is wholly under the curve; where x is rejected it draws afresh.
// The sign was drawn before and is independent of the result.
func (st *Stream) gaussianEdge(layer int, x float64) float64 {
	for {
		if layer == 0 {
			return st.gaussianTail()
		}
		lo, hi := zigguratHeights[layer], zigguratHeights[layer+1]
		y := lo + float64(st.Float64()*(hi-lo))
		if -2*ln(y) > float64(x*x) {
			return x
		}
		word := st.Uint64()
		layer = int(word % layerCount)
		u := word >> 11
		x = float64(u) * layers[layer].width
		if u < layers[layer].inside {
			return x
		}
	}
}

// gaussianTail returns a normal number given that it exceeds the base layer's
// edge (Marsaglia 1964).
func (st *Stream) gaussianTail() float64 {
	r := zigguratEdges[1]
	for {
		x, y := st.exponential()/r, st.exponential()
		if y+y > float64(x*x) {
			return r + x
		}
	}
}
