package learn

import "weir/internal/bitmath"

// The products of row-major matrices: each element is one sum in one order.

// addTransposed adds x w' to y: x has n rows of in numbers, w has out rows of in.
func addTransposed(y, x, w []float64, n, in, out int) {
	for i := range n {
		for k := range out {
			y[i*out+k] += bitmath.Dot(x[i*in:][:in], w[k*in:][:in])
		}
	}
}

// addProduct adds scale a b to c: a has n rows of in numbers, b has in rows of out.
func addProduct(c []float64, scale float64, a, b []float64, n, in, out int) {
	for i := range n {
		for k, v := range a[i*in:][:in] {
			if v != 0 { // units that are off, and one-hot columns
				bitmath.Axpy(scale*v, b[k*out:][:out], c[i*out:][:out])
			}
		}
	}
}

// addCrossed adds scale a' b to c: a has n rows of in numbers, b has n rows of out.
func addCrossed(c []float64, scale float64, a, b []float64, n, in, out int) {
	for i := range n {
		for k, v := range a[i*in:][:in] {
			if v != 0 {
				bitmath.Axpy(scale*v, b[i*out:][:out], c[k*out:][:out])
			}
		}
	}
}
