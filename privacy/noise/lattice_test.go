package noise

import (
	"math"
	"testing"

	"weir/internal/stattest"
)

func TestRoundToLattice(t *testing.T) {
	st := testStream("round")
	for _, step := range []float64{0x1p-20, 0x1p-3, 1, 0x1p5} {
		for range 20000 {
			x := float32((st.Float64() - 0.5) * step * math.Exp2(float64(st.Uint64n(40))))
			got := []float32{x}
			RoundToLattice(got, step)
			v := float64(got[0])
			if math.Mod(v, step) != 0 || math.Abs(v-float64(x)) > step/2 {
				t.Fatalf("step %g: %g becomes %g", step, x, v)
			}
		}
	}
	broken := []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), math.MaxFloat32}
	RoundToLattice(broken, 1)
	if broken[0] != 0 || broken[1] != 0 || broken[2] != 0 || broken[3] != math.MaxFloat32 {
		t.Errorf("NaN, Inf, -Inf, max become %v, must become 0, 0, 0, max", broken)
	}
}

// TestLatticePaysForRounding attacks the bound: two neighbouring sums, added up
// in float32 in the worst direction found by random search, must stay within
// Bound after rounding.
func TestLatticePaysForRounding(t *testing.T) {
	const dim, rows, bound = 300, 64, 1.0
	l, err := NewLattice(bound, 1, dim, rows)
	if err != nil {
		t.Fatal(err)
	}
	if l.Clip >= bound || l.Clip < 0.99*bound {
		t.Fatalf("clip is %g, must be just below %g", l.Clip, bound)
	}
	st, worst := testStream("clip"), 0.0
	for range 200 {
		a, b := neighbourSums(st, l.Clip, dim, rows)
		RoundToLattice(a, l.Step)
		RoundToLattice(b, l.Step)
		distance := 0.0
		for i := range a {
			distance += (float64(a[i]) - float64(b[i])) * (float64(a[i]) - float64(b[i]))
		}
		worst = max(worst, math.Sqrt(distance))
	}
	if worst > bound || worst <= l.Clip {
		t.Errorf("largest distance is %.9g, must exceed the clip %.9g (rounding does cost) and stay within %g", worst, l.Clip,
			bound)
	}
}

// neighbourSums returns the float32 sums of rows contributions of norm clip with
// and without the last; the last points away from the rounding of the others.
func neighbourSums(st *Stream, clip float64, dim, rows int) (including, excluded []float32) {
	including, excluded = make([]float32, dim), make([]float32, dim)
	v := make([]float64, dim)
	for range rows {
		st.Gaussian(v)
		norm := 0.0
		for _, x := range v {
			norm += x * x
		}
		copy(excluded, including)
		for i, x := range v {
			including[i] += float32(clip * x / math.Sqrt(norm))
		}
	}
	step := LatticeStep(1, 1, dim)
	for i := range including {
		d := including[i] - excluded[i]
		excluded[i] = float32(math.Floor(float64(excluded[i])/step)*step) + float32(0.499*step)
		including[i] = excluded[i] + d
	}
	return including, excluded
}

func TestLatticeRefusesNonsense(t *testing.T) {
	for _, c := range [][4]float64{{0, 1, 1, 1}, {1, 0, 1, 1}, {math.NaN(), 1, 1, 1}, {1, math.Inf(1), 1, 1}, {1, 1, 0, 1},
		{1, 1, 1, -1}, {1, 1, 1, 1e5}, {1e-300, 1, 1, 1}} {
		if l, err := NewLattice(c[0], c[1], int(c[2]), int(c[3])); err == nil {
			t.Errorf("NewLattice%v = %+v, must refuse", c, l)
		}
	}
}

// latticeP returns the p-value that noise added to q is the rounded normal law.
func latticeP(purpose string, q float32, sigma, step float64, spoil func(k int) int) float64 {
	const n, span = 1_000_000, 300
	counts, probabilities := make([]int, 2*span+1), make([]float64, 2*span+1)
	for k := -span; k <= span; k++ {
		a, b := (float64(k)-0.5)*step/sigma, (float64(k)+0.5)*step/sigma
		probabilities[k+span] = (math.Erfc(a/math.Sqrt2) - math.Erfc(b/math.Sqrt2)) / 2
	}
	st, dst := testStream(purpose), make([]float32, 1000)
	for range n / len(dst) {
		for i := range dst {
			dst[i] = q
		}
		st.LatticeGaussian(dst, sigma, step)
		for _, x := range dst {
			k := spoil(int((float64(x) - float64(q)) / step))
			counts[min(max(k+span, 0), 2*span)]++
		}
	}
	return stattest.ChiSquare(counts, probabilities, n)
}

// TestLatticeGaussianLaw: false-alarm rate 1e-6.
func TestLatticeGaussianLaw(t *testing.T) {
	same := func(k int) int { return k }
	for _, q := range []float32{0, 1024.5, -3} {
		for _, sigma := range []float64{0.7, 3.25, 30} {
			if p := latticeP("law", q, sigma, 0.5, same); p < stattest.FalseAlarm {
				t.Errorf("q %g, sigma %g: p-value %g", q, sigma, p)
			}
		}
	}
	down := func(k int) int { // rounding down instead of to nearest, one time in fifty
		if k%50 == 7 {
			return k - 1
		}
		return k
	}
	if p := latticeP("law", 0, 30, 0.5, down); p >= stattest.FalseAlarm {
		t.Errorf("biased rounding: p-value %g, must be rejected", p)
	}
	if p := latticeP("law", 0, 0.9*3.25, 0.5, same); p < stattest.FalseAlarm {
		t.Errorf("p-value %g", p)
	}
	if p := latticeP("law", 0, 3.25, 0.5, func(k int) int { return int(math.RoundToEven(0.9 * float64(k))) }); p >=
		stattest.FalseAlarm {
		t.Errorf("noise x 0.9: p-value %g, must be rejected", p)
	}
}

func TestLatticeGaussianStaysOnLattice(t *testing.T) {
	dst := make([]float32, 5000)
	st := testStream("stay")
	for i := range dst {
		dst[i] = float32(st.Float64()*128 - 64)
	}
	const step = 0x1p-17
	RoundToLattice(dst, step)
	st.LatticeGaussian(dst, 1.1, step)
	for _, x := range dst {
		if math.Mod(float64(x), step) != 0 {
			t.Fatalf("%g is not a multiple of 2^-17", x)
		}
	}
}

func TestLatticeGaussianRefusesOtherSteps(t *testing.T) {
	for _, step := range []float64{0, 0.3, -1, math.NaN(), math.Inf(1), 0x1p11, 0x1p-41} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("step %g is accepted", step)
				}
			}()
			testStream("x").LatticeGaussian(make([]float32, 1), 1, step)
		}()
	}
}

// TestLatticeWorstRounding builds, for every dimension, the pair of sums that
// rounding drives furthest apart: each coordinate gains almost a whole step.
func TestLatticeWorstRounding(t *testing.T) {
	for dim := 1; dim < 3000; dim += 7 {
		l, err := NewLattice(1, 1, dim, 0)
		if err != nil {
			t.Fatal(err)
		}
		root := math.Sqrt(float64(dim))
		m := math.Floor(l.Clip*(1+clipSlack)/(l.Step*root) - 0.01)
		a := []float32{float32(0.495 * l.Step)}
		b := []float32{float32((0.495 + m + 0.01) * l.Step)}
		RoundToLattice(a, l.Step)
		RoundToLattice(b, l.Step)
		if distance := float64(b[0]-a[0]) * root; distance > 1 || distance < 0.99 {
			t.Fatalf("dim %d: rounded sums are %.9g apart, must be near and at most 1", dim, distance)
		}
	}
}

// TestLatticesOfBothWidths: of equal streams float64 and integers get the noise that
// float32 gets, also where the low bits of many numbers matter.
func TestLatticesOfBothWidths(t *testing.T) {
	for _, sigma := range []float64{0.3, 1, 37.5, 0x1.6p18} {
		narrow, wide, whole := make([]float32, 3001), make([]float64, 3001), make([]int64, 3001)
		testStream("both").LatticeGaussian(narrow, sigma, 0.25)
		testStream("both").LatticeGaussian64(wide, sigma, 0.25)
		testStream("both").IntegerGaussian(whole, 4*sigma)
		for i := range narrow {
			if float64(narrow[i]) != wide[i] || wide[i] != float64(whole[i])/4 {
				t.Fatalf("sigma %g, number %d: %g, %g and %d/4", sigma, i, narrow[i], wide[i], whole[i])
			}
		}
	}
	narrow, wide := make([]float32, 3000), make([]float64, 3000)
	testStream("both").LatticeGaussian(narrow, 0x1p34, 0x1p-6)
	testStream("both").LatticeGaussian64(wide, 0x1p34, 0x1p-6)
	for i := range narrow {
		if narrow[i] != float32(wide[i]) {
			t.Fatalf("ratio 2^40, number %d: %g, must be %g rounded", i, narrow[i], wide[i])
		}
	}
}

// TestExcess holds the statement of Excess to numbers: 2 billion numbers of a long
// training cost below 1e-7, and the formula is the one of strong composition.
func TestExcess(t *testing.T) {
	l, err := NewLattice(1, 4096, 1<<20, 64) // sigma/step 2^32
	if err != nil || 4096/l.Step < 0x1p32 {
		t.Fatalf("lattice %+v, %v", l, err)
	}
	if e := l.Excess(2e9, 1e-30); e > 1e-7 || e < 1e-9 {
		t.Errorf("excess of 2e9 numbers is %g", e)
	}
	// 2 (e sqrt(2 m ln 1e12) + m e^2), e = 2^-44, m = 1e6, by mpmath
	if e := l.Excess(1e6, 1e-12); math.Abs(e/8.4513026e-10-1) > 1e-7 {
		t.Errorf("excess of 1e6 numbers is %.6g", e)
	}
	if _, err := NewLattice(1, 0x1p31, 1, 0); err == nil {
		t.Error("a lattice with sigma/step above 2^40 must be refused")
	}
	if _, err := NewLattice(1, 0x1p29, 1, 0); err != nil {
		t.Error(err)
	}
}
