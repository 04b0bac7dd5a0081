package kernel

import (
	"fmt"
	"math"
	"testing"
)

// A run gives every element-wise kernel one form: from inputs to
// all that it wrote; in[4] is free for an output.
type run func(k *table, in [5][]float32) [][]float32

func fresh(in []float32) []float32 { return make([]float32, len(in)) }

var runs = map[string]run{
	"leakyReLU": func(k *table, in [5][]float32) [][]float32 {
		d := in[4]
		k.leakyReLU(d, in[0], 0.2)
		return [][]float32{d}
	},
	"leakyReLUBackward": func(k *table, in [5][]float32) [][]float32 {
		d := in[4]
		k.leakyReLUBackward(d, in[0], in[1], 0.2)
		return [][]float32{d}
	},
	"tanh": func(k *table, in [5][]float32) [][]float32 {
		d := in[4]
		k.tanh(d, in[0])
		return [][]float32{d}
	},
	"tanhBackward": func(k *table, in [5][]float32) [][]float32 {
		d := in[4]
		k.tanhBackward(d, in[0], in[1])
		return [][]float32{d}
	},
	"sigmoid": func(k *table, in [5][]float32) [][]float32 {
		d := in[4]
		k.sigmoid(d, in[0])
		return [][]float32{d}
	},
	"sigmoidBackward": func(k *table, in [5][]float32) [][]float32 {
		d := in[4]
		k.sigmoidBackward(d, in[0], in[1])
		return [][]float32{d}
	},
	"axpy": func(k *table, in [5][]float32) [][]float32 {
		k.axpy(-1.7, in[0], in[1])
		return in[1:2]
	},
	"scale": func(k *table, in [5][]float32) [][]float32 {
		k.scale(0.3, in[0])
		return in[:1]
	},
	"add": func(k *table, in [5][]float32) [][]float32 {
		k.add(in[2], in[0], in[1])
		return in[2:3]
	},
	"mul": func(k *table, in [5][]float32) [][]float32 {
		k.mul(in[2], in[0], in[1])
		return in[2:3]
	},
	"clamp": func(k *table, in [5][]float32) [][]float32 {
		k.clamp(in[0], -0.5, 0.75)
		return in[:1]
	},
	"latticeRound": func(k *table, in [5][]float32) [][]float32 {
		k.latticeRound(in[0], 0x1p-5, 0x1p5)
		return in[:1]
	},
	"adam": func(k *table, in [5][]float32) [][]float32 {
		c := adamCoefficients{0.01, 0.9, 0.1, 0.999, 0.001, 1.5, 1e-8, 0.01}
		k.adam(in[0], in[1], in[2], in[3], in[4], c)
		k.adam(in[0], in[1], in[2], in[3], nil, c)
		return in[:3]
	},
	"rmsProp": func(k *table, in [5][]float32) [][]float32 {
		c := rmsPropCoefficients{0.01, 0.9, 0.1, 1e-8, 0.01}
		k.rmsProp(in[0], in[1], in[2], in[3], c)
		k.rmsProp(in[0], in[1], in[2], nil, c)
		return in[:2]
	},
	"momentum": func(k *table, in [5][]float32) [][]float32 {
		c := momentumCoefficients{0.01, 0.9, 0.1}
		k.momentum(in[0], in[1], in[2], in[3], c)
		k.momentum(in[0], in[1], in[2], nil, c)
		return in[:2]
	},
}

// TestElementwiseBits: every level gives the bits of the plain Go, for every length and odd values.
func TestElementwiseBits(t *testing.T) {
	all := tables()
	for name, f := range runs {
		t.Run(name, func(t *testing.T) {
			r := source(11)
			for n := range 150 {
				var in [5][]float32
				for i := range in {
					in[i] = strange(r, n)
				}
				want := f(all[0], copies(in))
				for _, k := range all[1:] {
					for i, got := range f(k, copies(in)) {
						diff(t, fmt.Sprintf("%s, output %d", k.name, i), got, want[i])
					}
				}
			}
		})
	}
}

func copies(in [5][]float32) (out [5][]float32) {
	for i := range in {
		out[i] = clone(in[i])
	}
	return out
}

// ulps returns the distance of got from want in units of the last place of a float32.
func ulps(got float32, want float64) float64 {
	_, e := math.Frexp(want)
	return math.Abs(float64(got)-want) / math.Ldexp(1, max(e, -125)-24)
}

// TestTanhAndSigmoidAccuracy: the functions against float64, over the whole range, within the limits of the
// docstrings.
func TestTanhAndSigmoidAccuracy(t *testing.T) {
	var x []float32
	for v := float32(1e-6); v < 87; v *= 1.0001 {
		x = append(x, v, -v)
	}
	y := fresh(x)
	eachTable(t, func(t *testing.T, k *table) {
		worst := [2]float64{}
		k.tanh(y, x)
		for i, v := range x {
			worst[0] = max(worst[0], ulps(y[i], math.Tanh(float64(v))))
		}
		k.sigmoid(y, x)
		for i, v := range x {
			worst[1] = max(worst[1], ulps(y[i], 1/(1+math.Exp(-float64(v)))))
		}
		t.Logf("worst: tanh %.2f, sigmoid %.2f ulp", worst[0], worst[1])
		if worst[0] > 2 || worst[1] > 3 {
			t.Errorf("tanh is off by %.2f ulp (limit 2), sigmoid by %.2f (limit 3)", worst[0], worst[1])
		}
	})
}

func TestActivationsAtTheEnds(t *testing.T) {
	inf := float32(math.Inf(1))
	nan := float32(math.NaN())
	x := []float32{inf, -inf, nan, 0, 1000, -1000, 20, -20}
	y := fresh(x)
	eachTable(t, func(t *testing.T, k *table) {
		k.tanh(y, x)
		diff(t, "tanh", y, []float32{1, -1, nan, 0, 1, -1, 1, -1})
		k.sigmoid(y, x[:6])
		for i, limit := range [][2]float32{{1, 1}, {0, 1e-37}, {nan, nan}, {0.5, 0.5}, {1, 1}, {0, 1e-37}} {
			if (y[i] < limit[0] || y[i] > limit[1]) || (y[i] != y[i]) != (limit[0] != limit[0]) {
				t.Errorf("sigmoid(%g) = %g", x[i], y[i])
			}
		}
		k.leakyReLU(y, x, 0)
		diff(t, "relu", y, []float32{inf, nan, nan, 0, 1000, float32(math.Copysign(0, -1)), 20,
			float32(math.Copysign(0, -1))})
	})
}

// TestLatticeRound: LatticeRound against math.RoundToEven in float64, where x/step is exact.
func TestLatticeRound(t *testing.T) {
	r := source(12)
	for e := -120; e <= 120; e += 3 {
		step := float32(math.Ldexp(1, e))
		x := strange(r, 200)
		for i := range 100 {
			x[i] = (float32(r.IntN(1000)-500) + 0.5*float32(r.IntN(2))) * step
		}
		got := clone(x)
		LatticeRound(got, step)
		for i, v := range x {
			want := float32(math.RoundToEven(float64(v)/float64(step)) * float64(step))
			if !sameBits(got[i], want) && !(got[i] == 0 && want == 0) {
				t.Fatalf("step 2^%d: %g rounds to %g, want %g", e, v, got[i], want)
			}
		}
	}
}

func TestPanics(t *testing.T) {
	x := make([]float32, 4)
	for name, f := range map[string]func(){
		"step 0":     func() { LatticeRound(x, 0) },
		"step 3":     func() { LatticeRound(x, 3) },
		"step NaN":   func() { LatticeRound(x, float32(math.NaN())) },
		"step 2^121": func() { LatticeRound(x, 0x1p121) },
		"step -1":    func() { LatticeRound(x, -1) },
		"clamp":      func() { Clamp(x, 1, 0) },
		"lengths":    func() { Add(x, x, x[:3]) },
		"noise":      func() { AdamStep(x, x, x, x, x[:3], 1, 0, 0, 0, 1, 1, 1) },
		"rows":       func() { RowDots(x, x, x, 2, 3, 3, 3) },
		"few dots":   func() { RowDots(x[:3], x, x, 4, 1, 1, 1) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

// TestOptimisersAgainstFloat64: the optimisers against their formulas in float64: 20 steps of random gradients,
// relative error far below the 1e-4 that float32 moments allow.
func TestOptimisersAgainstFloat64(t *testing.T) {
	const n = 40000 // more than one block
	r := source(13)
	wa, ma, va, wr, vr, ws, ms := make([]float32, n), make([]float32, n), make([]float32, n), make([]float32, n),
		make([]float32, n), make([]float32, n), make([]float32, n)
	var fa, fr, fs, am, av, rv, sm [n]float64
	for step := 1.0; step <= 20; step++ {
		g, noise := normal(r, n), normal(r, n)
		b1, b2 := 1-math.Pow(0.9, step), 1-math.Pow(0.999, step)
		AdamStep(wa, ma, va, g, noise, 1e-3, 0.9, 0.999, 1e-8, b1, b2, 1.0/64)
		RMSPropStep(wr, vr, g, noise, 1e-3, 0.99, 1e-8, 1.0/64)
		SGDMomentumStep(ws, ms, g, nil, 1e-3, 0.9, 1.0/64)
		for i := range n {
			e := (float64(g[i]) + float64(noise[i])) / 64
			am[i] = 0.9*am[i] + 0.1*e
			av[i] = 0.999*av[i] + 0.001*e*e
			fa[i] -= 1e-3 * (am[i] / b1) / (math.Sqrt(av[i]/b2) + 1e-8)
			rv[i] = 0.99*rv[i] + 0.01*e*e
			fr[i] -= 1e-3 * e / (math.Sqrt(rv[i]) + 1e-8)
			sm[i] = 0.9*sm[i] + float64(g[i])/64
			fs[i] -= 1e-3 * sm[i]
		}
	}
	for i := range n {
		for name, p := range map[string][2]float64{"adam": {float64(wa[i]), fa[i]}, "rmsprop": {float64(wr[i]), fr[i]},
			"sgd": {float64(ws[i]), fs[i]}} {
			if math.Abs(p[0]-p[1]) > 1e-6 {
				t.Fatalf("%s: weight %d is %g, want %g", name, i, p[0], p[1])
			}
		}
	}
}
