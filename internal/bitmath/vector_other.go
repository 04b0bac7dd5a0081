//go:build !amd64 || noasm || gccgo || safe

package bitmath

// Dot returns the sum of the products of x and y, of equal length, in the order of gonum's
// assembly for amd64: four sums, of the elements 0, 4, 8 and so on, 1, 5, 9 and so on, to
// the last whole four; what is left goes to the first.
func Dot(x, y []float64) float64 {
	var a, b, c, d float64
	y = y[:len(x)]
	for len(x) >= 4 {
		p, q := (*[4]float64)(x), (*[4]float64)(y)
		a += float64(p[0] * q[0])
		b += float64(p[1] * q[1])
		c += float64(p[2] * q[2])
		d += float64(p[3] * q[3])
		x, y = x[4:], y[4:]
	}
	for i, v := range x {
		a += float64(v * y[i])
	}
	return (a + c) + (b + d)
}

// Axpy adds a*x to y, of equal length, each product rounded before it is added.
func Axpy(a float64, x, y []float64) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] += float64(a * v)
	}
}
