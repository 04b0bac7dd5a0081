package noise

import (
	"encoding/binary"
	"math"
)

// layer is one layer of the ziggurat as its fast path needs it: an integer u
// below 2^53 stands for x = u*width, which is under the curve if u < inside.
type layer struct {
	inside uint64
	width  float64
}

// layers is constant: one multiplication and one division of each table entry.
var layers = func() (t [256]layer) {
	for i := range t {
		t[i].inside = uint64(zigguratEdges[i+1] / zigguratEdges[i] * 0x1p53)
		t[i].width = zigguratEdges[i] * 0x1p-53
	}
	return t
}()

// Gaussian fills dst with independent standard normal numbers, by a ziggurat of
// 256 layers with 53-bit positions (Marsaglia, Tsang 2000; Doornik 2005 for
// taking layer, sign and position from separate bits). There is no largest
// value: the tail is drawn from exponentials that have none.
//
// A position is a multiple of width, at most 3.92 * 2^-53. A cell of size h that
// is large beside that therefore has the probability of the normal law up to a
// factor within 1 +- 2^-50/h (positions counted in the cell, and boundaries
// moved by the rounding of ln, each at most a few positions). LatticeGaussian
// turns this into a statement about privacy.
func (st *Stream) Gaussian(dst []float64) {
	for len(dst) > 0 {
		if st.next > bufferBytes-8 {
			st.refill()
		}
		n := min(len(dst), (bufferBytes-st.next)/8)
		words := st.buf[st.next : st.next+8*n]
		st.next += 8 * n
		st.gaussianWords(dst[:n], words)
		dst = dst[n:]
	}
}

// gaussianWords makes dst from one word of 8 bytes each, of which there are at
// most bufferBytes/8. Draws outside the fast path, about one in eighty, wait
// until all words are used, because they take more from the stream, which may
// overwrite the words. The sign is set by bit, for a branch on a random bit
// costs more than all the rest.
func (st *Stream) gaussianWords(dst []float64, words []byte) {
	var slow [bufferBytes / 8]uint8
	count := 0
	for i := range dst {
		word := binary.LittleEndian.Uint64(words[8*i:])
		l := &layers[word&255]
		x := float64(int64(word>>11)) * l.width
		dst[i] = math.Float64frombits(math.Float64bits(x) | word<<55&(1<<63))
		if word>>11 >= l.inside {
			dst[i] = math.Float64frombits(word)
			slow[count&(len(slow)-1)] = uint8(i)
			count++
		}
	}
	for _, i := range slow[:count] {
		word := math.Float64bits(dst[i])
		x := st.gaussianEdge(int(word&255), float64(int64(word>>11))*layers[word&255].width)
		dst[i] = math.Float64frombits(math.Float64bits(x) | word<<55&(1<<63))
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
		layer = int(word & 255)
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
