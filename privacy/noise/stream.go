package noise

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/bits"

	"weir/internal/bitmath"
)

// bufferBytes is the amount of key stream made at a time: enough for the eight
// blocks in flight of AES-NI, small enough to stay in the first-level cache.
const bufferBytes = 2048

// Stream is one sequence of random numbers. It implements math/rand/v2.Source.
// It is not safe for use by several goroutines at once; take one for each.
type Stream struct {
	ctr  cipher.Stream
	next int // first unused byte of buf
	buf  [bufferBytes]byte

	pending []pending // of the block being drawn
	few     [8]pending
}

func newStream(key []byte) *Stream {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // a key of 32 bytes is always valid
	}
	st := &Stream{ctr: cipher.NewCTR(block, make([]byte, aes.BlockSize)), next: bufferBytes}
	st.pending = st.few[:0]
	return st
}

// zeros is what the key stream is added to; nobody writes it.
var zeros [bufferBytes]byte

func (st *Stream) refill() {
	st.ctr.XORKeyStream(st.buf[:], zeros[:])
	st.next = 0
}

// Uint64 returns 64 uniform bits.
func (st *Stream) Uint64() uint64 {
	if st.next > bufferBytes-8 {
		st.refill()
	}
	v := binary.LittleEndian.Uint64(st.buf[st.next:])
	st.next += 8
	return v
}

// Float64 returns a uniform multiple of 2^-53 in [0, 1).
func (st *Stream) Float64() float64 { return float64(st.Uint64()>>11) * 0x1p-53 }

// Uint64n returns a uniform integer in [0, n), without bias (Lemire 2019). It
// returns 0 for n of 0 or 1.
func (st *Stream) Uint64n(n uint64) uint64 {
	for {
		integer, fraction := bits.Mul64(st.Uint64(), n)
		if fraction >= n || fraction >= -n%n { // 2^64 mod n fractions belong to no integer; the first saves a division
			return integer
		}
	}
}

// unit returns a uniform number in (0, 1) rounded down to 53 significant bits,
// however small: the exponent is drawn first, as a count of zero bits. Unlike
// Float64 it has full relative precision near 0, so that its logarithm has no
// missing tail.
func (st *Stream) unit() float64 {
	scale := 0x1p-53
	word := st.Uint64()
	for word == 0 && scale > 0x1p-900 {
		scale *= 0x1p-64
		word = st.Uint64()
	}
	for zeros := bits.LeadingZeros64(word); zeros > 0; zeros-- {
		scale *= 0.5
	}
	return float64(1<<52|st.Uint64()>>12) * scale
}

// exponential returns a standard exponential number to 53 significant bits near
// 0 and above 1 alike: U and 1-U are drawn apart, each from its small end.
func (st *Stream) exponential() float64 {
	small := st.unit() / 2
	if st.Uint64()&1 == 0 {
		return -bitmath.Log(small)
	}
	return -ln1m(small)
}

// Format prints that it is a stream and none of its state.
func (st *Stream) Format(f fmt.State, _ rune) { io.WriteString(f, "noise stream") }

// Poisson returns in dst[:0], grown as needed, the rows of [0, n) that a Poisson
// sample takes: each row independently with probability q, ascending. No row is
// taken for q <= 0 (or NaN), all for q >= 1. n must be below 2^31.
//
// From q = 1/4 up each row compares q with 64 random bits, which is exact for
// every float64 in that range. Below, the gap to the next row is geometric,
// floor(E / -ln(1-q)) with E exponential. E and the quotient are good to a
// relative 2^-50, so Pr(gap = k) is right to a relative 2^-50 (k+1): for q = 0.002
// the rate at which a row is taken is q within one part in 10^12, for q = 1e-9
// within one in 10^6.
func (st *Stream) Poisson(dst []int32, n int, q float64) []int32 {
	dst = dst[:0]
	switch {
	case !(q > 0):
		return dst
	case q >= 1:
		for i := range n {
			dst = append(dst, int32(i))
		}
		return dst
	case q >= 0.25:
		return st.poissonDense(dst, n, q)
	}
	return st.poissonSparse(dst, n, q)
}

func (st *Stream) poissonDense(dst []int32, n int, q float64) []int32 {
	threshold := uint64(q * 0x1p64)
	for i := range n {
		if st.Uint64() < threshold {
			dst = append(dst, int32(i))
		}
	}
	return dst
}

// poissonSparse jumps from row taken to row taken.
func (st *Stream) poissonSparse(dst []int32, n int, q float64) []int32 {
	per := -ln1m(q)
	for i := 0; i < n; i++ {
		gap := math.Floor(st.exponential() / per)
		if gap >= float64(n-i) {
			break
		}
		i += int(gap)
		dst = append(dst, int32(i))
	}
	return dst
}

// ln1m returns ln(1-q) for q in (0, 1) to a few units in the last place, by the
// correction for the rounding of 1-q of Goldberg 1991, theorem 4.
func ln1m(q float64) float64 {
	w := 1 - q
	if w == 1 {
		return -q
	}
	return float64(bitmath.Log(w)*q) / (1 - w)
}
