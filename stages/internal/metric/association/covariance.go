package association

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"weir/internal/bitmath"
)

// CovarianceDistance is how far two covariance matrices are apart.
type CovarianceDistance struct {
	Frobenius, Relative float64 // relative: over the norm of the real one, NaN where that is 0
	Spectral            float64 // greatest singular value of the difference
	MaxAbsolute         float64
}

// CompareCovariances compares covariance matrices of one size, at least 1.
func CompareCovariances(real, synth *mat.SymDense) (CovarianceDistance, bool) {
	n := real.SymmetricDim()
	gap := mat.NewSymDense(n, nil)
	var d CovarianceDistance
	norm := 0.0
	for i := range n {
		for j := range n {
			v := real.At(i, j) - synth.At(i, j)
			gap.SetSym(i, j, v)
			d.Frobenius += float64(v * v)
			norm += float64(real.At(i, j) * real.At(i, j))
			d.MaxAbsolute = max(d.MaxAbsolute, math.Abs(v))
		}
	}
	d.Frobenius = math.Sqrt(d.Frobenius)
	d.Relative = ratio(d.Frobenius, math.Sqrt(norm))
	columns := make([][]float64, n)
	for j := range columns {
		columns[j] = mat.Col(nil, j, gap)
	}
	values, _, ok := bitmath.SymmetricEigen(columns)
	for _, v := range values {
		d.Spectral = max(d.Spectral, math.Abs(v))
	}
	return d, ok
}
