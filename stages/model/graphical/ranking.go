package graphical

import (
	"context"
	"math"
	"slices"
)

// ranking chooses by distances that Gaussian noise was added to: those of all
// candidates once, then in each round those of the ones that seem best.
type ranking struct {
	*course
	found map[int]float64 // of a candidate: its distance, as it was released last
}

// rescored is how many candidates each round looks at once more.
const rescored = 16

// next returns the best of the candidates that were looked at again. The first round
// looks at all of them besides, for half of what it may spend.
func (r *ranking) next(ctx context.Context, open []int, sigma, squares float64) (int, error) {
	if r.found == nil {
		r.found = map[int]float64{}
		squares /= 2
		if err := r.ask(ctx, first(len(r.list)), squares); err != nil {
			return 0, err
		}
	}
	order := slices.Clone(open)
	slices.SortStableFunc(order, func(a, b int) int { return descending(r.gain(a, sigma), r.gain(b, sigma)) })
	order = order[:min(len(order), rescored)]
	if err := r.ask(ctx, order, squares); err != nil {
		return 0, err
	}
	best := order[0]
	for _, at := range order {
		if r.gain(at, sigma) > r.gain(best, sigma) {
			best = at
		}
	}
	r.found[best] = 0 // what is measured is known
	return best, nil
}

// gain is what is known of a candidate, beyond what noise would give. Nothing is known
// of one that the model could not tell.
func (r *ranking) gain(at int, sigma float64) float64 {
	found, ok := r.found[at]
	if !ok {
		return math.Inf(-1)
	}
	return r.list[at].weight * (found - r.noise(at, sigma))
}

// ask releases the distances of some candidates, all in one.
func (r *ranking) ask(ctx context.Context, places []int, squares float64) error {
	open, found, err := r.distances(ctx, places)
	if err != nil {
		return err
	}
	y, err := r.p.scores(found, squares)
	if err != nil {
		return err
	}
	for _, at := range places {
		delete(r.found, at)
	}
	for i, at := range open {
		r.found[at] = y.Y[i]
	}
	return nil
}
