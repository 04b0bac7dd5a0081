package kernel

// A product with one column would use one lane of eight. Its transpose has one row:
// the same chains, with the elements of A side by side in the lanes.

// isColumn reports whether C is one column whose elements stand side by side.
func isColumn(j *product) bool { return j.n == 1 && j.ldc == 1 && j.m >= 8 }

// multiplyColumn computes a product with one column as one with one row.
func multiplyColumn(j *product, wide bool) {
	if j.scale == nil {
		r := asRow(j)
		multiplyPanels(&r, wide)
		return
	}
	buffer := buffers.Get().(*[depth * maxWidth]float32)
	defer buffers.Put(buffer)
	for p := 0; p < j.k; p += len(buffer) {
		k := min(len(buffer), j.k-p)
		for i := range k {
			buffer[i] = j.b[(p+i)*j.ldb] * j.scale[p+i]
		}
		part := *j
		part.k, part.a, part.b, part.ldb, part.scale = k, j.a[p*j.aCol:], buffer[:k], 1, nil
		part.accumulate = j.accumulate || p > 0
		r := asRow(&part)
		multiplyPanels(&r, wide)
	}
}

// asRow returns Bᵀ·Aᵀ for a product without weights.
func asRow(j *product) product {
	r := product{m: 1, n: j.m, k: j.k, a: j.b, aCol: j.ldb, b: j.a, c: j.c, ldc: j.m, accumulate: j.accumulate}
	if j.transposed {
		r.aCol = 1
	}
	r.transposed, r.ldb = true, j.aRow
	if j.aRow == 1 && j.aCol != 1 {
		r.transposed, r.ldb = false, j.aCol
	}
	return r
}
