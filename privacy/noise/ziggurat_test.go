package noise

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"testing"
)

// levels returns those that this processor can run.
func levels() []level {
	all := []level{generic, avx2, avx512}
	return all[:choose()+1]
}

// straight returns the fast path as its comment states it, number by number.
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

// TestAddNoiseOfAllLevels compares with the plain statement: sums off the lattice, on
// it, ties, -0 and above 2^24 steps; at the largest ratio one number in some hundred is near a
// middle.
func TestAddNoiseOfAllLevels(t *testing.T) {
	st := testStream("levels")
	near := 0
	for _, v := range levels() {
		for n := range blockNumbers + 1 {
			r := mustRounding([]float64{1, 0x1.3p39, 0x1p-9}[n%3], 1)
			r.step, r.inverse = 0.125, 8
			words, dst, want := edgeWords(st, n), make([]float32, n+1), make([]float32, n+1)
			done, wantDone := make([]uint8, bufferBytes/64), make([]uint8, bufferBytes/64)
			for i := range dst {
				dst[i] = float32(math.Ldexp(st.Float64()-0.5, int(st.Uint64n(40))-8))
				switch st.Uint64n(8) {
				case 0:
					dst[i] = float32(math.Floor(float64(dst[i]))) + 0.0625
				case 1:
					dst[i] = float32(math.Copysign(0, -1))
				}
				want[i] = dst[i]
				if i == n {
					break
				}
				z, inside := straight(binary.LittleEndian.Uint64(words[8*i:]))
				k := math.RoundToEven(z * r.ratio)
				far := math.Abs(z*r.ratio-k) < r.limit
				if inside && far {
					want[i] = float32(math.RoundToEven(float64(dst[i])*8)*0.125 + k*0.125)
					wantDone[i/8] |= 1 << (i % 8)
				} else if inside {
					near++
				}
			}
			v.addNoise(dst[:n], words, done, &r)
			for i := range want {
				if math.Float32bits(dst[i]) != math.Float32bits(want[i]) {
					t.Fatalf("level %d, number %d of %d: %g, must be %g", v, i, n, dst[i], want[i])
				}
			}
			if !bytes.Equal(done, wantDone) {
				t.Fatalf("level %d, %d numbers: done %08b, must be %08b", v, n, done, wantDone)
			}
		}
	}
	if near == 0 {
		t.Error("no number was near a middle")
	}
}

// TestLatticeGaussianIsRoundAndAdd compares what is fused with its parts: the same
// noise as IntegerGaussian draws, on the sum rounded by RoundToLattice. A third of the
// numbers at the largest ratio wait, so the order in which they are finished shows.
func TestLatticeGaussianIsRoundAndAdd(t *testing.T) {
	for _, ratio := range []float64{0.01, 37, 0x1.8p17, mostRatio} {
		for _, n := range []int{1, 7, 240, 1000} {
			const step = 0x1p-9
			sum, k := make([]float32, n), make([]int64, n)
			a, b := testStream("fused"), testStream("fused")
			for i := range sum {
				sum[i] = float32(a.Float64() - 0.5)
				b.Float64()
			}
			want := slices.Clone(sum)
			RoundToLattice(want, step)
			b.IntegerGaussian(k, ratio)
			a.LatticeGaussian(sum, ratio*step, step)
			for i := range want {
				if v := float32(float64(want[i]) + float64(k[i])*step); v != sum[i] {
					t.Fatalf("ratio %g, number %d of %d: %g, must be %g", ratio, i, n, sum[i], v)
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
