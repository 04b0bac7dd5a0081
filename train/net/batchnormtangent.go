package net

// pushing is what a batch norm keeps of the tangents of a penalty.
type pushing struct {
	t, y    Matrix // tangents at input and output
	from    int    // of the batch: from this row on unit holds tangents
	mean    []float64
	along   []float64 // the mean of u t, column by column
	weighed []float64 // the mean of a t
}

// tangent takes tangents t of the last group of rows, from lo on. With u = (x - mean)/s the unit value of an
// input x, s its deviation, and angle brackets the mean over the rows of a group, the tangent of u along t is
// (t - <t> - u <ut>)/s. It is left in place of u, where the gradient by the gain expects it, and times the gain at the
// output.
func (o *batchNormOp) tangent(w []float32, t Matrix, lo int) Matrix {
	p := &o.pushed
	p.grow(t.Rows, o.cols)
	p.from, p.t, p.y = lo, p.t.Slice(0, t.Rows), p.y.Slice(0, t.Rows)
	p.t.CopyFrom(t)
	n := float64(t.Rows)
	for i := range t.Rows {
		mean, along, u := p.mean[:o.cols], p.along[:o.cols], o.unit.Row(lo + i)[:o.cols]
		for j, v := range t.Row(i)[:o.cols] {
			mean[j] += float64(v)
			along[j] += float64(float64(v) * float64(u[j]))
		}
	}
	divide(p.mean, n)
	divide(p.along, n)
	inverse := o.inverse[(o.groups-1)*o.cols:]
	for i := range t.Rows {
		o.push(p.y.Row(i), o.unit.Row(lo+i), p.t.Row(i), inverse, w)
	}
	p.y.setExtra(0)
	return p.y
}

// grow makes room for so many rows, and zeros of the sums. The values at the output are not overwritten by
// tangents, since a layer above may work in place.
func (p *pushing) grow(rows, cols int) {
	if len(p.t.Data) < rows*(cols+1) {
		p.t, p.y = NewMatrix(rows, cols), NewMatrix(rows, cols)
		p.mean, p.along, p.weighed = make([]float64, cols), make([]float64, cols), make([]float64, cols)
	}
	clear(p.mean)
	clear(p.along)
}

func divide(sums []float64, n float64) {
	for j := range sums {
		sums[j] /= n
	}
}

// push sets u to the tangent of one row of unit values, and y to it times the gain.
func (o *batchNormOp) push(y, u, t []float32, inverse []float64, w []float32) {
	mean, along := o.pushed.mean[:len(t)], o.pushed.along[:len(t)]
	y, u, inverse, w = y[:len(t)], u[:len(t)], inverse[:len(t)], w[:len(t)]
	for j, v := range t {
		u[j] = float32((float64(v) - mean[j] - float64(float64(u[j])*along[j])) * inverse[j])
		y[j] = u[j] * w[j]
	}
}

// addBend adds the derivative by each input of the sum of a (t - <t> - u <ut>)/s over the rows, where a is the
// gradient at the output times the gain. With du/dx of one row k, s du(i)/dx(k) = [i=k] - 1/n - u(i)u(k)/n and
// d(1/s)/dx(k) = -u(k)/(n s^2), it is
//
//	-(u (<at> - <a><t> - 3 <au><ut>) + <ut> (a - <a>) + <au> (t - <t>)) / s^2.
//
// The means of a and au are of the sums that pushed left when it went back through that group, its last.
func (o *batchNormOp) addBend(w []float32, dx Matrix, pushed op, lo int) {
	from := pushed.(*batchNormOp)
	a, p := from.delta.Slice(lo, lo+dx.Rows), &from.pushed
	clear(p.weighed)
	for i := range a.Rows {
		weighed, t := p.weighed[:o.cols], p.t.Row(i)[:o.cols]
		for j, v := range a.Row(i)[:o.cols] {
			weighed[j] += float64(float64(v) * float64(t[j]))
		}
	}
	divide(p.weighed, float64(dx.Rows))
	divide(from.sum, float64(dx.Rows))
	divide(from.dot, float64(dx.Rows))
	for i := range dx.Rows {
		o.bendRow(dx.Row(i), a.Row(i), p.t.Row(i), o.unit.Row(i), w, from)
	}
}

func (o *batchNormOp) bendRow(dx, a, t, u, w []float32, from *batchNormOp) {
	a, t, u, w = a[:len(dx)], t[:len(dx)], u[:len(dx)], w[:len(dx)]
	p, inverse := &from.pushed, o.inverse[:len(dx)]
	mean, along, weighed, sum, dot := p.mean[:len(dx)], p.along[:len(dx)], p.weighed[:len(dx)], from.sum[:len(dx)], from.dot[:len(dx)]
	for j := range dx {
		ma, au, s := sum[j], dot[j], inverse[j]
		v := float64(float64(u[j]) * (weighed[j] - float64(ma*mean[j]) - float64(3*au*along[j])))
		v += float64(along[j]*(float64(a[j])-ma)) + float64(au*(float64(t[j])-mean[j]))
		dx[j] -= float32(v * float64(w[j]) * s * s)
	}
}
