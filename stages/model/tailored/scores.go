package tailored

import (
	"math"

	"weir/privacy/mechanism"
)

// unit is what the longest part of a row is in whole numbers. Rows are rounded to whole
// numbers one by one, so that sums are exact whatever their order, and what one row moves
// is known to the last digit.
const unit = 1 << 20

// tally is a sum of vectors of rows, each of a norm of at most bound, in whole numbers.
type tally struct {
	sum   []int64
	moves mechanism.Moves
	scale float64 // of a whole number
}

// newTally has room for the sum of vectors of dim numbers that one row moves by at most
// alone when it comes or goes, and by both when it is replaced. Rounding adds half a
// number to each coordinate of each row.
func newTally(dim int, alone, both float64) *tally {
	scale := alone / unit
	slack := math.Sqrt(float64(dim))
	return &tally{sum: make([]int64, dim), scale: scale,
		moves: mechanism.Moves{AddRemove: (alone/scale + slack/2) * (1 + 1e-9), ReplaceOne: (both/scale + slack) * (1 + 1e-9)}}
}

func (t *tally) add(k int, v float64) { t.sum[k] += int64(math.Round(v / t.scale)) }

// release is the sum with noise, and the deviation of the noise.
func (t *tally) release(p purse, share float64) (sums []float64, sigma float64, err error) {
	whole, sigma, err := p.release(t.sum, t.moves, share)
	if err != nil {
		return nil, 0, err
	}
	for _, v := range whole {
		sums = append(sums, float64(float64(v)*t.scale))
	}
	return sums, sigma * t.scale, nil
}

// totals is the sum of outcomes and of exposures, each a share of the greatest.
func (l *likelihood) totals(n int) *tally {
	t := newTally(2, math.Sqrt2, math.Sqrt2)
	for i := range n {
		t.add(0, l.outcome[i]/l.most)
		t.add(1, l.exposure(i)/l.longest)
	}
	return t
}

// score is the gradient of the log likelihood and information minus its second derivative,
// both at coefficients theta.
//
// Sensitivity of the score: a row has residual r x, r from -cap to most, |x|² up to
// square. |r x - r' x'| is convex in (r, r'), so that it is largest at a corner: both
// most, most times the greatest distance of two rows, or of two signs, (most + cap) |x|.
// Of the information, whose numbers off the diagonal count sqrt(2) so that its norm is that of
// the matrix: weight |x|², and sqrt(2) times that for two rows, for the inner product of
// positive semidefinite matrices is not negative.
func (l *likelihood) sums(r rows, theta []float64) (score, information *tally) {
	d, norm := len(theta), math.Sqrt(r.square)
	alone := math.Max(l.most, l.cap)
	both := math.Max(float64(alone*math.Sqrt(r.diameter)), float64((l.most+l.cap)*norm))
	score = newTally(d, float64(alone*norm), both)
	heavy := float64(l.heaviest * r.square)
	information = newTally(d*(d+1)/2, heavy, float64(math.Sqrt2*heavy))
	x := make([]float64, d)
	for i := range r.n {
		r.row(i, x)
		z := 0.0
		for j, v := range x {
			z += float64(v * theta[j])
		}
		residual, weight := l.at(i, z)
		k := 0
		for j, v := range x {
			score.add(j, float64(residual*v))
			u := float64(weight * v)
			information.add(k, float64(u*v))
			k++
			u *= math.Sqrt2
			for _, w := range x[j+1:] {
				information.add(k, float64(u*w))
				k++
			}
		}
	}
	return score, information
}

// square is the symmetric matrix of what information holds.
func square(upper []float64, d int) [][]float64 {
	m := make([][]float64, d)
	for j := range m {
		m[j] = make([]float64, d)
	}
	k := 0
	for j := range d {
		m[j][j] = upper[k]
		k++
		for i := j + 1; i < d; i++ {
			m[j][i] = upper[k] / math.Sqrt2
			m[i][j] = m[j][i]
			k++
		}
	}
	return m
}
