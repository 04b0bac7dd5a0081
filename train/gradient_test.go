package train

import (
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"weir/privacy"
	"weir/privacy/noise"
	"weir/train/net"
)

var testKey = noise.Key{7} // deterministic keys: these tests cannot flake

func source(name string) *noise.Source { return noise.NewSource(testKey, name) }

// paid opens a mechanism under the test's key. It may continue from a checkpoint.
func paid(m privacy.Mechanism, name string) *privacy.Handle {
	return privacy.Open(privacy.Opening{Spend: name, Mechanism: m, Source: source(name), Drawn: 1 << 40})
}

// testGradient draws as step did, however often it is asked.
type testGradient struct {
	*gradient
	name string
}

func newTestGradient(o Objective, name string, clip float64) testGradient {
	return testGradient{newGradient(o, clip, 0), name}
}

func (g testGradient) compute(w []float32, index []int32, step int64, wantLoss bool) {
	var err error
	g.use, err = paid(DPSGD{Steps: 100}, g.name).Use(step)
	must(err)
	g.gradient.compute(w, index, wantLoss)
}

func numeric(columns ...[]float32) *Rows {
	r := NewRows(len(columns[0]))
	for _, c := range columns {
		must(r.Numeric(c))
	}
	return r
}

// normalRows returns n rows of d normal columns.
func normalRows(n, d int, seed uint64) *Rows {
	r := rand.New(rand.NewPCG(seed, 1))
	columns := make([][]float32, d)
	for j := range columns {
		for range n {
			columns[j] = append(columns[j], float32(r.NormFloat64()))
		}
	}
	return numeric(columns...)
}

func build(t testing.TB, in int, layers ...net.Layer) *net.Net {
	t.Helper()
	n, err := net.New(net.Spec{Inputs: in, Layers: layers})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func norm(x []float32) float64 {
	var s float64
	for _, v := range x {
		s += float64(v) * float64(v)
	}
	return math.Sqrt(s)
}

func all(n int) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = int32(i)
	}
	return out
}

// joins returns how many rows an example of an objective is.
func joins(o Objective) int {
	if j, ok := o.(joined); ok {
		return j.Joined()
	}
	return 0
}

// objectives returns one of each kind over the same rows of 4 columns.
func objectives(t testing.TB, rows *Rows) map[string]Objective {
	critic := build(t, 4, net.Dense(8), net.LeakyReLU(0.2), net.Dense(1))
	auto, err := Autoencoder(build(t, 4, net.Dense(6), net.Activation("tanh"), net.Dense(4)), rows, net.MSE)
	must(err)
	vae, err := NewVariational(build(t, 4, net.Dense(6), net.LeakyReLU(0), net.Dense(4)), build(t, 2, net.Dense(5),
		net.Activation("tanh"), net.Dense(4)), rows, net.MSE, 0.1)
	must(err)
	gen := build(t, 3, net.Dense(4))
	partner := net.NewMatrix(1, 4) // one row, so that no draw tells examples apart
	copy(partner.Row(0), []float32{0.5, -0.2, 0.3, 1})
	byLabel, _ := labelled(t, rows)
	convolved := build(t, 4, net.Layer{Type: "conv1d", Channels: 1, Filters: 2, Kernel: 2, Stride: 1}, net.LeakyReLU(0.2),
		net.Layer{Type: "conv1d_transpose", Channels: 2, Filters: 1, Kernel: 2, Stride: 1}, net.Dense(1))
	return map[string]Objective{
		"convolved": realScore{convolved, rows, net.Wasserstein}, "convolved pairs": &paired{critic: convolved, rows: rows,
			pool: partner},
		"by label": byLabel,
		"paired":   &paired{critic: critic, rows: rows, pool: partner},
		"critic":   realScore{critic, rows, net.Wasserstein}, "autoencoder": auto, "variational": vae,
		"penalised": &penalised{critic: critic, gen: gen, rows: rows, generator: gen.Init(rand.New(rand.NewPCG(1, 1))),
			weight: 10},
	}
}

func start(o Objective) []float32 {
	r := rand.New(rand.NewPCG(9, 9))
	w := make([]float32, o.Params())
	for i := range w {
		w[i] = float32(r.NormFloat64())
	}
	return w
}

// adversarial returns rows of 4 columns that try to break a clip, and their number.
func adversarial() (*Rows, int) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	rows := [][]float32{
		{1, 2, 3, 4}, {1e5, -1e5, 1e5, 1e5}, {1e18, 1, 1, 1}, {1e19, 1e19, -1e19, 1e19}, {3e38, 3e38, 3e38, 3e38},
		{-3e38, 0, 0, 0},
		{nan, 0, 0, 0}, {0, inf, 0, 0}, {-inf, inf, nan, 1}, {1e-40, -1e-45, 0, 0}, {0, 0, 0, 0}, {1e-20, 1e20, 1e-20, 1e20},
	}
	columns := make([][]float32, 4)
	for _, row := range rows {
		for j, v := range row {
			columns[j] = append(columns[j], v)
		}
	}
	return numeric(columns...), len(rows)
}

// TestClipNeverExceeds: whatever the row, its contribution is finite and its norm,
// measured in float64 on the materialised gradient, at most max_grad_norm.
func TestClipNeverExceeds(t *testing.T) {
	rows, n := adversarial()
	for name, o := range objectives(t, rows) {
		w := start(o)
		for _, clip := range []float64{1e-6, 0.5, 1, 1e6} {
			g := newTestGradient(o, name, clip)
			for i := range n {
				g.compute(w, []int32{int32(i)}, 0, false)
				if got := norm(g.sum); !(got <= clip) {
					t.Errorf("%s: row %d clipped to %g has norm %g", name, i, clip, got)
				}
			}
			g.compute(w, nil, 0, false)
			if norm(g.sum) != 0 {
				t.Errorf("%s: an empty batch has a gradient", name)
			}
			g.compute(w, all(n), 0, false)
			if got := norm(g.sum); !(got <= clip*float64(n)) {
				t.Errorf("%s: %d rows clipped to %g sum to norm %g", name, n, clip, got)
			}
		}
	}
}

// TestNonFiniteRowsCountAsZero: rows that are not finite leave the sum of the
// others as it is, bit for bit.
func TestNonFiniteRowsCountAsZero(t *testing.T) {
	rows, _ := adversarial()
	for name, o := range objectives(t, rows) {
		if name == "penalised" || name == "variational" {
			continue // their secret draws depend on the place in the chunk
		}
		w := start(o)
		g := newTestGradient(o, name, 1)
		g.compute(w, []int32{0, 1, 10}, 0, false)
		want := append([]float32(nil), g.sum...)
		g.compute(w, []int32{0, 6, 1, 7, 8, 10}, 0, false)
		for i := range want {
			if g.sum[i] != want[i] {
				t.Fatalf("%s: weight %d: %g with non-finite rows, %g without", name, i, g.sum[i], want[i])
			}
		}
	}
}

// TestClippedSum compares with each example's own gradient, clipped in float64 and added up,
// whether it is summed with others or, where its parts cancel, on its own; 1e-5 is float32. The
// batch spans chunks. A clip of 1 binds for some rows only.
func TestClippedSum(t *testing.T) {
	const n = 2*chunkRows + 50
	rows := normalRows(n, 4, 3)
	for name, o := range objectives(t, rows) {
		if name == "penalised" || name == "variational" {
			continue // one by one they draw otherwise
		}
		w := start(o)
		each := newTestGradient(o, name, math.Inf(1))
		want := make([]float64, o.Params())
		bound := 0
		for i := range n {
			each.compute(w, []int32{int32(i)}, 0, false)
			c := math.Min(1, 1/norm(each.sum))
			if c < 1 {
				bound++
			}
			for j, v := range each.sum {
				want[j] += c * float64(v)
			}
		}
		if bound == 0 {
			t.Fatalf("%s: the clip binds for no row, the test shows nothing", name)
		}
		g := newTestGradient(o, name, 1)
		if g.rows == joinedRows {
			g.parts = 5
		}
		g.compute(w, all(n), 0, false)
		tolerance := 1e-5 * n
		if name == "paired" {
			tolerance *= 3 // its two rows cancel, so that norms are raised by more of normSlack
		}
		for j, v := range g.sum {
			if math.Abs(float64(v)-want[j]) > tolerance {
				t.Fatalf("%s: weight %d: %g, want %g", name, j, v, want[j])
			}
		}
	}
}

// TestBitsDoNotDependOnCores covers chunks of one step on one and two cores.
func TestBitsDoNotDependOnCores(t *testing.T) {
	const n = 5*chunkRows + 1
	rows := normalRows(n, 4, 5)
	for name, o := range objectives(t, rows) {
		w := start(o)
		var sums [2][]float32
		for k := range sums {
			old := runtime.GOMAXPROCS(k + 1)
			g := newTestGradient(o, name, 1)
			g.compute(w, all(n), 3, true)
			sums[k] = g.sum
			runtime.GOMAXPROCS(old)
		}
		same(t, name, sums[0], sums[1])
	}
}

func same(t *testing.T, what string, a, b []float32) {
	t.Helper()
	if len(a) != len(b) {
		t.Fatalf("%s: %d and %d numbers", what, len(a), len(b))
	}
	for i := range a {
		if math.Float32bits(a[i]) != math.Float32bits(b[i]) {
			t.Fatalf("%s: number %d: %g and %g", what, i, a[i], b[i])
		}
	}
}

// TestPairsAddUpToOneRow: n rows of one clip, then as many of the float32 just
// below one. A neighbour has one row more, so the sums must differ by one clip: to
// 2^-22 as DPSGD.lattice says. A plain float64 sum, whose later additions round by
// where it stands, is off by more.
func TestPairsAddUpToOneRow(t *testing.T) {
	const n = 1 << 22
	row := -float64(math.Float32frombits(math.Float32bits(1)-1)) * 0x1p-30
	sums := func(first float64) (plain, pair float64) {
		high, low := first*n, 0.0
		plain = first * n
		for range n {
			plain += row
			high, low = addPair(high, low, row)
		}
		return plain, high + low
	}
	plain, pair := sums(1)
	morePlain, morePair := sums(1 + 1.0/n) // one row more
	if off := math.Abs(morePair - pair - 1); off > 0x1p-22 {
		t.Errorf("pairs differ by one clip and %g, at most %g", off, 0x1p-22)
	}
	if off := math.Abs(morePlain - plain - 1); off < 0x1p-30 {
		t.Logf("a plain sum is off by %g here", off)
	}
	high, low := 1.0, 0.0
	for range 1 << 20 { // each addend is below half an ulp: a plain sum never moves
		high, low = addPair(high, low, 0x1p-54)
	}
	if got := high - 1 + low; math.Abs(got/0x1p-34-1) > 1e-9 {
		t.Errorf("2^20 times 2^-54 comes to %g, must be %g", got, 0x1p-34)
	}
}
