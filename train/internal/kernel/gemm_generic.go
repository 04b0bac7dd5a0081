package kernel

// gemmGeneric computes the product in plain Go: each element of C is one chain of fused
// multiply-adds in the order of p, as in the assembly.
func gemmGeneric(j product) {
	for i := range j.m {
		if j.n == 0 {
			return
		}
		row := j.c[i*j.ldc : i*j.ldc+j.n]
		if !j.accumulate {
			clear(row)
		}
		switch {
		case j.transposed:
			rowTransposed(&j, row, i)
		default:
			rowPlain(&j, row, i)
		}
	}
}

func rowPlain(j *product, row []float32, i int) {
	for p := range j.k {
		scale := float32(1)
		if j.scale != nil {
			scale = j.scale[p]
		}
		fused(row, j.a[i*j.aRow+p*j.aCol], scale, j.b[p*j.ldb:])
	}
}

func rowTransposed(j *product, row []float32, i int) {
	if j.k == 0 {
		return
	}
	a := j.a[i*j.aRow:][:j.k]
	for q := range row {
		row[q] = fusedDot(row[q], a, j.b[q*j.ldb:][:len(a)])
	}
}
