package kernel

// columns is one call of a routine that goes down columns, whole turns of 8 (of 4: bend) of them; the plain Go takes
// the others. The names of the vectors are as in the plain Go.
type columns struct {
	x        [4]*float32 // matrices
	v        [7]*float64
	w        [2]*float32
	rows     int // at least 1
	cols, ld int // in bytes of float32
}

func newColumns(rows, cols, ld int, x ...[]float32) columns {
	c := columns{rows: rows, cols: 4 * cols, ld: 4 * ld}
	for i, m := range x {
		c.x[i] = &m[0]
	}
	return c
}

func columnSumsVector(sum []float64, x []float32, rows, ld int) {
	n := len(sum) &^ 7
	if n > 0 {
		c := newColumns(rows, n, ld, x)
		c.v[0] = &sum[0]
		columnSumsAVX2(&c)
	}
	columnSumsGeneric(sum[n:], x[n:], rows, ld)
}

func columnSquaresVector(sum, mean []float64, x []float32, rows, ld int) {
	n := len(sum) &^ 7
	if n > 0 {
		c := newColumns(rows, n, ld, x)
		c.v[0], c.v[1] = &sum[0], &mean[0]
		columnSquaresAVX2(&c)
	}
	columnSquaresGeneric(sum[n:], mean[n:], x[n:], rows, ld)
}

func columnDotsVector(sum, dot []float64, x, y []float32, rows, ld int) {
	n := len(sum) &^ 7
	if n > 0 {
		c := newColumns(rows, n, ld, x, y)
		c.v[0], c.v[1] = &sum[0], &dot[0]
		columnDotsAVX2(&c)
	}
	columnDotsGeneric(sum[n:], dot[n:], x[n:], y[n:], rows, ld)
}

func columnAddVector(sum, x []float32, rows, ld int) {
	n := len(sum) &^ 7
	if n > 0 {
		c := newColumns(rows, n, ld, x)
		c.w[0] = &sum[0]
		columnAddAVX2(&c)
	}
	columnAddGeneric(sum[n:], x[n:], rows, ld)
}

func columnMulAddVector(sum, x, y []float32, rows, ld int) {
	n := len(sum) &^ 7
	if n > 0 {
		c := newColumns(rows, n, ld, x, y)
		c.w[0] = &sum[0]
		columnMulAddAVX2(&c)
	}
	columnMulAddGeneric(sum[n:], x[n:], y[n:], rows, ld)
}

func standardiseVector(y, unit, x []float32, rows, ld int, mean, inverse []float64, gain, offset []float32) {
	n := len(mean) &^ 7
	if n > 0 {
		c := newColumns(rows, n, ld, x, unit, y)
		c.v[0], c.v[1] = &mean[0], &inverse[0]
		c.w[0], c.w[1] = &gain[0], &offset[0]
		standardiseAVX2(&c)
	}
	standardiseGeneric(y[n:], unit[n:], x[n:], rows, ld, mean[n:], inverse[n:], gain[n:], offset[n:])
}

func unstandardiseVector(dst, x, unit []float32, rows, ld int, less, along, scale []float64) {
	n := len(less) &^ 7
	if n > 0 {
		c := newColumns(rows, n, ld, x, unit, dst)
		c.v[0], c.v[1], c.v[2] = &less[0], &along[0], &scale[0]
		unstandardiseAVX2(&c)
	}
	unstandardiseGeneric(dst[n:], x[n:], unit[n:], rows, ld, less[n:], along[n:], scale[n:])
}

func bendVector(dx, u, a, t []float32, rows, ld int, b Bending) {
	n := len(b.Unit) &^ 3
	if n > 0 {
		c := newColumns(rows, n, ld, dx, u, a, t)
		c.v = [7]*float64{&b.Unit[0], &b.Along[0], &b.MeanA[0], &b.AlongA[0], &b.MeanT[0], &b.Gain[0], &b.Inverse[0]}
		bendAVX2(&c)
	}
	bendGeneric(dx[n:], u[n:], a[n:], t[n:], rows, ld, Bending{b.Unit[n:], b.Along[n:], b.MeanA[n:], b.AlongA[n:],
		b.MeanT[n:], b.Gain[n:], b.Inverse[n:]})
}
