package net

import "weir/train/internal/kernel"

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
	unit := o.unit.Data[lo*t.LD:]
	kernel.ColumnDots(p.mean, p.along, p.t.Data, unit, t.Rows, t.LD)
	divide(p.mean, float64(t.Rows))
	divide(p.along, float64(t.Rows))
	kernel.Unstandardise(unit, p.t.Data, unit, t.Rows, t.LD, p.mean, p.along, o.inverse[(o.groups-1)*o.cols:][:o.cols])
	for i := range t.Rows {
		kernel.Mul(p.y.Row(i), o.unit.Row(lo+i), w[:o.cols])
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
	clear(o.sum)
	clear(p.weighed)
	kernel.ColumnDots(o.sum, p.weighed, a.Data, p.t.Data, a.Rows, a.LD)
	divide(p.weighed, float64(dx.Rows))
	for j, v := range p.weighed {
		p.weighed[j] = v - float64(from.sum[j]*p.mean[j]) - float64(3*from.dot[j]*p.along[j])
		o.scale[j] = float64(w[j])
	}
	kernel.Bend(dx.Data, o.unit.Data, a.Data, p.t.Data, dx.Rows, dx.LD, kernel.Bending{
		Unit: p.weighed, Along: p.along, MeanA: from.sum, AlongA: from.dot, MeanT: p.mean, Gain: o.scale, Inverse: o.inverse[:o.cols]})
}
