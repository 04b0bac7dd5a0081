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
// addRounded adds to each number of dst the normal one times ratio, rounded to an
// integer (ties to even), times step. It reports whether any was as far as limit
// from its integer.
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
			word := binary.LittleEndian.Uint64(words[8*i:])
			l := &layers[word%layerCount]
			// The sign is set by bit, for a branch on a random bit costs more than all the rest.
			x := math.Float64bits(float64(int64(word>>11)) * l.width)
			dst[i] = math.Float64frombits(x | word<<53&(1<<63))
			done |= uint8((word>>11-l.inside)>>63) << i // both are below 2^63
		}
		inside[0] = done
		dst, words, inside = dst[n:], words[8*n:], inside[1:]
	}
}

func addRoundedGeneric(dst []float32, normal []float64, ratio, step, limit float64) (near bool) {
	for i, z := range normal[:len(dst)] {
		t := float64(z * ratio)
		k := math.RoundToEven(t)
		dst[i] = float32(float64(dst[i]) + float64(k*step))
		near = near || math.Abs(t-k) >= limit
	}
	return near
}
