//go:build !amd64 || noasm || gccgo || safe

package portable

// Dot is the sum of the products of x and y, of equal length, in the order of dot.
func Dot(x, y []float64) float64 { return dot(x, y) }

// Axpy adds a*x to y, of equal length, each product rounded before it is added.
func Axpy(a float64, x, y []float64) { axpy(a, x, y) }
