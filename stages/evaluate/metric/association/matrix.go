package association

import "math"

// Difference sums up real minus synthetic of two symmetric matrices. Places where
// either is NaN are left out and counted.
type Difference struct {
	MeanAbsoluteUpper, RMSUpper float64 // strict upper triangle; NaN where nothing is defined there
	MaxAbsolute, Frobenius      float64 // full matrix
	Undefined                   int     // places of the strict upper triangle left out
}

// Compare compares two matrices of one size.
func Compare(real, synth [][]float64) Difference {
	var d Difference
	n, squares := 0.0, 0.0
	for i := range real {
		for j := range real {
			gap := math.Abs(real[i][j] - synth[i][j])
			if math.IsNaN(gap) {
				if i < j {
					d.Undefined++
				}
				continue
			}
			d.MaxAbsolute = max(d.MaxAbsolute, gap)
			squares += gap * gap
			if i < j {
				n++
				d.MeanAbsoluteUpper += gap
				d.RMSUpper += gap * gap
			}
		}
	}
	d.MeanAbsoluteUpper, d.RMSUpper, d.Frobenius = d.MeanAbsoluteUpper/n, math.Sqrt(d.RMSUpper/n), math.Sqrt(squares)
	return d
}

// Symmetric fills an n by n matrix by pair for i < j and self on the diagonal.
func Symmetric(n int, pair func(i, j int) float64, self func(i int) float64) [][]float64 {
	m := make([][]float64, n)
	for i := range m {
		m[i] = make([]float64, n)
	}
	for i := range m {
		m[i][i] = self(i)
		for j := i + 1; j < n; j++ {
			m[i][j] = pair(i, j)
			m[j][i] = m[i][j]
		}
	}
	return m
}
