package sweep

import (
	"math"

	"weir/internal/bitmath"
)

// Level is that of all intervals.
const Level = 0.95

// Summary is a sample of values. What it has too few of to tell is nil: the mean of none,
// spread and interval of one.
type Summary struct {
	N    int      `json:"n"`
	Mean *float64 `json:"mean"`
	SD   *float64 `json:"sd"`   // of the sample, over n-1
	Low  *float64 `json:"low"`  // of the interval of the mean
	High *float64 `json:"high"` // by Student's t with n-1 degrees of freedom (Student, Biometrika 6, 1908)
}

// Summarize takes finite values.
func Summarize(values []float64) Summary {
	s := Summary{N: len(values)}
	if s.N == 0 {
		return s
	}
	mean, sd := moments(values)
	s.Mean = &mean
	if s.N > 1 {
		half := float64(quantile(s.N-1) * sd / math.Sqrt(float64(s.N)))
		low, high := mean-half, mean+half
		s.SD, s.Low, s.High = &sd, &low, &high
	}
	return s
}

// moments are the mean and the deviation over n-1 of two values or more; products are rounded
// before they are added, so that every processor gives the same bits.
func moments(values []float64) (mean, sd float64) {
	for _, x := range values {
		mean += x
	}
	mean /= float64(len(values))
	for _, x := range values {
		sd += float64((x - mean) * (x - mean))
	}
	return mean, math.Sqrt(sd / float64(len(values)-1))
}

// quantile of Student's t that leaves half of 1-Level above it.
func quantile(degrees int) float64 {
	return bitmath.StudentQuantile(float64(degrees), (1+Level)/2)
}

// Half is half the width of the interval; NaN where there is none.
func (s Summary) Half() float64 {
	if s.High == nil {
		return math.NaN()
	}
	return (*s.High - *s.Low) / 2
}

// Clear tells whether the interval leaves 0 out.
func (s Summary) Clear() bool {
	return s.Low != nil && !s.alike() && (*s.Low > 0 || *s.High < 0)
}

// alike tells whether all values are the same, but for rounding. Student's law says nothing of these: two
// shares of the same few test rows are often equal by chance, and their interval has no width.
func (s Summary) alike() bool { return s.SD != nil && *s.SD <= 1e-9*math.Abs(*s.Mean) }
