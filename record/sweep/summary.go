package sweep

import (
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
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
	mean, sd := stat.MeanStdDev(values, nil)
	s.Mean = &mean
	if s.N > 1 {
		half := quantile(s.N-1) * sd / math.Sqrt(float64(s.N))
		low, high := mean-half, mean+half
		s.SD, s.Low, s.High = &sd, &low, &high
	}
	return s
}

// quantile of Student's t that leaves half of 1-Level above it.
func quantile(degrees int) float64 {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(degrees)}.Quantile((1 + Level) / 2)
}

// Half is half the width of the interval; NaN where there is none.
func (s Summary) Half() float64 {
	if s.High == nil {
		return math.NaN()
	}
	return (*s.High - *s.Low) / 2
}

// Clear tells whether the interval leaves 0 out.
func (s Summary) Clear() bool { return s.Low != nil && (*s.Low > 0 || *s.High < 0) }
