package learn

import (
	"math"

	"weir/internal/bitmath"
)

func sqrt(x float64) float64 { return math.Sqrt(x) }

// Sigmoid is 1/(1+exp(-z)), without overflow.
func Sigmoid(z float64) float64 {
	if z >= 0 {
		return 1 / (1 + bitmath.Exp(-z))
	}
	e := bitmath.Exp(z)
	return e / (1 + e)
}

// sigmoids is Sigmoid(z) and Sigmoid(-z), each with its leading digits.
func sigmoids(z float64) (s, not float64) {
	e := bitmath.Exp(-math.Abs(z))
	if s, not = 1/(1+e), e/(1+e); z < 0 {
		return not, s
	}
	return s, not
}

// softplus is log(1+exp(z)), without overflow.
func softplus(z float64) float64 {
	if z > 0 {
		return z + bitmath.Log1p(bitmath.Exp(-z))
	}
	return bitmath.Log1p(bitmath.Exp(z))
}

// softmax replaces z by exp(z)/sum, after subtracting the greatest.
func softmax(z []float64) {
	greatest, sum := math.Inf(-1), 0.0
	for _, v := range z {
		greatest = max(greatest, v)
	}
	for i, v := range z {
		z[i] = bitmath.Exp(v - greatest)
		sum += z[i]
	}
	for i := range z {
		z[i] /= sum
	}
}

// dot is the inner product. The conversion keeps compilers of processors that can from
// fusing product and sum, here, in axpy and where trees choose between splits.
func dot(a, b []float64) float64 {
	s := 0.0
	for i, v := range a {
		s += float64(v * b[i])
	}
	return s
}

func axpy(alpha float64, x, y []float64) {
	for i, v := range x {
		y[i] += float64(alpha * v)
	}
}

func normInf(x []float64) float64 {
	m := 0.0
	for _, v := range x {
		m = max(m, math.Abs(v))
	}
	return m
}

func argmax(p []float64) int {
	at := 0
	for i, v := range p {
		if v > p[at] {
			at = i
		}
	}
	return at
}
