package bitmath

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// tall returns a random matrix by columns of sizes far apart, the last of which hang on the others
// where rank is below n.
func tall(r *rand.Rand, rows, n, rank int) [][]float64 {
	columns := make([][]float64, n)
	for j := range columns {
		columns[j] = make([]float64, rows)
		for i := range columns[j] {
			columns[j][i] = math.Exp(3*float64(j%4)) * r.NormFloat64()
		}
		if j >= rank {
			clear(columns[j])
			for k := range rank {
				Axpy(r.NormFloat64(), columns[k], columns[j])
			}
		}
	}
	return columns
}

func denseOf(columns [][]float64) *mat.Dense {
	m := mat.NewDense(len(columns[0]), len(columns), nil)
	for j, c := range columns {
		m.SetCol(j, c)
	}
	return m
}

// R and the singular values are LAPACK's, and U S V' is the matrix.
func TestTriangleAndSingularAreThoseOfLAPACK(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	for _, c := range [][3]int{{1, 1, 1}, {5, 1, 1}, {2, 2, 2}, {9, 4, 4}, {30, 30, 30}, {200, 40, 40}, {50, 12, 7}, {6, 5, 0}} {
		columns := tall(r, c[0], c[1], c[2])
		a := denseOf(columns)
		size := mat.Norm(a, 2) + 1e-300
		var qr mat.QR
		qr.Factorize(a)
		var want mat.Dense
		qr.RTo(&want)
		Triangle(columns)
		for j, x := range columns {
			for i := range j + 1 {
				if c[2] == c[1] && !(math.Abs(x[i]-want.At(i, j)) <= 1e-12*size) {
					t.Errorf("%v: R(%d, %d) is %v, want %v", c, i, j, x[i], want.At(i, j))
				}
			}
			clear(x[j+1:])
			columns[j] = x[:c[1]]
		}
		triangle := denseOf(columns)
		values, right, ok := Singular(columns)
		var svd mat.SVD
		if !ok || !svd.Factorize(a, mat.SVDThin) {
			t.Fatalf("%v: does not converge", c)
		}
		for k, want := range svd.Values(nil) {
			got := slices.Sorted(slices.Values(values))[len(values)-1-k]
			if !(math.Abs(got-want) <= 1e-13*size) {
				t.Errorf("%v: singular value %d is %v, want %v", c, k, got, want)
			}
		}
		var back mat.Dense
		back.Mul(denseOf(columns), denseOf(right).T())
		back.Sub(&back, triangle)
		if d := mat.Norm(&back, 2); !(d <= 1e-13*size) {
			t.Errorf("%v: the decomposition misses by %v", c, d)
		}
	}
}
