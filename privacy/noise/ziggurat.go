package noise

import (
	"encoding/binary"
	"math"
)

//go:generate go test -run TestTableIsGenerated -update

// layer is one layer of the ziggurat as its fast path needs it: an integer u
// below 2^53 stands for x = u*width, which is under the curve if u < inside.
type layer struct {
	inside uint64
	width  float64
}

// layerCount is a power of two whose bits, the sign and 53 bits of position fill
// a word. Of 1024 layers one draw in 234 falls outside the fast path and costs as
// much as 50 inside, of 256 one in 80.
const layerCount = 1024

// layers is constant: one multiplication and one division of each table entry.
var layers = func() (t [layerCount]layer) {
	for i := range t {
		t[i].inside = uint64(zigguratEdges[i+1] / zigguratEdges[i] * 0x1p53)
		t[i].width = zigguratEdges[i] * 0x1p-53
	}
	return t
}()

// level is what a processor can do: generic everywhere, or wider on amd64. All
// give the same bits, for each operation is exact or an IEEE operation of float64.
//
// normals makes dst from one word of 8 bytes each: layer from bits 0 to 9, sign
// from bit 10, position from bits 11 to 63. Bit i%8 of inside[i/8] says whether
// number i is done.
//
// addNoise rounds each number of dst to the lattice of r and adds the normal one
// times ratio, rounded to an integer (ties to even), times step. Bit i%8 of
// done[i/8] says whether number i is done; a number whose word is not inside, or that
// is as far as limit from its integer, is left as it is.
type level uint8

const (
	generic level = iota
	avx2
	avx512
)

// best is chosen once. GODEBUG=cpu.avx512f=off and cpu.avx2=off choose lower ones.
// It is a value and no function pointer, so that what is passed stays on the stack.
var best = choose()

func normalsGeneric(dst []float64, words []byte, inside []uint8) {
	for len(dst) > 0 {
		n := min(len(dst), 8)
		done := uint8(0)
		for i := range dst[:n] {
			x, in := number(binary.LittleEndian.Uint64(words[8*i:]))
			dst[i] = x
			done |= uint8(in) << i
		}
		inside[0] = done
		dst, words, inside = dst[n:], words[8*n:], inside[1:]
	}
}

// number returns what a word stands for, and 1 if it is inside.
func number(word uint64) (x float64, inside uint64) {
	l := &layers[word%layerCount]
	// The sign is set by bit, for a branch on a random bit costs more than all the rest.
	bits := math.Float64bits(float64(int64(word>>11)) * l.width)
	return math.Float64frombits(bits | word<<53&(1<<63)), (word>>11 - l.inside) >> 63 // both are below 2^63
}

func addNoiseGeneric(dst []float32, words []byte, done []uint8, r *rounding) {
	for len(dst) > 0 {
		n := min(len(dst), 8)
		mask := uint8(0)
		for i, x := range dst[:n] {
			z, in := number(binary.LittleEndian.Uint64(words[8*i:]))
			t := float64(z * r.ratio)
			k := math.RoundToEven(t)
			if in == 1 && math.Abs(t-k) < r.limit {
				dst[i] = float32(r.roundTo(x) + float64(k*r.step))
				mask |= 1 << i
			}
		}
		done[0] = mask
		dst, words, done = dst[n:], words[8*n:], done[1:]
	}
}
