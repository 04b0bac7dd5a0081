package bitmath

import "math"

// Triangle turns the columns of a matrix, which has at least as many rows, into R of its QR
// decomposition: the head of each column, what is below the diagonal being left over
// (Householder 1958; Golub, Van Loan 2013, section 5.2).
func Triangle(columns [][]float64) {
	for k, c := range columns {
		x := c[k:]
		first, factor := reflection(x)
		if factor != 0 {
			for _, y := range columns[k+1:] {
				Axpy(-float64(factor*Dot(x, y[k:])), x, y[k:])
			}
		}
		x[0] = first
	}
}

// reflection turns x into the v, of which the first number is 1, whose reflection
// I - factor v v' takes x to its length along the first axis, of the sign that loses no
// digits: first. The factor is 0 where x lies there already.
func reflection(x []float64) (first, factor float64) {
	first = x[0]
	beyond, sum := 0.0, 0.0
	for _, v := range x[1:] {
		beyond = max(beyond, math.Abs(v))
	}
	if beyond == 0 {
		x[0] = 1
		return first, 0
	}
	greatest := max(beyond, math.Abs(first))
	if greatest < 0x1p-900 { // where lengths are rounded below the normal numbers
		for i := range x {
			x[i] *= 0x1p200
		}
		first, factor = reflection(x)
		return first * 0x1p-200, factor
	}
	for _, v := range x {
		v /= greatest // so that no square overflows
		sum += float64(v * v)
	}
	to := -math.Copysign(float64(greatest*math.Sqrt(sum)), first)
	away := first - to
	for i := range x {
		x[i] /= away
	}
	x[0] = 1
	return to, (to - first) / to
}

// Singular turns the columns of a matrix A into those of U S, where A = U S V', and returns
// the columns of V and the singular values, which are in no order (one-sided Jacobi: Golub,
// Van Loan 2013, section 8.6.3). It is false where they do not converge.
func Singular(columns [][]float64) (values []float64, right [][]float64, ok bool) {
	n := len(columns)
	right = make([][]float64, n)
	for j := range right {
		right[j] = make([]float64, n)
		right[j][j] = 1
	}
	for range 60 { // it takes about six
		turned := false
		for i := range n {
			for j := i + 1; j < n; j++ {
				if c, s, apart := apart(columns[i], columns[j]); !apart {
					turn(columns[i], columns[j], c, s)
					turn(right[i], right[j], c, s)
					turned = true
				}
			}
		}
		if !turned {
			for _, c := range columns {
				values = append(values, math.Sqrt(Dot(c, c)))
			}
			return values, right, true
		}
	}
	return nil, nil, false
}

// apart reports whether two columns are orthogonal to rounding, or the turn that makes
// them so.
func apart(x, y []float64) (c, s float64, ok bool) {
	a, b, mixed := Dot(x, x), Dot(y, y), Dot(x, y)
	if math.Abs(mixed) <= float64(0x1p-50*math.Sqrt(a)*math.Sqrt(b)) {
		return 1, 0, true
	}
	zeta := (b - a) / float64(2*mixed)
	t := math.Copysign(1/(math.Abs(zeta)+length(zeta, 1)), zeta)
	c = 1 / length(t, 1)
	return c, float64(c * t), false
}
