package metric

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"

	"weir/internal/bitmath"
	"weir/stages/internal/learn"
)

// PCA is a centred principal component analysis.
type PCA struct {
	Mean       []float64
	Components [][]float64 // each of unit length, its loading of largest absolute value positive
	Variance   []float64   // explained, with n-1
	Ratio      []float64   // of the total variance; NaN where that is 0
}

// NewPCA takes the first `components` components of a table with the given mean
// and covariance (n-1).
func NewPCA(mean []float64, covariance *mat.SymDense, components int) (*PCA, error) {
	columns := make([][]float64, covariance.SymmetricDim())
	for j := range columns {
		columns[j] = mat.Col(nil, j, covariance)
	}
	values, vectors, ok := bitmath.SymmetricEigen(columns)
	if !ok {
		return nil, errors.New("the eigenvalues of the covariance do not converge")
	}
	total := mat.Trace(covariance)
	p := &PCA{Mean: mean}
	for k := range min(components, len(values)) {
		at := len(values) - 1 - k
		p.Components = append(p.Components, upright(vectors[at]))
		v := max(0, values[at])
		p.Variance, p.Ratio = append(p.Variance, v), append(p.Ratio, v/total)
	}
	return p, nil
}

// upright gives a component the sign that makes its loading of largest absolute
// value positive, the first of equals.
func upright(c []float64) []float64 {
	pos := 0
	for i, v := range c {
		// 1e-12 holds loadings equal that differ by rounding.
		if math.Abs(v) > math.Abs(c[pos])*(1+1e-12) {
			pos = i
		}
	}
	if c[pos] < 0 {
		for i := range c {
			c[i] = -c[i]
		}
	}
	return c
}

// Project returns the coordinates of each row, one for each component.
func (p *PCA) Project(m learn.Matrix) [][]float64 {
	out := make([][]float64, m.Rows)
	for i := range out {
		out[i] = make([]float64, len(p.Components))
	}
	m = m.Dense()
	for k, c := range p.Components {
		for j, column := range m.Cols {
			for i, v := range column {
				out[i][k] += float64(c[j] * (v - p.Mean[j]))
			}
		}
	}
	return out
}

// Spread returns the mean and the standard deviation (n-1) of the projection of a
// table with the given mean and covariance, for each component.
func (p *PCA) Spread(mean []float64, covariance *mat.SymDense) (point, sd []float64) {
	for _, c := range p.Components {
		variance := 0.0
		for j, w := range c {
			variance += float64(w * bitmath.Dot(c, mat.Col(nil, j, covariance)))
		}
		sd = append(sd, math.Sqrt(max(0, variance)))
		sum := 0.0
		for j, w := range c {
			sum += float64(w * (mean[j] - p.Mean[j]))
		}
		point = append(point, sum)
	}
	return point, sd
}

// Transport returns the exact Wasserstein-1 distance of two lists of as many points:
// the mean Euclidean cost of the best assignment. Points of a are assigned one after the other,
// each along a shortest path on which those before it change places (Jonker, Volgenant
// 1987, without their first phases), in n^3 steps. NaN for none, and where a
// distance is not finite.
func Transport(a, b [][]float64) float64 {
	n, cost := len(a), costs(a, b)
	if n == 0 || !finite(cost) {
		return math.NaN()
	}
	s := &assignment{cost: cost, price: make([]float64, n), place: make([]int, n), holder: make([]int, n)}
	for j := range s.holder {
		s.holder[j] = nobody
	}
	for i := range a {
		s.assign(i)
	}
	total := 0.0
	for j, i := range s.holder {
		total += s.cost[i][j]
	}
	return total / float64(n)
}

func costs(a, b [][]float64) [][]float64 {
	c := make([][]float64, len(a))
	for i, p := range a {
		c[i] = make([]float64, len(b))
		for j, q := range b {
			s := 0.0
			for k, v := range p {
				s += float64((v - q[k]) * (v - q[k]))
			}
			c[i][j] = math.Sqrt(s)
		}
	}
	return c
}

func finite(cost [][]float64) bool {
	for _, row := range cost {
		for _, c := range row {
			if !(c <= math.MaxFloat64) {
				return false
			}
		}
	}
	return true
}

// assignment gives places, points of b, to points of a. The price of a place is such that no
// holder finds another place cheaper, cost less price, than its own.
type assignment struct {
	cost   [][]float64
	price  []float64
	place  []int // of each point that has one
	holder []int // of each place, or nobody
}

const nobody = -1

// paths are the shortest ones from a point to the places: by whom each is reached, how
// long it is, and whether that is final.
type paths struct {
	length []float64
	by     []int
	final  []bool
}

// assign finds a place for point i, and other places for those that make room.
func (s *assignment) assign(i int) {
	p := paths{make([]float64, len(s.price)), make([]int, len(s.price)), make([]bool, len(s.price))}
	for j := range p.length {
		p.length[j] = math.Inf(1)
	}
	p.reach(s, i, 0)
	pos := p.nearest()
	for ; s.holder[pos] != nobody; pos = p.nearest() {
		p.final[pos] = true
		k := s.holder[pos]
		p.reach(s, k, p.length[pos]-(s.cost[k][pos]-s.price[pos]))
	}
	for j, final := range p.final {
		if final {
			s.price[j] += p.length[j] - p.length[pos]
		}
	}
	for mover := nobody; mover != i; {
		mover = p.by[pos]
		s.holder[pos], s.place[mover], pos = mover, pos, s.place[mover]
	}
}

// reach shortens paths by those over point i, whose ways to places begin at a length.
func (p *paths) reach(s *assignment, i int, begin float64) {
	for j, c := range s.cost[i] {
		if to := begin + (c - s.price[j]); !p.final[j] && to < p.length[j] {
			p.length[j], p.by[j] = to, i
		}
	}
}

// nearest returns the place of the shortest path that is not final.
func (p *paths) nearest() int {
	pos := nobody
	for j, length := range p.length {
		if !p.final[j] && (pos == nobody || length < p.length[pos]) {
			pos = j
		}
	}
	return pos
}
