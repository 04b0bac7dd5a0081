package question

import (
	"context"
	"math"

	"weir/internal/bitmath"
	"weir/privacy/mechanism"
	"weir/train/parallel"
)

// What each part of a fit may take of the budget for squares. Steps before the last find the
// way; what they leave is divided by the last one's score and information.
const (
	startShare       = 0.04
	wayShare         = 0.36
	informationShare = 0.2
)

// Fit takes Newton steps to the posterior mean by released sums of the rows, and returns
// the law that the last step gives. step is told how many are taken.
func (m *Regression) Fit(ctx context.Context, r RegressionRows, steps int, release ReleaseScores,
	step func(int)) (b Belief, err error) {
	totals, deviation, err := release.take(r.totals(), startShare)
	if err != nil {
		return b, err
	}
	theta := make([]float64, len(r.terms))
	theta[0] = r.intercept(float64(totals[0]*r.most), float64(totals[1]*r.longest),
		float64(deviation*math.Max(r.most, r.longest)))
	prior := m.Prior()
	for t := range steps {
		score, information, err := r.sums(ctx, theta)
		if err != nil {
			return b, err
		}
		point := noisy{theta: theta}
		if point.score, point.deviation, err = release.take(score, shareOf(t, steps)*(1-informationShare)); err != nil {
			return b, err
		}
		upper, doubtful, err := release.take(information, shareOf(t, steps)*informationShare)
		if err != nil {
			return b, err
		}
		point.information, point.doubtful = symmetric(upper, len(theta)), doubtful
		silent := point.deviation == 0 && point.doubtful == 0
		if t == steps-1 || silent {
			b, err = update(point, prior)
		} else {
			b, err = nearby(point, prior)
		}
		if err != nil {
			return b, err
		}
		if !silent { // without noise steps go on until they arrive
			b.bend(point, r.square, prior)
		}
		before := theta
		theta = towards(theta, b.mean, r.mostStep())
		step(t + 1)
		if silent && largestGap(before, theta) < settled {
			break
		}
	}
	return b, nil
}

const (
	// exactSteps are enough for Newton's method without noise, from an intercept.
	exactSteps = 25
	// settled is a step after which a fit without noise ends: the next would be about its square, or what
	// the rounding of sums makes of it, on Adult 1e-4. Under noise all steps are taken, so that their
	// number says nothing of the rows.
	settled = 1e-3
)

// nearby returns an update for a step on the way, whose prior stands around theta, where the next step
// starts: what noise hides stays where it is. Back at 0, where half of all rows are events, a fit of few
// events would have the way before it that the steps so far went.
func nearby(point noisy, prior []float64) (Belief, error) {
	theta := point.theta
	point.theta = make([]float64, len(theta))
	b, err := update(point, prior)
	for j := range b.mean {
		b.mean[j] += theta[j]
	}
	return b, err
}

// Answer returns the law of the coefficients of rows that may be looked at.
func (m *Regression) Answer(ctx context.Context, r RegressionRows) (Belief, error) {
	return m.Fit(ctx, r, exactSteps, ExactScores, func(int) {})
}

// shareOf returns what step t may take of the budget for squares.
func shareOf(t, steps int) float64 {
	if steps == 1 {
		return 1 - startShare
	}
	if t == steps-1 {
		return 1 - startShare - wayShare
	}
	return wayShare / float64(steps-1)
}

// Largest returns at least what a row moves a tally of a fit by, over the root of its share of the
// budget for squares. A row's longest part is unit; two rows are at most twice that apart, and
// rounding adds half a number to each coordinate of each.
func (m *Regression) Largest(steps int) float64 {
	least := math.Min(startShare, informationShare*math.Min(shareOf(0, steps), shareOf(steps-1, steps)))
	d := float64(m.Design().Terms())
	return (2*scoreUnit + d + 1) * (1 + 1e-9) / math.Sqrt(least)
}

// towards returns a step from a to b that moves no coefficient further than most.
func towards(a, b []float64, most float64) []float64 {
	share, out := math.Min(1, most/math.Max(largestGap(a, b), 1e-300)), make([]float64, len(a))
	for j, v := range b {
		out[j] = a[j] + float64(share*(v-a[j]))
	}
	return out
}

// largestGap returns the largest distance between two coefficients of one place.
func largestGap(a, b []float64) (far float64) {
	for j, v := range b {
		far = math.Max(far, math.Abs(v-a[j]))
	}
	return far
}

// scoreUnit is what the longest part of a row is in whole numbers. Rows are rounded to whole
// numbers one by one, so that sums are exact whatever their order, and what one row moves
// is known to the last digit.
const scoreUnit = 1 << 20

// ScoreTally is a sum of vectors of rows in whole numbers of a scale, of which one row moves it by
// at most Moves in L2.
type ScoreTally struct {
	Sum   []int64
	Moves mechanism.Moves
	scale float64
}

// newTally has room for the sum of vectors of dim numbers that one row moves by at most
// alone when it comes or goes, which is unit of its numbers, and by further times that when it is
// replaced. Rounding adds half a number to each coordinate of each row.
func newTally(dim int, alone, further float64) *ScoreTally {
	slack := math.Sqrt(float64(dim))
	return &ScoreTally{Sum: make([]int64, dim), scale: alone / scoreUnit,
		Moves: mechanism.Moves{AddRemove: (scoreUnit + float64(slack/2)) * (1 + 1e-9),
			ReplaceOne: (float64(further*scoreUnit) + slack) * (1 + 1e-9)}}
}

func (t *ScoreTally) add(k int, v float64) { t.Sum[k] += whole(v / t.scale) }

// ReleaseScores returns a tally's whole numbers with noise, and the deviation of the noise; share
// is what they take of the budget for squares.
type ReleaseScores func(t *ScoreTally, share float64) (noisy []int64, deviation float64, err error)

// ExactScores returns a release of rows that may be looked at.
func ExactScores(t *ScoreTally, _ float64) ([]int64, float64, error) { return t.Sum, 0, nil }

// take releases a tally, in its own numbers.
func (release ReleaseScores) take(t *ScoreTally, share float64) (sums []float64, deviation float64, err error) {
	whole, deviation, err := release(t, share)
	for _, v := range whole {
		sums = append(sums, float64(float64(v)*t.scale))
	}
	return sums, deviation * t.scale, err
}

// totals returns the sum of outcomes and of exposures, each a share of the greatest.
func (r *RegressionRows) totals() *ScoreTally {
	t := newTally(2, math.Sqrt2, 1)
	for i := range r.n {
		t.add(0, r.outcome[i]/r.most)
		t.add(1, r.exposure(i)/r.longest)
	}
	return t
}

// sums returns the score, which is the gradient of the log likelihood, and the information,
// which is minus its second derivative, at coefficients theta.
//
// Sensitivity of the score: a row has residual r x, r from -cap to most, |x|² up to
// square. |r x - r' x'| is convex in (r, r'), so that it is largest at a corner: both alike,
// most or cap times the greatest distance of two rows, or of two signs, (most + cap) |x|.
// Of the information, whose numbers off the diagonal count sqrt(2) so that its norm is the norm of
// the matrix: weight |x|², and sqrt(2) times this weight for two rows, for the inner product of
// positive semidefinite matrices is not negative.
func (r *RegressionRows) sums(ctx context.Context, theta []float64) (score, information *ScoreTally, err error) {
	d, norm := len(theta), math.Sqrt(r.square)
	alone := math.Max(r.most, r.cap)
	score = newTally(d, float64(alone*norm), math.Max(math.Sqrt(r.diameter)/norm, (r.most+r.cap)/alone))
	information = newTally(d*(d+1)/2, float64(r.heaviest*r.square), math.Sqrt2)
	blocks := (r.n + rowsPerLook - 1) / rowsPerLook
	workers := make([]adder, parallel.Workers(blocks))
	parallel.Do(len(workers), blocks, func(worker, block int) {
		if ctx.Err() == nil { // a row of hundreds of terms has tens of thousands of products
			workers[worker].add(r, theta, block*rowsPerLook, min((block+1)*rowsPerLook, r.n))
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

// rowsPerLook is how many rows a core adds up between looks whether somebody still wants the sums.
const rowsPerLook = 256

// adder is the sums of the rows of one core. They are of whole numbers, so that it does not matter
// which row is added where.
type adder struct {
	x                  []float64
	score, information []int64
}

// add adds rows from to to (not included). Parts of the longest row are counted, so that no number is
// above unit whatever the scale of a tally is: one of 1e-303 has no inverse.
func (a *adder) add(r *RegressionRows, theta []float64, first, end int) {
	if a.x == nil {
		d := len(theta)
		a.x, a.score, a.information = make([]float64, d), make([]int64, d), make([]int64, d*(d+1)/2)
	}
	alone, norm := math.Max(r.most, r.cap), math.Sqrt(r.square)
	for i := first; i < end; i++ {
		r.row(i, a.x)
		residual, weight := r.derivatives(i, dot(theta, a.x))
		residual, weight = clampMiddle(residual/alone, -1, 1)*scoreUnit/norm, clampMiddle(weight/r.heaviest, 0, 1)*scoreUnit/
			r.square
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

// whole returns the nearest whole number of one below 2^51, the even one of two: the sum has no bits
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

// symmetric returns the matrix whose upper triangle is given, d rows of it.
func symmetric(upper []float64, d int) [][]float64 {
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

// likelihood is a generalised linear model with its canonical link, so that the score of a
// row is residual times x and its information weight times x x'. most is the
// greatest outcome, cap what the mean of a row is capped at: residuals are from -cap to
// most, and weights from 0 to heaviest.
type likelihood struct {
	poisson          bool
	most, cap        float64
	heaviest         float64
	longest          float64   // exposure, 1 without an offset
	outcome, exposed []float64 // of the rows; no exposed: 1 each
}

func (m *Regression) likelihood() likelihood {
	if m.Kind == Logistic {
		return likelihood{most: 1, cap: 1, heaviest: 0.25, longest: 1}
	}
	l := likelihood{poisson: true, most: m.Most, cap: m.MostExpected, heaviest: m.MostExpected, longest: 1}
	if m.Offset != "" {
		l.longest = m.Longest
	}
	return l
}

func (l *likelihood) exposure(i int) float64 {
	if l.exposed == nil {
		return 1
	}
	return l.exposed[i]
}

// derivatives returns the residual and the weight of row i at a linear predictor without offset.
func (l *likelihood) derivatives(i int, z float64) (residual, weight float64) {
	if !l.poisson {
		p := logit(z)
		return l.outcome[i] - p, float64(p * (1 - p))
	}
	mean := math.Min(float64(l.exposure(i)*bitmath.Exp(z)), l.cap)
	return l.outcome[i] - mean, mean
}

// logit returns the probability at log odds.
func logit(z float64) float64 { return 1 / (1 + bitmath.Exp(-z)) }

// intercept returns the linear predictor of a table whose outcomes and exposures have those
// sums, known up to noise of one deviation: a sum that noise hides is as large as it.
func (l *likelihood) intercept(outcomes, exposures, deviation float64) float64 {
	least := math.Max(1, deviation)
	rate := math.Max(outcomes, least) / math.Max(exposures, least)
	if !l.poisson {
		rate = math.Min(math.Max(rate, 0.001), 0.999)
		return bitmath.Log(rate / (1 - rate))
	}
	return bitmath.Log(math.Max(rate, 1e-9))
}

// mostStep bounds how far one step moves a coefficient of the design. A Poisson step from
// too low a rate overshoots by the exponential.
func (l *likelihood) mostStep() float64 {
	if l.poisson {
		return 1
	}
	return 3
}
