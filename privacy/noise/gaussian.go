package noise

import (
	"encoding/binary"
	"math"
	"math/bits"

	"weir/internal/bitmath"
)

// Gaussian fills dst with independent standard normal numbers, by a ziggurat of
// 1024 layers with 53-bit positions (Marsaglia, Tsang 2000; Doornik 2005 for
// taking layer, sign and position from separate bits). There is no largest
// value: the tail is drawn from strips that have no last one.
//
// The numbers are float64 and lie on the positions of their layers, so what is
// released must not be a function of their low bits. LatticeGaussian draws the rest
// of a position where it matters and makes a statement about privacy.
func (st *Stream) Gaussian(dst []float64) {
	for len(dst) > 0 {
		n := min(len(dst), blockNumbers)
		st.normals(dst[:n])
		for _, e := range st.pending {
			x := st.finish(e.word).float()
			dst[e.at] = math.Float64frombits(math.Float64bits(x) | e.word<<53&(1<<63))
		}
		dst = dst[n:]
	}
}

// blockNumbers is how many numbers are drawn at a time: what a refill holds less
// 16 words, of which the draws outside the fast path take about one. A block
// for which the rest of the buffer is too small skips it; that depends on what
// was drawn before only, so the words used are as random as any.
const blockNumbers = bufferBytes/8 - 16

// pending is a number of a block that needs more than its word.
type pending struct {
	at   int
	word uint64
}

// words returns one word of 8 bytes for each of n numbers, at most blockNumbers.
// They hold until the next draw.
func (st *Stream) words(n int) []byte {
	if st.next > bufferBytes-8*n {
		st.refill()
	}
	words := st.buf[st.next : st.next+8*n]
	st.next += len(words)
	return words
}

// normals makes dst, at most blockNumbers, from the words that it returns. Numbers
// outside the fast path become 0 and wait in st.pending until all words are used,
// because they take more from the stream, which may overwrite the words.
func (st *Stream) normals(dst []float64) (words []byte) {
	words = st.words(len(dst))
	var inside [bufferBytes / 64]uint8
	best.normals(dst, words, inside[:])
	st.waitRest(words, inside[:])
	for _, p := range st.pending {
		dst[p.at] = 0
	}
	return words
}

// waitRest makes st.pending the numbers that are not done.
func (st *Stream) waitRest(words []byte, done []uint8) {
	st.pending = st.pending[:0]
	n := len(words) / 8
	for i := 0; i < n; i += 64 {
		left := ^binary.LittleEndian.Uint64(done[i/8:])
		if n-i < 64 {
			left &= 1<<(n-i) - 1
		}
		for ; left != 0; left &= left - 1 {
			st.wait(i+bits.TrailingZeros64(left), words)
		}
	}
}

func (st *Stream) wait(at int, words []byte) {
	st.pending = append(st.pending, pending{at, binary.LittleEndian.Uint64(words[8*at:])})
}

// finish returns where the draw that began with word ends: there, if that is in
// the part of its layer that is wholly under the curve, or else wherever the
// curve accepts it or a draw after it. The sign was drawn before and is
// independent of the result.
func (st *Stream) finish(word uint64) place {
	for {
		layer, u := int(word%layerCount), word>>11
		switch {
		case u < layers[layer].inside:
			return place{layer: layer, u: u}
		case layer == 0:
			return st.tail()
		}
		lo, hi := zigguratHeights[layer], zigguratHeights[layer+1]
		x, y := float64(u)*layers[layer].width, lo+float64(st.Float64()*(hi-lo))
		if -2*bitmath.Log(y) > float64(x*x) {
			return place{layer: layer, u: u}
		}
		word = st.Uint64()
	}
}

// place is where a normal draw fell, its sign apart: in the u-th of 2^53 equal
// intervals of a layer's width or of a strip of the tail. The number drawn is
// uniform in that interval; its place in there is up to those who need it.
type place struct {
	layer int
	u     uint64
	strip int // for layer == tailLayer
}

// tailLayer marks a place beyond the base layer's edge.
const tailLayer = -1

// tail returns a place of a normal number given that it exceeds r = zigguratEdges[1] =
// 4.04: a strip by coins, a position, and acceptance of r + t, t = (j + U)/4, with what is
// left of the density, exp(-(r U/4 + t^2/2)). Strip j is [r + j/4, r + (j+1)/4). Its
// proposal is uniform, with exp(-r/4) to the power of j for its weight.
func (st *Stream) tail() place {
	for {
		p := place{layer: tailLayer}
		for st.Uint64() < tailCoin {
			p.strip++
		}
		p.u = st.Uint64() >> 11
		part := float64(float64(p.u) * 0x1p-55)
		t := float64(float64(p.strip)/4) + part
		if -bitmath.Log(st.unit()) > float64(zigguratEdges[1]*part)+float64(float64(t*t)/2) {
			return p
		}
	}
}

// float returns the near end of the interval, rounded.
func (p place) float() float64 {
	if p.layer == tailLayer {
		return zigguratEdges[1] + (float64(float64(p.strip)/4) + float64(float64(p.u)*0x1p-55))
	}
	return float64(p.u) * layers[p.layer].width
}

// placeBits is the resolution of fixed: every edge of the table is a multiple of
// 2^-58 below 2^3, and u a multiple of 2^-53 of it.
const placeBits = 58 + 53

// fixed returns floor(x 2^placeBits) for the number x that lies v/2^64 into the
// interval. All integers but v's product are exact, so the intervals of a layer
// join without gap or overlap.
func (p place) fixed(v uint64) wide {
	if p.layer == tailLayer {
		edge := uint64(zigguratEdges[1] * 0x1p50)
		lo, carry := bits.Add64(edge<<61, p.u<<56|v>>8, 0)
		return wide{edge>>3 + uint64(p.strip)<<45 + p.u>>8 + carry, lo}
	}
	edge := uint64(zigguratEdges[p.layer] * 0x1p58)
	part, _ := bits.Mul64(v, edge)
	hi, lo := bits.Mul64(p.u, edge)
	lo, carry := bits.Add64(lo, part, 0)
	return wide{hi + carry, lo}
}
