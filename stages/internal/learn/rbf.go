package learn

import (
	"context"
	"fmt"

	"weir/internal/bitmath"
	"weir/train/parallel"
)

// RBFSVM is a support vector classifier with kernel exp(-gamma |a-b|^2), gamma
// 1/(p Var(x)) (SVC, gamma="scale"), trained by sequential minimal optimisation
// with second-order working sets to a gap of 1e-3 (Fan, Chen, Lin 2005). The
// kernel matrix is held whole, 4 bytes a cell, so that more than MaxRows rows
// are sampled down at random, and said so. More than two classes: one against
// the rest.
type RBFSVM struct {
	C       float64
	MaxRows int
}

type rbf struct {
	vectors Matrix // the rows with a weight in any output
	alpha   [][]float64
	rho     []float64
	gamma   float64
	workers int
	note    string
}

// Fit implements Classifier.
func (s RBFSVM) Fit(ctx context.Context, x Matrix, y Labels, run Run) (Scorer, error) {
	m := &rbf{workers: run.Workers}
	if s.MaxRows > 0 && x.Rows > s.MaxRows {
		m.note = fmt.Sprintf("the RBF SVM learns from %d of %d rows, drawn at random", s.MaxRows, x.Rows)
		keep := keepClasses(run.Rand.Perm(x.Rows), y, s.MaxRows)
		x, y = x.Take(keep), Labels{takeInts(y.Y, keep), y.Classes}
	}
	m.gamma = scaleGamma(x)
	kernel := m.kernel(x)
	for k := range y.Classes {
		if y.Classes == 2 && k == 0 {
			continue
		}
		a, rho, err := s.smo(ctx, kernel, y.is(k))
		if err != nil {
			return nil, err
		}
		m.alpha, m.rho = append(m.alpha, a), append(m.rho, rho)
	}
	m.compact(x)
	return m, nil
}

// keepClasses is the first n rows of order, with one row of each class that they
// lack put in the place of the last ones.
func keepClasses(order []int, y Labels, n int) []int {
	keep, seen := order[:n], make([]bool, y.Classes)
	for _, i := range keep {
		seen[y.Y[i]] = true
	}
	at := n - 1
	for _, i := range order[n:] {
		if !seen[y.Y[i]] {
			seen[y.Y[i]] = true
			keep[at] = i
			at--
		}
	}
	return keep
}

func takeInts(from []int, places []int) []int {
	to := make([]int, len(places))
	for k, i := range places {
		to[k] = from[i]
	}
	return to
}

// scaleGamma is 1/(p Var) with the variance of all cells; 1 where it is 0.
func scaleGamma(x Matrix) float64 {
	var all []float64
	for _, c := range x.Dense().Cols {
		all = append(all, c...)
	}
	if len(all) == 0 || constant(all) {
		return 1
	}
	_, sd := Moments(all)
	return 1 / (float64(len(x.Cols)) * sd * sd)
}

func (m *rbf) kernel(x Matrix) [][]float32 {
	p := len(x.Cols) + 1
	rows, k := rowMajor(x), make([][]float32, x.Rows)
	parallel.Do(m.workers, x.Rows, func(_, i int) {
		k[i] = make([]float32, x.Rows)
		a := rows[i*p : i*p+p-1]
		for j := range x.Rows {
			k[i][j] = float32(bitmath.Exp(-m.gamma * squared(a, rows[j*p:j*p+p-1])))
		}
	})
	return k
}

func squared(a, b []float64) float64 {
	s := 0.0
	for i, v := range a {
		d := v - b[i]
		s += float64(d * d)
	}
	return s
}

// compact keeps the rows that any output uses.
func (m *rbf) compact(x Matrix) {
	var keep []int
	for i := range x.Rows {
		for _, a := range m.alpha {
			if a[i] != 0 {
				keep = append(keep, i)
				break
			}
		}
	}
	m.vectors = x.Take(keep)
	for k, a := range m.alpha {
		cut := make([]float64, len(keep))
		for j, i := range keep {
			cut[j] = a[i]
		}
		m.alpha[k] = cut
	}
}

// Note says that rows were sampled down.
func (m *rbf) Note() string { return m.note }

func (m *rbf) Probabilities() bool { return false }

func (m *rbf) Scores(x Matrix) Matrix {
	p := len(x.Cols) + 1
	rows, vectors, d := rowMajor(x), rowMajor(m.vectors), NewMatrix(x.Rows, len(m.alpha))
	blocks := (x.Rows + chunk - 1) / chunk
	parallel.Do(m.workers, blocks, func(_, b int) {
		for i := b * chunk; i < min((b+1)*chunk, x.Rows); i++ {
			for k := range m.alpha {
				d.Cols[k][i] = -m.rho[k]
			}
			for v := range m.vectors.Rows {
				s := bitmath.Exp(-m.gamma * squared(rows[i*p:i*p+p-1], vectors[v*p:v*p+p-1]))
				for k, a := range m.alpha {
					d.Cols[k][i] += float64(a[v] * s)
				}
			}
		}
	})
	if len(d.Cols) > 1 {
		return d
	}
	return signed(d.Cols[0])
}
