package noise

import (
	"encoding/binary"
	"math"
	"testing"
)

// levels are those that this processor can run.
func levels() []level {
	all := []level{generic, avx2, avx512}
	return all[:choose()+1]
}

// straight is the fast path as its comment states it, number by number.
func straight(word uint64) (x float64, inside bool) {
	l, u := word&1023, word>>11
	x = float64(u) * (zigguratEdges[l] * 0x1p-53)
	if word>>10&1 == 1 {
		x = -x
	}
	return x, u < uint64(zigguratEdges[l+1]/zigguratEdges[l]*0x1p53)
}

// edgeWords draws words, a quarter of them at the end of the inside of a layer,
// at 0 or at the largest position.
func edgeWords(st *Stream, n int) []byte {
	var out []byte
	for range n {
		word := st.Uint64()
		l := &layers[word%layerCount]
		u := word >> 11
		switch st.Uint64n(16) {
		case 0:
			u = l.inside
		case 1:
			u = l.inside - min(1, l.inside)
		case 2:
			u = 0
		case 3:
			u = 1<<53 - 1
		}
		out = binary.LittleEndian.AppendUint64(out, u<<11|word&2047)
	}
	return out
}

// TestNormalsOfAllLevels compares every level with the plain statement bit for
// bit, for lengths that leave every remainder of eight.
func TestNormalsOfAllLevels(t *testing.T) {
	st := testStream("levels")
	for _, v := range levels() {
		for n := range blockNumbers + 1 {
			words, dst := edgeWords(st, n), make([]float64, n+1)
			inside := make([]uint8, bufferBytes/64)
			dst[n] = 7
			v.normals(dst[:n], words, inside)
			for i := range n {
				want, done := straight(binary.LittleEndian.Uint64(words[8*i:]))
				if math.Float64bits(dst[i]) != math.Float64bits(want) || inside[i/8]>>(i%8)&1 == 1 != done {
					t.Fatalf("level %d, number %d of %d: %g, inside %08b; must be %g, %v", v, i, n, dst[i], inside[i/8], want, done)
				}
			}
			if dst[n] != 7 {
				t.Fatalf("level %d wrote past %d numbers", v, n)
			}
		}
	}
}

// TestAddRoundedOfAllLevels includes ties, sums above 2^24 steps and numbers too
// large for an integer.
func TestAddRoundedOfAllLevels(t *testing.T) {
	st := testStream("levels")
	for _, v := range levels() {
		for n := range 70 {
			normal, dst := make([]float64, n), make([]float32, n+1)
			st.Gaussian(normal)
			want, wantNear := make([]float32, n+1), false
			ties := st.Uint64n(2) // not in every slice, so that some have none
			for i := range normal {
				switch st.Uint64n(4) + ties {
				case 0:
					normal[i] = (math.Floor(normal[i]*8) + 0.5) * 0x1p-10 // a tie for the ratio below
				case 1:
					normal[i] *= 0x1p70
				}
				k := math.RoundToEven(normal[i] * 0x1p10)
				wantNear = wantNear || math.Abs(normal[i]*0x1p10-k) >= 0.4999
				dst[i] = float32(math.Ldexp(st.Float64()-0.5, int(st.Uint64n(40))))
				want[i] = float32(float64(dst[i]) + k*0.125)
			}
			near := v.addRounded(dst[:n], normal, 0x1p10, 0.125, 0.4999)
			if near != wantNear {
				t.Fatalf("level %d, %d numbers: near a middle %v, must be %v", v, n, near, wantNear)
			}
			for i := range want {
				if math.Float32bits(dst[i]) != math.Float32bits(want[i]) {
					t.Fatalf("level %d, number %d of %d: %g, must be %g", v, i, n, dst[i], want[i])
				}
			}
		}
	}
}

// TestGaussianTakesNoMemory: the blocks live on the stack.
func TestGaussianTakesNoMemory(t *testing.T) {
	st, x, y := testStream("memory"), make([]float64, 1000), make([]float32, 1000)
	if n := testing.AllocsPerRun(100, func() { st.Gaussian(x); st.LatticeGaussian(y, 1, 0x1p-10) }); n != 0 {
		t.Errorf("%g allocations, must be none", n)
	}
}
