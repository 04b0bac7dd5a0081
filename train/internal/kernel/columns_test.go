package kernel

import (
	"fmt"
	"testing"
)

// TestColumnKernelBits: kernels down columns give the bits of the plain Go at every level, for every width and with odd
// strides, and write nothing beside their columns.
func TestColumnKernelBits(t *testing.T) {
	r := source(31)
	for cols := 1; cols <= 70; cols++ {
		rows, ld := 1+r.IntN(9), cols+r.IntN(3)
		var x [4][]float32
		for i := range x {
			if x[i] = normal(r, rows*ld); cols%3 == 0 {
				x[i] = strange(r, rows*ld)
			}
		}
		var v [7][]float64
		for i := range v {
			v[i] = wide(normal(r, cols))
		}
		w := [2][]float32{normal(r, cols), normal(r, cols)}
		var want [][]float32
		for _, k := range tables() {
			got := columnOutputs(k, x, v, w, rows, ld)
			if want == nil {
				want = got
			}
			for i := range got {
				diff(t, fmt.Sprintf("%s %d×%d, output %d", k.name, rows, cols, i), got[i], want[i])
			}
		}
	}
}

// columnOutputs lets each kernel write to copies; of a float64 it returns both halves.
func columnOutputs(k *table, x [4][]float32, v [7][]float64, w [2][]float32, rows, ld int) (all [][]float32) {
	sums := [4][]float64{clone(v[0]), clone(v[0]), clone(v[0]), clone(v[1])}
	k.columnSums(sums[0], x[0], rows, ld)
	k.columnSquares(sums[1], v[1], x[0], rows, ld)
	k.columnDots(sums[2], sums[3], x[0], x[1], rows, ld)
	for _, s := range sums {
		all = append(all, halves(s)...)
	}
	add, mulAdd, y, unit, un, bent := clone(w[0]), clone(w[0]), clone(x[3]), clone(x[3]), clone(x[0]), clone(x[0])
	k.columnAdd(add, x[0], rows, ld)
	k.columnMulAdd(mulAdd, x[0], x[1], rows, ld)
	k.standardise(y, unit, x[0], rows, ld, v[0], v[1], w[0], w[1])
	k.unstandardise(un, x[1], un, rows, ld, v[0], v[1], v[2])
	k.bend(bent, x[1], x[2], x[3], rows, ld, Bending{v[0], v[1], v[2], v[3], v[4], v[5], v[6]})
	return append(all, add, mulAdd, y, unit, un, bent)
}

// halves returns a value rounded to float32 and what that leaves, which tell two values of float64 apart.
func halves(x []float64) [][]float32 {
	high, low := make([]float32, len(x)), make([]float32, len(x))
	for i, v := range x {
		high[i] = float32(v)
		low[i] = float32(v - float64(high[i]))
	}
	return [][]float32{high, low}
}

func wide(x []float32) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = float64(v) * 1.1
	}
	return y
}

// TestColumnsAgainstFormulas: the exported functions by formulas written out, over more than one block of rows.
func TestColumnsAgainstFormulas(t *testing.T) {
	const rows, cols, ld = 700, 51, 53
	r := source(32)
	x, y, a, u := normal(r, rows*ld), normal(r, rows*ld), normal(r, rows*ld), normal(r, rows*ld)
	v := func() []float64 { return wide(normal(r, cols)) }
	mean, inverse, gain, offset := v(), v(), normal(r, cols), normal(r, cols)
	b := Bending{v(), v(), v(), v(), v(), v(), v()}
	sum, square, total, dot := make([]float64, cols), make([]float64, cols), make([]float64, cols), make([]float64, cols)
	add, mulAdd := make([]float32, cols), make([]float32, cols)
	ColumnSums(sum, x, rows, ld)
	ColumnSquares(square, mean, x, rows, ld)
	ColumnDots(total, dot, x, y, rows, ld)
	ColumnAdd(add, x, rows, ld)
	ColumnMulAdd(mulAdd, x, y, rows, ld)
	unit, out, un, bent := clone(x), clone(x), clone(x), clone(x)
	Standardise(out, unit, x, rows, ld, mean, inverse, gain, offset)
	Unstandardise(un, x, u, rows, ld, mean, inverse, b.Gain)
	Bend(bent, u, a, y, rows, ld, b)
	near := func(what string, j int, got, want, scale float64) {
		t.Helper()
		if d := got - want; !(d < 1e-6*scale && d > -1e-6*scale) {
			t.Fatalf("%s of column %d is %g, want %g", what, j, got, want)
		}
	}
	for j := range cols {
		var s, q, d float64
		for i := range rows {
			pos := i*ld + j
			f, g, h, p := float64(x[pos]), float64(y[pos]), float64(a[pos]), float64(u[pos])
			s, q, d = s+f, q+(f-mean[j])*(f-mean[j]), d+f*g
			near("standardise", j, float64(out[pos]), (f-mean[j])*inverse[j]*float64(gain[j])+float64(offset[j]), 100)
			near("unit", j, float64(unit[pos]), (f-mean[j])*inverse[j], 100)
			near("unstandardise", j, float64(un[pos]), (f-mean[j]-p*inverse[j])*b.Gain[j], 100)
			bend := (b.Unit[j]*p + b.Along[j]*(h-b.MeanA[j]) + b.AlongA[j]*(g-b.MeanT[j])) * b.Gain[j] * b.Inverse[j] *
				b.Inverse[j]
			near("bend", j, float64(bent[pos]), f-bend, 1000)
		}
		near("sum", j, sum[j], s, 1)
		near("sum", j, total[j], s, 1)
		near("squares", j, square[j], q, 1)
		near("dot", j, dot[j], d, 1)
		near("float32 sum", j, float64(add[j]), s, 1000)
		near("float32 dot", j, float64(mulAdd[j]), d, 1000)
	}
}

// BenchmarkColumns is what batch_norm does to a batch of 32 rows of 128 columns, there and back.
func BenchmarkColumns(b *testing.B) {
	const rows, cols, ld = 32, 128, 129
	r := source(33)
	x, y, u := normal(r, rows*ld), normal(r, rows*ld), normal(r, rows*ld)
	mean, inverse := make([]float64, cols), wide(normal(r, cols))
	gain, offset := normal(r, cols), normal(r, cols)
	for _, k := range tables() {
		b.Run(k.name, func(b *testing.B) {
			for range b.N {
				clear(mean)
				k.columnSums(mean, x, rows, ld)
				k.columnSquares(inverse, mean, x, rows, ld)
				k.standardise(y, u, x, rows, ld, mean, inverse, gain, offset)
				clear(inverse)
				k.columnDots(mean, inverse, x, u, rows, ld)
				k.unstandardise(y, x, u, rows, ld, mean, inverse, inverse)
			}
		})
	}
}
