package noise

import "math"

// Poisson returns in dst[:0], grown as needed, the rows of [0, n) that a Poisson
// sample takes: each row independently with probability q, ascending. No row is
// taken for q <= 0 (or NaN), all for q >= 1. n must be below 2^31.
//
// From q = 1/4 up each row compares q with 64 random bits, which is exact for
// every float64 in that range. Below, the gaps between rows taken are geometric:
// floor(ln U / ln(1-q)) with U of 53 significant bits at any size, so that
// Pr(gap >= k) = (1-q)^k up to a relative error of 2^-51 (1 + k q), the rounding
// of U and of the two logarithms. The effective rate of a row is q within one
// part in 2^50.
func (st *Stream) Poisson(dst []int32, n int, q float64) []int32 {
	dst = dst[:0]
	switch {
	case !(q > 0):
		return dst
	case q >= 1:
		for i := range n {
			dst = append(dst, int32(i))
		}
		return dst
	case q >= 0.25:
		return st.poissonDense(dst, n, q)
	}
	return st.poissonSparse(dst, n, q)
}

func (st *Stream) poissonDense(dst []int32, n int, q float64) []int32 {
	threshold := uint64(q * 0x1p64)
	for i := range n {
		if st.Uint64() < threshold {
			dst = append(dst, int32(i))
		}
	}
	return dst
}

func (st *Stream) poissonSparse(dst []int32, n int, q float64) []int32 {
	per := ln1m(q)
	for i := 0; i < n; i++ {
		gap := math.Floor(ln(st.unit()) / per)
		if gap >= float64(n-i) {
			break
		}
		i += int(gap)
		dst = append(dst, int32(i))
	}
	return dst
}
