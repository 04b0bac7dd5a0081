package distance

import (
	"math"
	"slices"
)

// Numeric compares the distribution functions F of x and G of y.
type Numeric struct {
	KS          float64 // sup |F-G|
	Wasserstein float64 // integral of |F-G|, in units of the column
	Energy      float64 // sqrt(2 integral (F-G)^2) (scipy energy_distance)
}

// NewNumeric compares two sorted samples without missing values; all are NaN
// where one is empty.
func NewNumeric(x, y []float64) Numeric {
	if len(x) == 0 || len(y) == 0 {
		return Numeric{math.NaN(), math.NaN(), math.NaN()}
	}
	n, m := int64(len(x)), int64(len(y))
	var d Numeric
	worst, energy := int64(0), 0.0
	at := min(x[0], y[0])
	for i, j := 0, 0; i < len(x) || j < len(y); {
		next := nextValue(x, y, i, j)
		// gap is n m (F-G) just below next: exact in integers.
		gap := int64(i)*m - int64(j)*n
		f := math.Abs(float64(gap)) / (float64(n) * float64(m))
		d.Wasserstein += float64(f * (next - at))
		energy += float64(f * f * (next - at))
		for i < len(x) && x[i] == next {
			i++
		}
		for j < len(y) && y[j] == next {
			j++
		}
		at = next
		gap = int64(i)*m - int64(j)*n
		worst = max(worst, gap, -gap)
	}
	d.KS, d.Energy = float64(worst)/(float64(n)*float64(m)), math.Sqrt(2*energy)
	return d
}

func nextValue(x, y []float64, i, j int) float64 {
	switch {
	case i == len(x):
		return y[j]
	case j == len(y):
		return x[i]
	}
	return min(x[i], y[j])
}

// Sorted returns the values that are present, sorted.
func Sorted(x []float64) []float64 {
	s := make([]float64, 0, len(x))
	for _, v := range x {
		if !math.IsNaN(v) {
			s = append(s, v)
		}
	}
	slices.Sort(s)
	return s
}

// SD is the population standard deviation.
func SD(x []float64) float64 {
	mean := sum(x) / float64(len(x))
	s := 0.0
	for _, v := range x {
		s += square(v - mean)
	}
	return math.Sqrt(s / float64(len(x)))
}
