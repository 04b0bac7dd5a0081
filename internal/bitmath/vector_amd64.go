//go:build !noasm && !gccgo && !safe

package bitmath

import "gonum.org/v1/gonum/blas/blas64"

// Dot returns the sum of the products of x and y, of equal length, by gonum's assembly;
// vector_other.go says in what order.
func Dot(x, y []float64) float64 { return blas64.Dot(vectorOf(x, y), vectorOf(y, x)) }

// Axpy adds a*x to y, of equal length, each product rounded before it is added.
func Axpy(a float64, x, y []float64) { blas64.Axpy(a, vectorOf(x, y), vectorOf(y, x)) }

func vectorOf(x, other []float64) blas64.Vector {
	if len(x) != len(other) {
		panic("bitmath: vectors of unequal length")
	}
	return blas64.Vector{N: len(x), Data: x, Inc: 1}
}
