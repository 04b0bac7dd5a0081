package kernel

// product is C (+)= A·diag(scale)·B. Element (i, p) of A is a[i*aRow+p*aCol], so
// one routine serves A and its transpose. B is k×n, or n×k when transposed.
type product struct {
	m, n, k    int
	a          []float32
	aRow, aCol int
	b          []float32
	ldb        int
	transposed bool
	scale      []float32 // nil, or one weight for each p; never with transposed
	c          []float32
	ldc        int
	accumulate bool // add to C instead of overwriting it
}

// GemmNN computes C = A·B, or C += A·B with accumulate.
// A is m×k, B is k×n, C is m×n. With k = 0 the product is zero.
func GemmNN(m, n, k int, a []float32, lda int, b []float32, ldb int, c []float32, ldc int, accumulate bool) {
	checkMatrix("GemmNN", "a", len(a), m, k, lda)
	checkMatrix("GemmNN", "b", len(b), k, n, ldb)
	checkMatrix("GemmNN", "c", len(c), m, n, ldc)
	best.gemm(product{m: m, n: n, k: k, a: a, aRow: lda, aCol: 1, b: b, ldb: ldb, c: c, ldc: ldc, accumulate: accumulate})
}

// GemmNT computes C = A·Bᵀ, or C += A·Bᵀ with accumulate.
// A is m×k, B is n×k, C is m×n.
func GemmNT(m, n, k int, a []float32, lda int, b []float32, ldb int, c []float32, ldc int, accumulate bool) {
	checkMatrix("GemmNT", "a", len(a), m, k, lda)
	checkMatrix("GemmNT", "b", len(b), n, k, ldb)
	checkMatrix("GemmNT", "c", len(c), m, n, ldc)
	best.gemm(product{m: m, n: n, k: k, a: a, aRow: lda, aCol: 1, b: b, ldb: ldb, transposed: true, c: c, ldc: ldc,
		accumulate: accumulate})
}

// GemmTN computes C = Aᵀ·B, or C += Aᵀ·B with accumulate.
// A is k×m, B is k×n, C is m×n.
func GemmTN(m, n, k int, a []float32, lda int, b []float32, ldb int, c []float32, ldc int, accumulate bool) {
	checkMatrix("GemmTN", "a", len(a), k, m, lda)
	checkMatrix("GemmTN", "b", len(b), k, n, ldb)
	checkMatrix("GemmTN", "c", len(c), m, n, ldc)
	best.gemm(product{m: m, n: n, k: k, a: a, aRow: 1, aCol: lda, b: b, ldb: ldb, c: c, ldc: ldc, accumulate: accumulate})
}

// GemmTNScaled computes C = Aᵀ·diag(scale)·B, or adds it to C with accumulate:
// row p of B is multiplied by scale[p] (and rounded) before the product. A is
// k×m, B is k×n, scale has k elements, C is m×n. A row of weight zero is left out:
// it contributes nothing even where it holds NaN or Inf. That is how the clipped
// sum of per-example gradients drops an example.
func GemmTNScaled(m, n, k int, a []float32, lda int, b []float32, ldb int, c []float32, ldc int, accumulate bool,
	scale []float32) {
	checkMatrix("GemmTNScaled", "a", len(a), k, m, lda)
	checkMatrix("GemmTNScaled", "b", len(b), k, n, ldb)
	checkMatrix("GemmTNScaled", "c", len(c), m, n, ldc)
	checkLen("GemmTNScaled", "scale", len(scale), k)
	// From one row of weight zero to the next: the chain of each element goes on.
	for lo := 0; lo < k || !accumulate; {
		for lo < k && scale[lo] == 0 {
			lo++
		}
		hi := lo
		for hi < k && scale[hi] != 0 {
			hi++
		}
		j := product{m: m, n: n, k: hi - lo, aRow: 1, aCol: lda, ldb: ldb, c: c, ldc: ldc, accumulate: accumulate}
		if lo < hi && m > 0 && n > 0 {
			j.a, j.b, j.scale = a[lo*lda:], b[lo*ldb:], scale[lo:hi]
		}
		best.gemm(j)
		lo, accumulate = hi, true
	}
}
