package association

import "math"

// Difference sums up real minus synthetic over pairs of columns. Pairs where
// either is NaN are left out and counted; all figures are NaN where none is left.
type Difference struct {
	MeanAbsolute, RMS, MaxAbsolute float64 // over the pairs: the strict upper triangle of a symmetric matrix
	Frobenius                      float64 // of the whole matrix of differences, its diagonal 0
	Undefined                      int
}

// Compare compares the figures of pairs; mirrored says that each pair stands for
// two places of a symmetric matrix.
func Compare(real, synth []float64, mirrored bool) Difference {
	d := Difference{MaxAbsolute: math.NaN()}
	n, squares := 0.0, 0.0
	for i, v := range real {
		gap := math.Abs(v - synth[i])
		if math.IsNaN(gap) {
			d.Undefined++
			continue
		}
		n++
		d.MeanAbsolute += gap
		squares += float64(gap * gap)
		if !(gap <= d.MaxAbsolute) {
			d.MaxAbsolute = gap
		}
	}
	d.MeanAbsolute, d.RMS, d.Frobenius = d.MeanAbsolute/n, math.Sqrt(squares/n), math.Sqrt(squares)
	if mirrored {
		d.Frobenius *= math.Sqrt2
	}
	if n == 0 {
		d.Frobenius = math.NaN()
	}
	return d
}
