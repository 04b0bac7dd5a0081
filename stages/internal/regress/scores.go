package regress

import (
	"context"
	"math"

	"weir/privacy/mechanism"
	"weir/train/parallel"
)

// unit is what the longest part of a row is in whole numbers. Rows are rounded to whole
// numbers one by one, so that sums are exact whatever their order, and what one row moves
// is known to the last digit.
const unit = 1 << 20

// Tally is a sum of vectors of rows in whole numbers of a scale, of which one row moves it by
// at most Moves in L2.
type Tally struct {
	Sum   []int64
	Moves mechanism.Moves
	scale float64
}

// newTally has room for the sum of vectors of dim numbers that one row moves by at most
// alone when it comes or goes, which is unit of its numbers, and by further times that when it is
// replaced. Rounding adds half a number to each coordinate of each row.
func newTally(dim int, alone, further float64) *Tally {
	slack := math.Sqrt(float64(dim))
	return &Tally{Sum: make([]int64, dim), scale: alone / unit,
		Moves: mechanism.Moves{AddRemove: (unit + float64(slack/2)) * (1 + 1e-9), ReplaceOne: (float64(further*unit) + slack) * (1 + 1e-9)}}
}

func (t *Tally) add(k int, v float64) { t.Sum[k] += whole(v / t.scale) }

// Release returns a tally's whole numbers with noise, and the deviation of the noise; share
// is what they take of the budget for squares.
type Release func(t *Tally, share float64) (noisy []int64, deviation float64, err error)

// Exact is a release of rows that may be looked at.
func Exact(t *Tally, _ float64) ([]int64, float64, error) { return t.Sum, 0, nil }

// take releases a tally, in its own numbers.
func (release Release) take(t *Tally, share float64) (sums []float64, deviation float64, err error) {
	whole, deviation, err := release(t, share)
	for _, v := range whole {
		sums = append(sums, float64(float64(v)*t.scale))
	}
	return sums, deviation * t.scale, err
}

// totals is the sum of outcomes and of exposures, each a share of the greatest.
func (r *Rows) totals() *Tally {
	t := newTally(2, math.Sqrt2, 1)
	for i := range r.n {
		t.add(0, r.outcome[i]/r.most)
		t.add(1, r.exposure(i)/r.longest)
	}
	return t
}

// sums are the score, which is the gradient of the log likelihood, and the information,
// which is minus its second derivative, at coefficients theta.
//
// Sensitivity of the score: a row has residual r x, r from -cap to most, |x|² up to
// square. |r x - r' x'| is convex in (r, r'), so that it is largest at a corner: both alike,
// most or cap times the greatest distance of two rows, or of two signs, (most + cap) |x|.
// Of the information, whose numbers off the diagonal count sqrt(2) so that its norm is that of
// the matrix: weight |x|², and sqrt(2) times that for two rows, for the inner product of
// positive semidefinite matrices is not negative.
func (r *Rows) sums(ctx context.Context, theta []float64) (score, information *Tally, err error) {
	d, norm := len(theta), math.Sqrt(r.square)
	alone := math.Max(r.most, r.cap)
	score = newTally(d, float64(alone*norm), math.Max(math.Sqrt(r.diameter)/norm, (r.most+r.cap)/alone))
	information = newTally(d*(d+1)/2, float64(r.heaviest*r.square), math.Sqrt2)
	blocks := (r.n + together - 1) / together
	workers := make([]adder, parallel.Workers(blocks))
	parallel.Do(len(workers), blocks, func(worker, block int) {
		if ctx.Err() == nil { // a row of hundreds of terms has tens of thousands of products
			workers[worker].add(r, theta, block*together, min((block+1)*together, r.n))
		}
	})
	for _, w := range workers {
		for k, v := range w.score {
			score.Sum[k] += v
		}
		for k, v := range w.information {
			information.Sum[k] += v
		}
	}
	return score, information, ctx.Err()
}

// together is how many rows a core adds up between looks whether somebody still wants the sums.
const together = 256

// adder is the sums of the rows of one core. They are of whole numbers, so that it does not matter
// which row is added where.
type adder struct {
	x                  []float64
	score, information []int64
}

// add adds rows from to to (not included). Parts of the longest row are counted, so that no number is
// above unit whatever the scale of a tally is: one of 1e-303 has no inverse.
func (a *adder) add(r *Rows, theta []float64, from, to int) {
	if a.x == nil {
		d := len(theta)
		a.x, a.score, a.information = make([]float64, d), make([]int64, d), make([]int64, d*(d+1)/2)
	}
	alone, norm := math.Max(r.most, r.cap), math.Sqrt(r.square)
	for i := from; i < to; i++ {
		r.row(i, a.x)
		residual, weight := r.at(i, dot(theta, a.x))
		residual, weight = between(residual/alone, -1, 1)*unit/norm, between(weight/r.heaviest, 0, 1)*unit/r.square
		rest := a.information
		for j, v := range a.x {
			a.score[j] += whole(float64(residual * v))
			u := float64(weight * v)
			rest[0] += whole(float64(u * v))
			u *= math.Sqrt2
			row := rest[1:][:len(a.x)-1-j]
			for k, w := range a.x[j+1:] {
				row[k] += whole(float64(u * w))
			}
			rest = rest[1+len(row):]
		}
	}
}

// whole is the nearest whole number of one below 2^51, the even one of two: the sum has no bits
// below one, and those above are the number itself.
func whole(v float64) int64 {
	const shift = 3 << 51
	return int64(math.Float64bits(v+shift)) - int64(math.Float64bits(shift))
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for j, v := range a {
		sum += float64(v * b[j])
	}
	return sum
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
