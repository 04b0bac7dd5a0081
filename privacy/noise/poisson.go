package noise

import "math"

// Poisson returns in dst[:0], grown as needed, the rows of [0, n) that a Poisson
// sample takes: each row independently with probability q, ascending. No row is
// taken for q <= 0 (or NaN), all for q >= 1. n must be below 2^31.
//
// From q = 1/4 up each row compares q with 64 random bits, which is exact for
// every float64 in that range. Below, the gap to the next row is geometric,
// floor(E / -ln(1-q)) with E exponential. E and the quotient are good to a
// relative 2^-50, so Pr(gap = k) is right to a relative 2^-50 (k+1): for q = 0.002
// the rate at which a row is taken is q within one part in 10^12, for q = 1e-9
// within one in 10^6.
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

// poissonSparse jumps from row taken to row taken.
func (st *Stream) poissonSparse(dst []int32, n int, q float64) []int32 {
	per := -ln1m(q)
	for i := 0; i < n; i++ {
		gap := math.Floor(st.exponential() / per)
		if gap >= float64(n-i) {
			break
		}
		i += int(gap)
		dst = append(dst, int32(i))
	}
	return dst
}
