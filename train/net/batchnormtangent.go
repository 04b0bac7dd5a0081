package net

// With u = (x - mean)/s the unit value of an input x, s its deviation, and angle brackets the mean over
// the rows of a group, the tangent of u along t is (t - <t> - u <ut>)/s. tangent leaves it in place of u, where
// the gradient by the gain expects it, and times the gain at the output.
func (o *batchNormOp) tangent(w []float32, t Matrix, lo int) Matrix {
	if len(o.t.Data) < t.Rows*t.LD { // the values at the output are not to be overwritten: a layer above may work in place
		o.t, o.ty = NewMatrix(t.Rows, o.cols), NewMatrix(t.Rows, o.cols)
	}
	o.t, o.pushed = o.t.Slice(0, t.Rows), lo
	o.t.CopyFrom(t)
	mean, along := o.sum, o.dot
	o.means(mean, o.t, Matrix{})
	o.means(along, o.t, o.unit.Slice(lo, lo+t.Rows))
	inverse, y := o.inverse[(o.groups-1)*o.cols:], o.ty.Slice(0, t.Rows)
	for i := range t.Rows {
		u, to := o.unit.Row(lo+i), y.Row(i)
		for j, v := range o.t.Row(i) {
			u[j] = float32((float64(v) - mean[j] - float64(float64(u[j])*along[j])) * inverse[j])
			to[j] = u[j] * w[j]
		}
	}
	y.setExtra(0)
	return y
}

// means sets dst to the means of a column by column, or of its products with b where that has rows.
func (o *batchNormOp) means(dst []float64, a, b Matrix) {
	clear(dst)
	for i := range a.Rows {
		for j, v := range a.Row(i) {
			p := float64(v)
			if b.Rows > 0 {
				p = float64(p * float64(b.Row(i)[j]))
			}
			dst[j] += p
		}
	}
	for j := range dst {
		dst[j] /= float64(a.Rows)
	}
}

// addBend adds the derivative by each input of the sum of a (t - <t> - u <ut>)/s over the rows, where a is the
// gradient at the output times the gain. With du/dx of one row k, s du(i)/dx(k) = [i=k] - 1/n - u(i)u(k)/n and
// d(1/s)/dx(k) = -u(k)/(n s^2), it is
//
//	-(u (<at> - <a><t> - 3 <au><tu>) + <tu> (a - <a>) + <au> (t - <t>)) / s^2.
func (o *batchNormOp) addBend(w []float32, dx Matrix, pushed op, lo int) {
	from := pushed.(*batchNormOp)
	a, t, u := from.delta.Slice(lo, lo+dx.Rows), from.t, o.unit.Slice(0, dx.Rows)
	if o.bend[0] == nil {
		for i := range o.bend {
			o.bend[i] = make([]float64, o.cols)
		}
	}
	for i, of := range [...][2]Matrix{{a}, {t}, {a, t}, {a, u}, {t, u}} {
		o.means(o.bend[i], of[0], of[1])
	}
	for i := range dx.Rows {
		to, a, t, u := dx.Row(i), a.Row(i), t.Row(i), u.Row(i)
		for j := range to {
			ma, mt, at, au, tu := o.bend[0][j], o.bend[1][j], o.bend[2][j], o.bend[3][j], o.bend[4][j]
			sum := float64(float64(u[j]) * (at - float64(ma*mt) - float64(3*au*tu)))
			sum += float64(tu*(float64(a[j])-ma)) + float64(au*(float64(t[j])-mt))
			to[j] -= float32(sum * float64(w[j]) * o.inverse[j] * o.inverse[j])
		}
	}
}
