package kernel

// gemmGeneric is the product in plain Go: each element of C is one chain in the
// order of p, product and sum rounded apart (the conversion forbids fusing).
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
		a := j.a[i*j.aRow+p*j.aCol]
		b := j.b[p*j.ldb:][:len(row)]
		if j.scale != nil {
			s := j.scale[p]
			for q := range row {
				row[q] += float32(a * float32(s*b[q]))
			}
			continue
		}
		for q := range row {
			row[q] += float32(a * b[q])
		}
	}
}

func rowTransposed(j *product, row []float32, i int) {
	if j.k == 0 {
		return
	}
	a := j.a[i*j.aRow:][:j.k]
	for q := range row {
		b := j.b[q*j.ldb:][:len(a)]
		sum := row[q]
		for p := range a {
			sum += float32(a[p] * b[p])
		}
		row[q] = sum
	}
}
