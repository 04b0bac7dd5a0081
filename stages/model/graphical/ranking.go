package graphical

import (
	"context"
	"slices"
)

// ranking chooses by distances that Gaussian noise was added to: those of all
// candidates once, then in each round those of the ones that seem best.
type ranking struct {
	*course
	seen []float64 // of each candidate: its distance, as it was released last
}

// again is how many candidates each round looks at once more.
const rescored = 16

// next returns the best of the candidates that were looked at again. The first round
// looks at all of them besides, for half of what it may spend.
func (r *ranking) next(ctx context.Context, open []int, sigma, squares float64) (int, error) {
	if r.seen == nil {
		r.seen = make([]float64, len(r.list))
		squares /= 2
		if err := r.look(ctx, all(len(r.list)), squares); err != nil {
			return 0, err
		}
	}
	order := slices.Clone(open)
	slices.SortStableFunc(order, func(a, b int) int { return descending(r.gain(a, sigma), r.gain(b, sigma)) })
	order = order[:min(len(order), rescored)]
	if err := r.look(ctx, order, squares); err != nil {
		return 0, err
	}
	best := order[0]
	for _, at := range order {
		if r.gain(at, sigma) > r.gain(best, sigma) {
			best = at
		}
	}
	r.seen[best] = 0 // what is measured is known
	return best, nil
}

func all(n int) []int { return first(n) }

func (r *ranking) gain(at int, sigma float64) float64 {
	return r.list[at].weight * (r.seen[at] - r.noise(at, sigma))
}

// look releases the distances of some candidates, all in one.
func (r *ranking) look(ctx context.Context, places []int, squares float64) error {
	found, err := r.distances(ctx, places)
	if err != nil {
		return err
	}
	y, err := r.p.scores(found, squares)
	if err != nil {
		return err
	}
	for i, at := range places {
		r.seen[at] = y.Y[i]
	}
	return nil
}
