package question

import (
	"errors"
	"math"
	"slices"

	"weir/internal/bitmath"
)

// Belief is a normal law of coefficients: mean and covariance, and the covariance as it
// would be without noise of privacy.
type Belief struct {
	mean               []float64
	covariance, silent [][]float64
}

// IndependentBelief returns a law of coefficients that know nothing of each other, or of noise.
func IndependentBelief(mean, deviation []float64) Belief {
	b := Belief{mean: mean, covariance: make([][]float64, len(mean))}
	for j, v := range deviation {
		b.covariance[j] = make([]float64, len(mean))
		b.covariance[j][j] = v * v
	}
	b.silent = b.covariance
	return b
}

// noisy are released sums at coefficients theta: of scores, with noise of one deviation on
// each, and of information, with noise of another on each number of the upper triangle, those
// off the diagonal counting sqrt(2).
type noisy struct {
	theta, score        []float64
	information         [][]float64
	deviation, doubtful float64
}

// update returns what they say of the coefficients, under independent normal priors around 0 of
// precision prior.
//
// Near the maximum b the score at theta is H (b - theta), so that z = H theta + score is
// H b with noise of two sorts: the noise of the sample, of covariance H, and the noise of privacy, of
// variance s² on each number. So z has the covariance H + s² I, and the law of b has the
// precision H (H + s² I)^-1 H + prior, the mean its inverse times H (H + s² I)^-1 z
// (Bernstein, Sheldon 2019 for linear models). Directions of which noise hides all keep their prior.
//
// The noise E of H moves z by E (theta - b), which has a variance of at most the variance of E times
// |theta - b|², in the mean over the law of b: s² has it too, found by going round. That H is
// noisy in the precision is left out; what is negative of it counts as 0.
func update(point noisy, prior []float64) (b Belief, err error) {
	e, err := newEvidence(point)
	if err != nil {
		return b, err
	}
	variance := point.deviation * point.deviation
	for range 4 { // each changes what was added by less than the one before
		if b, err = e.law(variance, prior); err != nil {
			return b, err
		}
		away := 0.0
		for j, v := range b.mean {
			away += float64((v-point.theta[j])*(v-point.theta[j])) + b.covariance[j][j]
		}
		variance = float64(point.deviation*point.deviation) + float64(point.doubtful*point.doubtful*away)
		if point.doubtful == 0 { // nothing to go round for
			break
		}
	}
	b.silent, err = inverse(rebuilt(e.vectors, e.values, prior), slices.Min(prior))
	return b, err
}

// bend adds to the covariance what one step leaves out because H changes on its way d = b - theta,
// of which much is left where few events and noise keep the steps before from arriving. The weight w of a
// row changes by at most w in a unit of x d (logistic: w' = w (1-2p); Poisson: w' = w), so that to
// second order z is off by at most H d times half of x d, and b by about d times that. Of x d the mean
// square is taken, rows weighted as in H: d' H d over the sum of weights, which is the first number of H,
// as x has an intercept; where noise hides that sum, the longest row stands in. Of d d' it is the mean over
// the law of what the rows at hand say, which is the law of b without the noise of the sample.
// This is no bound: it is held to tables (TestFewEventsAreCovered). No coefficient is less known than by its prior.
func (b *Belief) bend(point noisy, square float64, prior []float64) {
	spread, away, along := make([][]float64, len(b.mean)), 0.0, 0.0
	for i, row := range b.covariance {
		spread[i] = make([]float64, len(row))
		for j, v := range row {
			spread[i][j] = v - b.silent[i][j] + float64((b.mean[i]-point.theta[i])*(b.mean[j]-point.theta[j]))
			along += float64(point.information[i][j] * spread[i][j])
		}
		away += math.Max(spread[i][i], 0)
	}
	far := float64(square * away)
	if weight := point.information[0][0]; weight > 2*point.doubtful {
		far = math.Min(far, math.Max(along, 0)/weight)
	}
	for i, row := range b.covariance {
		for j := range row {
			row[j] += float64(far * spread[i][j] / 4)
		}
	}
	for i, p := range prior {
		if v := b.covariance[i][i]; float64(v*p) > 1 {
			narrow(b.covariance, i, 1/math.Sqrt(float64(v*p)))
		}
	}
}

// narrow multiplies the deviation of coefficient i by share.
func narrow(covariance [][]float64, i int, share float64) {
	for j := range covariance {
		covariance[i][j] *= share
		covariance[j][i] *= share
	}
}

// evidence is z along the eigenvectors of H.
type evidence struct {
	values, along []float64
	vectors       [][]float64
}

func newEvidence(point noisy) (e evidence, err error) {
	ok := false
	if e.values, e.vectors, ok = bitmath.SymmetricEigen(point.information); !ok {
		return e, errors.New("the noisy information has no eigenvalues")
	}
	e.along = make([]float64, len(point.theta))
	for k, column := range e.vectors {
		e.values[k] = math.Max(e.values[k], 0)
		old, push := 0.0, 0.0
		for j, w := range column {
			old += float64(w * point.theta[j])
			push += float64(w * point.score[j])
		}
		e.along[k] = float64(e.values[k]*old) + push
	}
	return e, nil
}

// law returns the law of b where privacy's noise on z has a variance.
func (e evidence) law(variance float64, prior []float64) (b Belief, err error) {
	precision, right := make([]float64, len(prior)), make([]float64, len(prior))
	for k, h := range e.values {
		if h == 0 {
			continue
		}
		share := h / (h + variance)
		precision[k] = float64(share * h)
		for j, w := range e.vectors[k] {
			right[j] += float64(float64(share*e.along[k]) * w)
		}
	}
	if b.covariance, err = inverse(rebuilt(e.vectors, precision, prior), slices.Min(prior)); err != nil {
		return b, err
	}
	b.mean = times(b.covariance, right)
	return b, nil
}

// rebuilt returns the matrix of eigenvectors v and values, with more on its diagonal.
func rebuilt(v [][]float64, values, more []float64) [][]float64 {
	m := make([][]float64, len(v))
	for i := range m {
		m[i] = make([]float64, len(v))
		for j := range m {
			for k, column := range v {
				m[i][j] += float64(float64(values[k]*column[i]) * column[j])
			}
		}
	}
	for i, x := range more {
		m[i][i] += x
	}
	return m
}

// inverse returns the inverse of a positive definite matrix whose eigenvalues are at least the given
// one. Rounding takes those that are far below the largest anywhere, below 0 too, as the rows
// have it: that must not end a run, and what is known of them stands in.
func inverse(m [][]float64, least float64) ([][]float64, error) {
	values, v, ok := bitmath.SymmetricEigen(m)
	if !ok {
		return nil, errors.New("the precision of the coefficients has no eigenvalues")
	}
	for k, x := range values {
		values[k] = 1 / math.Max(x, least)
	}
	return rebuilt(v, values, nil), nil
}

func times(m [][]float64, x []float64) []float64 {
	out := make([]float64, len(m))
	for i, row := range m {
		for j, v := range row {
			out[i] += float64(v * x[j])
		}
	}
	return out
}

// transform returns the law of m times the coefficients.
func (b Belief) transform(m [][]float64) Belief {
	return Belief{times(m, b.mean), around(m, b.covariance), around(m, b.silent)}
}

// around returns m c m'.
func around(m, c [][]float64) [][]float64 {
	out := make([][]float64, len(m))
	for i, row := range m {
		half := make([]float64, len(c))
		for j := range c {
			for k, v := range row {
				half[j] += float64(v * c[k][j])
			}
		}
		out[i] = times(m, half)
	}
	return out
}
