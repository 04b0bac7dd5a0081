package noise

import (
	"math"
	"math/big"
	"testing"

	"weir/internal/stattest"
)

// TestNearestIsExact compares place and rounding with fractions: places of all
// layers and of the tail, ratios of every exponent.
func TestNearestIsExact(t *testing.T) {
	st := testStream("exact")
	for range 20000 {
		p := place{layer: int(st.Uint64n(layerCount+50)) - 50, u: st.Uint64() >> 11}
		if p.layer < 0 {
			p = place{layer: tailLayer, u: p.u, strip: -1 - p.layer}
		}
		v, r := st.Uint64(), newRounding(math.Ldexp(1+st.Float64(), int(st.Uint64n(51))-10))
		want := new(big.Rat).Mul(exactPlace(p, v), new(big.Rat).SetFloat64(r.ratio))
		if got := r.nearest(p.fixed(v)); big.NewInt(got).Cmp(floor(want.Add(want, big.NewRat(1, 2)))) != 0 {
			t.Fatalf("%+v, v %d, ratio %g: is %d, must be %s less a half", p, v, r.ratio, got, want.FloatString(20))
		}
	}
}

// exactPlace returns the number that lies v/2^64 into the interval.
func exactPlace(p place, v uint64) *big.Rat {
	position := new(big.Int).Lsh(new(big.Int).SetUint64(p.u), 64)
	position.Add(position, new(big.Int).SetUint64(v))
	x := new(big.Rat).SetFrac(position, new(big.Int).Lsh(big.NewInt(1), 117))
	if p.layer != tailLayer {
		return x.Mul(x, new(big.Rat).SetFloat64(zigguratEdges[p.layer]))
	}
	x.Mul(x.Add(x, big.NewRat(int64(p.strip), 1)), big.NewRat(1, 4))
	return x.Add(x, new(big.Rat).SetFloat64(zigguratEdges[1]))
}

func floor(x *big.Rat) *big.Int { return new(big.Int).Div(x.Num(), x.Denom()) }

// fast returns what was released before the low bits of a position were drawn.
func fast(r rounding, p place) int64 { return int64(math.RoundToEven(p.float() * r.ratio)) }

// length returns the share of the places of a layer or strip that round to k, by
// bisection: they are an interval.
func length(p place, k int64, round func(place, uint64) int64) float64 {
	first := func(k int64) *big.Int {
		lo, hi := new(big.Int), new(big.Int).Lsh(big.NewInt(1), 117) // round < k below lo, >= k from hi on
		for one := big.NewInt(1); lo.Cmp(hi) < 0; {
			mid := new(big.Int).Rsh(new(big.Int).Add(lo, hi), 1)
			p.u = new(big.Int).Rsh(mid, 64).Uint64()
			v := new(big.Int).And(mid, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
			if round(p, v) < k {
				lo = mid.Add(mid, one)
			} else {
				hi = mid
			}
		}
		return lo
	}
	n, _ := new(big.Float).SetInt(new(big.Int).Sub(first(k+1), first(k))).Float64()
	return n * 0x1p-117
}

// cellMass returns the probability of |noise| = k by the definition of the ziggurat,
// each layer or strip with its share of places.
func cellMass(k int64, r rounding, round func(place, uint64) int64) (sum float64) {
	x, f, e := float64(k)/r.ratio, zigguratHeights, zigguratEdges
	area := e[1]*math.Exp(-e[1]*e[1]/2) + math.Sqrt(math.Pi/2)*math.Erfc(e[1]/math.Sqrt2)
	accepted := math.Sqrt(math.Pi/2) / (layerCount * area)
	if x > e[1] {
		p := float64(tailCoin) * 0x1p-64
		all := 4 * (1 - p) * math.Sqrt(math.Pi/2) * math.Exp(e[1]*e[1]/2) * math.Erfc(e[1]/math.Sqrt2)
		strip := int((x - e[1]) * 4)
		t := x - e[1]
		part := length(place{layer: tailLayer, strip: strip}, k, round) * math.Pow(p, float64(strip)) * (1 - p)
		start := (1 - float64(layers[0].inside)*0x1p-53) / layerCount
		return start / accepted * part / all * math.Exp(-(e[1]*(t-float64(strip)/4) + t*t/2))
	}
	for i := 0; i < layerCount && e[i] > x; i++ {
		part := length(place{layer: i}, k, round)
		if e[i+1] < x {
			part *= (math.Exp(-x*x/2) - f[i]) / (f[i+1] - f[i])
		}
		sum += part / layerCount / accepted
	}
	return sum
}

// TestCellProbabilities computes, without drawing, the probability of lattice points
// at ratios up to the largest and compares it with the normal law: within
// CellError for what is released, beyond 2^-20 for the fast path alone from 2^32 on.
func TestCellProbabilities(t *testing.T) {
	st := testStream("cells")
	for _, ratio := range []float64{0x1p25, 0x1p32, 0x1.23456789p37, mostRatio} {
		r, worst, old := newRounding(ratio), 0.0, 0.0
		for i := range stattest.Rounds(8, 16) {
			x := st.Float64() * 4
			if i < 4 {
				x = 4.1 + st.Float64()*4
			}
			k := int64(x * ratio)
			mid := float64(k) / ratio
			want := math.Exp(-mid*mid/2) * math.Sqrt(2/math.Pi) / ratio * (1 + (mid*mid-1)/(24*ratio*ratio))
			worst = max(worst, math.Abs(cellMass(k, r, func(p place, v uint64) int64 { return r.nearest(p.fixed(v)) })/want-1))
			old = max(old, math.Abs(cellMass(k, r, func(p place, _ uint64) int64 { return fast(r, p) })/want-1))
		}
		t.Logf("ratio %g: error 2^%.1f, of the fast path alone 2^%.1f", ratio, math.Log2(worst), math.Log2(old))
		if worst > CellError || ratio >= 0x1p32 && old < 0x1p-20 {
			t.Errorf("ratio %g: cells are off by %g, must be at most %g; the fast path alone by %g, must be seen", ratio, worst,
				CellError, old)
		}
	}
}

// parityP returns the p-value of the parity of steps in 60 cells of the normal law.
func parityP(draw func(dst []int64), ratio float64) float64 {
	const n, cells = 1_000_000, 60
	counts, probabilities := make([]int, 2*cells), make([]float64, 2*cells)
	for i := range cells {
		low, high := float64(i-cells/2)/10, float64(i+1-cells/2)/10
		p := (math.Erfc(low/math.Sqrt2) - math.Erfc(high/math.Sqrt2)) / 4
		probabilities[2*i], probabilities[2*i+1] = p, p
	}
	dst := make([]int64, 200)
	for range n / len(dst) {
		draw(dst)
		for _, k := range dst {
			if i := int(math.Floor(float64(k)/ratio*10)) + cells/2; i >= 0 && i < cells {
				counts[2*i+int(k&1)]++
			}
		}
	}
	return stattest.ChiSquare(counts, probabilities, n)
}

// TestLowBitsAreDrawn at a ratio so high that all of them matter, where the fast
// path alone releases even integers from 2 sigma on: false-alarm rate 1e-6.
func TestLowBitsAreDrawn(t *testing.T) {
	const ratio = 0x1p52
	st, r := testStream("low bits"), newRounding(ratio)
	if p := parityP(func(dst []int64) { st.gaussianSteps(dst, &r) }, ratio); p < stattest.FalseAlarm {
		t.Errorf("p-value %g", p)
	}
	normal := make([]float64, 200)
	if p := parityP(func(dst []int64) {
		st.Gaussian(normal)
		for i, z := range normal {
			dst[i] = int64(math.RoundToEven(z * ratio))
		}
	}, ratio); p >= stattest.FalseAlarm {
		t.Errorf("the fast path alone: p-value %g, must be rejected", p)
	}
}

// TestPositionsAreUniform draws one interval again and again, of the base layer at a
// ratio at which it covers three integers: false-alarm rate 1e-6. Its start alone,
// always the same integer, is rejected.
func TestPositionsAreUniform(t *testing.T) {
	const n, word = 100_000, 12345678901 << 11
	st, r := testStream("interval"), newRounding(0x1p52)
	p := place{u: word >> 11}
	first := r.nearest(p.fixed(0))
	var counts, starts [4]int
	probabilities := make([]float64, len(counts))
	for range n {
		counts[st.steps(word, &r)-first]++
	}
	starts[0] = n
	for i := range probabilities {
		probabilities[i] = length(place{u: p.u}, first+int64(i), func(q place, v uint64) int64 {
			if q.u != p.u {
				return first + 1000*int64(q.u-p.u)
			}
			return r.nearest(q.fixed(v))
		}) * 0x1p53
	}
	if p := stattest.ChiSquare(counts[:], probabilities, n); p < stattest.FalseAlarm {
		t.Errorf("%v of %v: p-value %g", counts, probabilities, p)
	}
	if p := stattest.ChiSquare(starts[:], probabilities, n); p >= stattest.FalseAlarm {
		t.Errorf("the start alone: p-value %g, must be rejected", p)
	}
}
