// Package learn holds the classical learners that judge synthetic tables. Each means
// what the function of scikit-learn 1.2.1 (or statsmodels 0.13.5) means that its
// comment names, with the settings that it has by default; how it is computed is ours, from the
// papers that comments cite. Randomness comes from the caller; no result depends on the
// number of workers.
package learn

// Matrix is a design matrix by column: Cols[j][i] is feature j of row i. Values
// are finite. One-hot columns may stand in Blocks instead, by ascending First; their
// places in Cols are nil, so that len(Cols) is the number of features either way.
type Matrix struct {
	Rows   int
	Cols   [][]float64
	Blocks []Block
}

// NewMatrix is a matrix of zeros.
func NewMatrix(rows, cols int) Matrix {
	m, all := Matrix{Rows: rows, Cols: make([][]float64, cols)}, make([]float64, rows*cols)
	for j := range m.Cols {
		m.Cols[j] = all[j*rows : (j+1)*rows : (j+1)*rows]
	}
	return m
}

// Row copies row i into dst, which has a place for each column.
func (m Matrix) Row(i int, dst []float64) []float64 {
	if len(m.Blocks) > 0 {
		m.rows(i, i+1, len(m.Cols), dst)
		return dst
	}
	for j, c := range m.Cols {
		dst[j] = c[i]
	}
	return dst
}

// Take is the matrix of the rows at the given places, in that order.
func (m Matrix) Take(places []int) Matrix {
	t := Matrix{Rows: len(places), Cols: make([][]float64, len(m.Cols))}
	m.each(func(j int, c []float64) {
		t.Cols[j] = make([]float64, len(places))
		for k, i := range places {
			t.Cols[j][k] = c[i]
		}
	}, func(b Block) { t.Blocks = append(t.Blocks, b.take(places)) })
	return t
}

// Standardise returns (x-mean)/scale with the population standard deviation as
// scale; a constant column has scale 1 (sklearn StandardScaler).
func (m Matrix) Standardise() (z Matrix, mean, scale []float64) {
	m = m.Dense()
	z = NewMatrix(m.Rows, len(m.Cols))
	mean, scale = make([]float64, len(m.Cols)), make([]float64, len(m.Cols))
	for j, c := range m.Cols {
		mean[j], scale[j] = Moments(c)
		for i, v := range c {
			z.Cols[j][i] = (v - mean[j]) / scale[j]
		}
	}
	return z, mean, scale
}

// Moments returns the mean and the population standard deviation of x; the
// latter is 1 where x is constant or empty.
func Moments(x []float64) (mean, scale float64) {
	if len(x) == 0 {
		return 0, 1
	}
	for _, v := range x {
		mean += v
	}
	mean /= float64(len(x))
	ss := 0.0
	for _, v := range x {
		ss += float64((v - mean) * (v - mean))
	}
	if constant(x) || ss == 0 {
		return mean, 1
	}
	return mean, sqrt(ss / float64(len(x)))
}

func constant(x []float64) bool {
	for _, v := range x {
		if v != x[0] {
			return false
		}
	}
	return true
}
