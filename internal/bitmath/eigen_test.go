package bitmath

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// wishart returns a random positive semidefinite matrix of the given rank.
func wishart(r *rand.Rand, n, rank int) *mat.SymDense {
	a := mat.NewSymDense(n, nil)
	for range rank {
		x := mat.NewVecDense(n, nil)
		for i := range n {
			x.SetVec(i, math.Exp(2*r.NormFloat64())*r.NormFloat64())
		}
		a.SymRankOne(a, 1-2*float64(r.IntN(2)), x)
	}
	return a
}

// TestSymmetricEigenIsThatOfLAPACK: values are LAPACK's, and each vector is turned into its multiple.
func TestSymmetricEigenIsThatOfLAPACK(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for _, c := range [][2]int{{1, 1}, {2, 1}, {2, 2}, {3, 3}, {5, 2}, {8, 8}, {20, 30}, {40, 10}, {101, 200}, {6, 0}} {
		n := c[0]
		a := wishart(r, n, c[1])
		columns := make([][]float64, n)
		for j := range columns {
			columns[j] = mat.Col(nil, j, a)
		}
		values, vectors, ok := SymmetricEigen(columns)
		var e mat.EigenSym
		if !ok || !e.Factorize(a, false) {
			t.Fatalf("%v: does not converge", c)
		}
		size := mat.Norm(a, 1) + 1e-300
		for k, want := range e.Values(nil) {
			if !(math.Abs(values[k]-want) <= 1e-13*size) {
				t.Errorf("%v: value %d is %v, want %v", c, k, values[k], want)
			}
			v := mat.NewVecDense(n, vectors[k])
			var gap mat.VecDense
			gap.MulVec(a, v)
			gap.AddScaledVec(&gap, -values[k], v)
			if d := mat.Norm(&gap, math.Inf(1)); !(d <= 1e-13*size) || !(math.Abs(mat.Norm(v, 2)-1) <= 1e-13) {
				t.Errorf("%v: vector %d misses by %v and has length %v", c, k, d, mat.Norm(v, 2))
			}
		}
	}
}

func TestSymmetricEigenOfWhatIsNotFinite(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1)} {
		if _, _, ok := SymmetricEigen([][]float64{{1, 2, bad}, {2, bad, 1}, {bad, 1, 2}}); ok {
			t.Errorf("a matrix with %v converges", bad)
		}
	}
}

// TestSymmetricEigenOfEverySize: the eigenvalues of (2 1; 1 2) are 1 and 3 at every size that numbers have.
func TestSymmetricEigenOfEverySize(t *testing.T) {
	for _, size := range []float64{0x1p1021, 1, 0x1p-1000} {
		values, vectors, ok := SymmetricEigen([][]float64{{2 * size, size}, {size, 2 * size}})
		if !ok || !(math.Abs(values[0]/size-1) <= 1e-15) || !(math.Abs(values[1]/size-3) <= 1e-15) {
			t.Fatalf("values at size %g are %v (%v)", size, values, ok)
		}
		for _, v := range vectors {
			if !(math.Abs(math.Abs(v[0])-math.Sqrt(0.5)) <= 1e-15) {
				t.Errorf("a vector at size %g is %v", size, v)
			}
		}
	}
}

// TestSymmetricEigenOfTinyNumbersBesideGreat: what is below the normal numbers beside the greatest is reflected by a
// reflection, too: vectors stay of unit length and orthogonal.
func TestSymmetricEigenOfTinyNumbersBesideGreat(t *testing.T) {
	const n = 12
	for _, tiny := range []float64{0x1p-899, 0x1p-1000, 0x1p-1070, math.SmallestNonzeroFloat64} {
		columns := make([][]float64, n)
		for j := range columns {
			columns[j] = make([]float64, n)
			for i := range columns[j] {
				columns[j][i] = tiny * float64(1+(i*j)%3)
			}
		}
		columns[0][0] = 1
		_, vectors, ok := SymmetricEigen(columns)
		for i, x := range vectors {
			for j, y := range vectors[:i+1] {
				want := 0.0
				if i == j {
					want = 1
				}
				if got := Dot(x, y); !ok || !(math.Abs(got-want) <= 1e-14) {
					t.Errorf("with %g the product of vectors %d and %d is %v", tiny, i, j, got)
				}
			}
		}
	}
}

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

// TestTriangleAndSingularAreThoseOfLAPACK: R and the singular values are LAPACK's, and U S V' is the matrix.
func TestTriangleAndSingularAreThoseOfLAPACK(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	for _, c := range [][3]int{{1, 1, 1}, {5, 1, 1}, {2, 2, 2}, {9, 4, 4}, {30, 30, 30}, {200, 40, 40}, {50, 12, 7},
		{6, 5, 0}} {
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
