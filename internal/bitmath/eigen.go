package bitmath

import (
	"cmp"
	"math"
	"slices"
)

// tridiagonal is a symmetric matrix Q T Q' of which T has numbers on its diagonal and
// beside it alone.
type tridiagonal struct {
	diagonal, beside []float64
	vectors          [][]float64 // the columns of Q
}

// SymmetricEigen returns the eigenvalues, rising, and their vectors of unit length, of a
// symmetric matrix of which it takes the columns; it reads those from the diagonal
// down. It is false where they do not converge. Method: reflections to a tridiagonal matrix, then
// implicit QR steps with Wilkinson's shift (Golub, Van Loan 2013, algorithms 8.3.1 to
// 8.3.3).
func SymmetricEigen(columns [][]float64) (values []float64, vectors [][]float64, ok bool) {
	size := scaled(columns)
	t := reduced(columns)
	if !t.diagonalise() {
		return nil, nil, false
	}
	for k, v := range t.diagonal {
		t.diagonal[k] = math.Ldexp(v, size)
	}
	order := make([]int, len(columns))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(t.diagonal[a], t.diagonal[b]) })
	for _, k := range order {
		values, vectors = append(values, t.diagonal[k]), append(vectors, t.vectors[k])
	}
	return values, vectors, true
}

// scaled divides by the power of two by which the greatest size is below 1, so that
// products neither overflow nor vanish, and returns the exponent.
func scaled(columns [][]float64) (exponent int) {
	greatest := 0.0
	for j, c := range columns {
		for _, v := range c[j:] {
			greatest = max(greatest, math.Abs(v))
		}
	}
	_, exponent = math.Frexp(greatest)
	for j, c := range columns {
		for i := j; i < len(c); i++ {
			c[i] = math.Ldexp(c[i], -exponent)
		}
	}
	return exponent
}

// reduced takes the columns from left to right: each is reflected onto its first two
// numbers, and the matrix to the right of it and below turned with it. The columns hold
// the reflections until all are known, and then Q.
func reduced(columns [][]float64) *tridiagonal {
	n := len(columns)
	t := &tridiagonal{make([]float64, n), make([]float64, max(n-1, 0)), columns}
	factors := make([]float64, n)
	for k, c := range columns {
		t.diagonal[k] = c[k]
		if k+1 < n {
			t.beside[k], factors[k] = reflection(c[k+1:])
			reflectBoth(columns[k+1:], k+1, c[k+1:], factors[k])
		}
	}
	for k := n - 1; k >= 0; k-- {
		if k+1 < n && factors[k] != 0 {
			v := columns[k][k+1:]
			for _, q := range columns[k+1:] {
				Axpy(-float64(factors[k]*Dot(v, q[k+1:])), v, q[k+1:])
			}
		}
		clear(columns[k])
		columns[k][k] = 1
	}
	return t
}

// reflectBoth returns H B H for H = I - factor v v' and the symmetric B whose columns begin, from the diagonal
// down, at place first of the given ones: B - v w' - w v', with p = factor B v and
// w = p - factor (p'v/2) v.
func reflectBoth(columns [][]float64, first int, v []float64, factor float64) {
	if factor == 0 {
		return
	}
	w := make([]float64, len(v))
	for j, c := range columns {
		below := c[first+j:]
		w[j] += Dot(below, v[j:])
		Axpy(v[j], below[1:], w[j+1:])
	}
	for j := range w {
		w[j] *= factor
	}
	Axpy(-float64(factor*Dot(w, v))/2, v, w)
	for j, c := range columns {
		Axpy(-v[j], w[j:], c[first+j:])
		Axpy(-w[j], v[j:], c[first+j:])
	}
}

// mostSteps is how many QR steps there may be for an eigenvalue; two or three are usual.
const mostSteps = 60

// diagonalise takes QR steps on the last block that is not diagonal yet, until none is.
func (t *tridiagonal) diagonalise() bool {
	n := len(t.diagonal)
	steps := mostSteps * n
	for last := n - 1; last > 0; {
		first := t.block(last)
		switch {
		case first == last:
			last--
		case steps == 0:
			return false
		default:
			t.step(first, last)
			steps--
		}
	}
	return !slices.ContainsFunc(t.diagonal, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
}

// nothing is lost in rounding beside the greatest number of a matrix, which is near 1.
const nothing = 0x1p-900

// block returns where the block begins that ends at last: what stands beside the diagonal
// there is no more than rounding of the two numbers on it.
func (t *tridiagonal) block(last int) (first int) {
	for first = last; first > 0; first-- {
		near := math.Abs(t.diagonal[first-1]) + math.Abs(t.diagonal[first])
		if math.Abs(t.beside[first-1]) <= max(float64(0x1p-53*near), nothing) {
			break
		}
	}
	return first
}

// shift returns the eigenvalue of the last two rows of a block that is nearer to the last
// number: d - b^2/(h + sign(h) sqrt(h^2 + b^2)), h being half the difference of the two.
func (t *tridiagonal) shift(last int) float64 {
	d, b := t.diagonal[last], t.beside[last-1]
	ratio := float64((t.diagonal[last-1]-d)/2) / b
	return d - b/(ratio+math.Copysign(length(ratio, 1), ratio))
}

// step returns one implicit QR step. A rotation of rows and columns k and k+1 sets to 0 what
// the one before pushed two places from the diagonal, and pushes the next.
func (t *tridiagonal) step(first, last int) {
	x, pushed := t.diagonal[first]-t.shift(last), t.beside[first]
	for k := first; k < last; k++ {
		r, c, s := length(x, pushed), 1.0, 0.0
		if r > 0 {
			c, s = x/r, pushed/r
		}
		if k > first {
			t.beside[k-1] = r
		}
		t.rotate(k, c, s)
		if x = t.beside[k]; k+1 < last {
			pushed = float64(s * t.beside[k+1])
			t.beside[k+1] = float64(c * t.beside[k+1])
		}
		turn(t.vectors[k], t.vectors[k+1], c, -s)
	}
}

// rotate returns the matrix (a b; b d) between a rotation and its inverse: a c^2 + 2 b c s +
// d s^2 is a plus, and the other number on the diagonal d less, what is moved.
func (t *tridiagonal) rotate(k int, c, s float64) {
	a, b, d := t.diagonal[k], t.beside[k], t.diagonal[k+1]
	along := float64(s*(d-a)) + float64(2*c*b)
	moved := float64(s * along)
	t.diagonal[k], t.diagonal[k+1] = a+moved, d-moved
	t.beside[k] = float64(c*along) - b
}

// turn rotates two columns: x = c x - s y, y = s x + c y.
func turn(x, y []float64, c, s float64) {
	for k, a := range x {
		b := y[k]
		x[k] = float64(c*a) - float64(s*b)
		y[k] = float64(s*a) + float64(c*b)
	}
}

// length returns the root of x*x + y*y, which does not overflow on the way.
func length(x, y float64) float64 {
	x, y = math.Abs(x), math.Abs(y)
	if x < y {
		x, y = y, x
	}
	if x == 0 {
		return 0
	}
	q := y / x
	return float64(x * math.Sqrt(1+float64(q*q)))
}

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
	upper, sum := 0.0, 0.0
	for _, v := range x[1:] {
		upper = max(upper, math.Abs(v))
	}
	if upper == 0 {
		x[0] = 1
		return first, 0
	}
	greatest := max(upper, math.Abs(first))
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
	high := -math.Copysign(float64(greatest*math.Sqrt(sum)), first)
	away := first - high
	for i := range x {
		x[i] /= away
	}
	x[0] = 1
	return high, (high - first) / high
}

// Singular turns the columns of a matrix A into the columns of U S, where A = U S V', and returns
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
				if c, s, orthogonal := rotation(columns[i], columns[j]); !orthogonal {
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

// rotation reports whether two columns are orthogonal to rounding, or the turn that makes
// them so.
func rotation(x, y []float64) (c, s float64, ok bool) {
	a, b, mixed := Dot(x, x), Dot(y, y), Dot(x, y)
	if math.Abs(mixed) <= float64(0x1p-50*math.Sqrt(a)*math.Sqrt(b)) {
		return 1, 0, true
	}
	zeta := (b - a) / float64(2*mixed)
	t := math.Copysign(1/(math.Abs(zeta)+length(zeta, 1)), zeta)
	c = 1 / length(t, 1)
	return c, float64(c * t), false
}
