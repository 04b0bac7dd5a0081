package learn

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
)

// TestSparseLogistic: of 300 rare indicators, one a block, on 800 rows the optimum by conjugate gradients is that of the
// stored matrix, by Cholesky's, to 1e-8, with a label that is common and with one that five rows have; columns without a
// one have coefficients of 0.
func TestSparseLogistic(t *testing.T) {
	const n, p = 800, 300
	r := rand.New(rand.NewPCG(5, 6))
	x := Matrix{Rows: n, Cols: make([][]float64, p)}
	for j := range p {
		b := Block{First: j, Width: 1, Codes: make([]int32, n)}
		for i := range b.Codes {
			if b.Codes[i] = -1; j%9 > 0 && r.Float64() < 0.2/float64(1+j%9) {
				b.Codes[i] = 0
			}
		}
		x.Blocks = append(x.Blocks, b)
	}
	if newSparse(x) == nil || newSparse(x.Dense()) != nil || newSparse(x.Pick([]int{0, 1, 2})) != nil {
		t.Fatal("what is sparse is not told")
	}
	for name, share := range map[string]float64{"common": 0.4, "rare": 5. / n} {
		y := Labels{Y: make([]int, n), Classes: 2}
		for i := range y.Y {
			if float64(i) < share*n || share > 0.1 && x.Blocks[1].Codes[i] == 0 {
				y.Y[i] = 1
			}
		}
		var got [2]*logit
		for k, m := range []Matrix{x, x.Dense()} {
			fit, err := Logistic{C: 1, Penalty: L2}.Fit(context.Background(), m, y, Run{Workers: 2})
			if err != nil {
				t.Fatal(err)
			}
			got[k] = fit.(*logit)
		}
		for j, want := range got[1].Coef[0] {
			if math.Abs(got[0].Coef[0][j]-want) > 1e-8 || j%9 == 0 && got[0].Coef[0][j] != 0 {
				t.Errorf("%s: coefficient %d is %.12f, must be %.12f", name, j, got[0].Coef[0][j], want)
			}
		}
		if math.Abs(got[0].Intercept[0]-got[1].Intercept[0]) > 1e-8 {
			t.Errorf("%s: intercepts %.12f and %.12f", name, got[0].Intercept[0], got[1].Intercept[0])
		}
	}
}

// TestListed: what is left of a matrix without some of its columns has the lists of the others, and decides as it does unlisted.
func TestListed(t *testing.T) {
	const n, p = 500, 300
	r := rand.New(rand.NewPCG(1, 2))
	x := Matrix{Rows: n, Cols: make([][]float64, p)}
	for j := range p {
		b := Block{First: j, Width: 1, Codes: make([]int32, n)}
		for i := range b.Codes {
			if b.Codes[i] = -1; r.Float64() < 0.03 {
				b.Codes[i] = 0
			}
		}
		x.Blocks = append(x.Blocks, b)
	}
	if x.lists() != nil || x.Pick([]int{0, 1, 2}).Listed().lists() != nil {
		t.Error("what is narrow, or was not asked for, is listed")
	}
	left, plain := x.Listed().Without(7, 2), x.Without(7, 2)
	if left.lists() == nil || len(left.Cols) != p-2 || plain.lists() != nil {
		t.Fatal("lists are lost")
	}
	m := Linear{Coef: [][]float64{make([]float64, p-2)}, Intercept: []float64{0.5}}
	for j := range m.Coef[0] {
		m.Coef[0][j] = r.NormFloat64()
	}
	got, unlisted, dense := m.Predict(left), m.Predict(plain), m.Predict(x.Dense().Without(7, 2))
	for i := range got {
		if got[i] != unlisted[i] || math.Abs(got[i]-dense[i]) > 1e-12 {
			t.Fatalf("row %d: %v, %v and %v", i, got[i], unlisted[i], dense[i])
		}
	}
}

func BenchmarkSparseLogistic(b *testing.B) {
	const n, p = 10000, 1070
	r := rand.New(rand.NewPCG(7, 8))
	x, y := Matrix{Rows: n, Cols: make([][]float64, p)}, Labels{Y: make([]int, n), Classes: 2}
	for j := range p {
		block := Block{First: j, Width: 1, Codes: make([]int32, n)}
		for i := range block.Codes {
			if block.Codes[i] = -1; r.Float64() < 12./p {
				block.Codes[i] = 0
			}
		}
		x.Blocks = append(x.Blocks, block)
	}
	for i := range y.Y {
		if r.Float64() < 0.05 {
			y.Y[i] = 1
		}
	}
	for b.Loop() {
		if _, err := (Logistic{C: 1, Penalty: L2}).Fit(context.Background(), x, y, Run{Workers: 1}); err != nil {
			b.Fatal(err)
		}
	}
}
