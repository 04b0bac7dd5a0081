package learn

import (
	"context"
	"math"

	"weir/internal/bitmath"
)

// GaussianNB is naive Bayes with a normal law for each class and column. To each
// variance it adds VarSmoothing times the largest column variance (GaussianNB).
type GaussianNB struct{ VarSmoothing float64 }

type gaussianNB struct {
	logPrior       []float64
	mean, variance [][]float64 // by class, then column
	priors         []float64
	epsilon        float64
}

// Fit implements Classifier.
func (g GaussianNB) Fit(_ context.Context, x Matrix, y Labels, _ Run) (Scorer, error) {
	x = x.Dense()
	m := &gaussianNB{}
	for _, c := range x.Cols {
		if !constant(c) {
			_, sd := Moments(c)
			m.epsilon = max(m.epsilon, g.VarSmoothing*sd*sd)
		}
	}
	n := y.counts()
	for k := range y.Classes {
		m.priors = append(m.priors, float64(n[k])/float64(len(y.Y)))
		m.logPrior = append(m.logPrior, bitmath.Log(m.priors[k]))
	}
	m.mean, m.variance = classMoments(x, y)
	for _, vs := range m.variance {
		for j := range vs {
			vs[j] += m.epsilon
		}
	}
	return m, nil
}

// classMoments returns mean and population variance by class and column.
func classMoments(x Matrix, y Labels) (mean, variance [][]float64) {
	n := y.counts()
	for range y.Classes {
		mean, variance = append(mean, make([]float64, len(x.Cols))), append(variance, make([]float64, len(x.Cols)))
	}
	for j, c := range x.Cols {
		for i, v := range c {
			mean[y.Y[i]][j] += v / float64(n[y.Y[i]])
		}
		for i, v := range c {
			d := v - mean[y.Y[i]][j]
			variance[y.Y[i]][j] += d * d / float64(n[y.Y[i]])
		}
	}
	return mean, variance
}

func (m *gaussianNB) Probabilities() bool { return true }

func (m *gaussianNB) Scores(x Matrix) Matrix {
	x = x.Dense()
	s := NewMatrix(x.Rows, len(m.logPrior))
	for k, dst := range s.Cols {
		for i := range dst {
			dst[i] = m.logPrior[k]
		}
		for j, c := range x.Cols {
			mu, v := m.mean[k][j], m.variance[k][j]
			if v == 0 {
				continue // every column is constant: it says nothing of the class
			}
			base := float64(-0.5 * bitmath.Log(2*math.Pi*v))
			for i, a := range c {
				dst[i] += base - (a-mu)*(a-mu)/(2*v)
			}
		}
	}
	softmaxRows(s)
	return s
}

// BernoulliNB is naive Bayes on indicators x > 0, with (count+Alpha)/(n+2 Alpha)
// (BernoulliNB).
type BernoulliNB struct{ Alpha float64 }

type bernoulliNB struct {
	logPrior []float64
	share    [][]float64 // of ones, by class and column
}

// Fit implements Classifier.
func (b BernoulliNB) Fit(_ context.Context, x Matrix, y Labels, _ Run) (Scorer, error) {
	x = x.Dense()
	m, n := &bernoulliNB{}, y.counts()
	for k := range y.Classes {
		m.logPrior = append(m.logPrior, bitmath.Log(float64(n[k])/float64(len(y.Y))))
		m.share = append(m.share, make([]float64, len(x.Cols)))
	}
	for j, c := range x.Cols {
		for i, v := range c {
			if v > 0 {
				m.share[y.Y[i]][j]++
			}
		}
		for k := range m.share {
			m.share[k][j] = (m.share[k][j] + b.Alpha) / (float64(n[k]) + float64(2*b.Alpha))
		}
	}
	return m, nil
}

func (m *bernoulliNB) Probabilities() bool { return true }

func (m *bernoulliNB) Scores(x Matrix) Matrix {
	x = x.Dense()
	s := NewMatrix(x.Rows, len(m.logPrior))
	for k, dst := range s.Cols {
		for i := range dst {
			dst[i] = m.logPrior[k]
		}
		for j, c := range x.Cols {
			one, zero := bitmath.Log(m.share[k][j]), bitmath.Log(1-m.share[k][j])
			for i, v := range c {
				if v > 0 {
					dst[i] += one
				} else {
					dst[i] += zero
				}
			}
		}
	}
	softmaxRows(s)
	return s
}
