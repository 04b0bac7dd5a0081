package regress

import (
	"context"
	"math"
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
func (m *Model) Fit(ctx context.Context, r Rows, steps int, release Release, step func(int)) (b Belief, err error) {
	totals, deviation, err := release.take(r.totals(), startShare)
	if err != nil {
		return b, err
	}
	theta := make([]float64, len(r.terms))
	theta[0] = r.intercept(float64(totals[0]*r.most), float64(totals[1]*r.longest), float64(deviation*math.Max(r.most, r.longest)))
	prior := m.Prior()
	for t := range steps {
		score, information, err := r.sums(ctx, theta)
		if err != nil {
			return b, err
		}
		at := noisy{theta: theta}
		if at.score, at.deviation, err = release.take(score, shareOf(t, steps)*(1-informationShare)); err != nil {
			return b, err
		}
		upper, doubtful, err := release.take(information, shareOf(t, steps)*informationShare)
		if err != nil {
			return b, err
		}
		at.information, at.doubtful = square(upper, len(theta)), doubtful
		silent := at.deviation == 0 && at.doubtful == 0
		if t == steps-1 || silent {
			b, err = update(at, prior)
		} else {
			b, err = nearby(at, prior)
		}
		if err != nil {
			return b, err
		}
		if !silent { // without noise steps go on until they arrive
			b.bend(at, r.square, prior)
		}
		before := theta
		theta = towards(theta, b.mean, r.mostStep())
		step(t + 1)
		if silent && furthest(before, theta) < settled {
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

// nearby is an update for a step on the way, whose prior stands around theta, where the next step
// starts: what noise hides stays where it is. Back at 0, where half of all rows are events, a fit of few
// events would have the way before it that the steps so far went.
func nearby(at noisy, prior []float64) (Belief, error) {
	theta := at.theta
	at.theta = make([]float64, len(theta))
	b, err := update(at, prior)
	for j := range b.mean {
		b.mean[j] += theta[j]
	}
	return b, err
}

// Answer is the law of the coefficients of rows that may be looked at.
func (m *Model) Answer(ctx context.Context, r Rows) (Belief, error) {
	return m.Fit(ctx, r, exactSteps, Exact, func(int) {})
}

// shareOf is what step t may take of the budget for squares.
func shareOf(t, steps int) float64 {
	if steps == 1 {
		return 1 - startShare
	}
	if t == steps-1 {
		return 1 - startShare - wayShare
	}
	return wayShare / float64(steps-1)
}

// Largest is at least what a row moves a tally of a fit by, over the root of its share of the
// budget for squares. A row's longest part is unit; two rows are at most twice that apart, and
// rounding adds half a number to each coordinate of each.
func (m *Model) Largest(steps int) float64 {
	least := math.Min(startShare, informationShare*math.Min(shareOf(0, steps), shareOf(steps-1, steps)))
	d := float64(m.Design().Terms())
	return (2*unit + d + 1) * (1 + 1e-9) / math.Sqrt(least)
}

// towards is a step from a to b that moves no coefficient further than most.
func towards(a, b []float64, most float64) []float64 {
	share, out := math.Min(1, most/math.Max(furthest(a, b), 1e-300)), make([]float64, len(a))
	for j, v := range b {
		out[j] = a[j] + float64(share*(v-a[j]))
	}
	return out
}

// furthest is how far the coefficients are apart that are most so.
func furthest(a, b []float64) (far float64) {
	for j, v := range b {
		far = math.Max(far, math.Abs(v-a[j]))
	}
	return far
}
