package question

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"weir/stages/internal/columns"
)

// TestSettlesWithoutNoise: a fit without noise ends where the gradient of the posterior is none, up to the
// rounding of its sums, and goes no further. One that is told of noise, however little, takes all steps: their
// number must say nothing of the rows.
func TestSettlesWithoutNoise(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	f := &columns.Frame{Rows: 2000, Columns: regressionFrame().Columns}
	for range f.Rows {
		appendDrawn(rng, f, 20+60*rng.Float64(), 0.5+1.5*rng.Float64(), rng.IntN(5))
	}
	hushed := func(t *ScoreTally, _ float64) ([]int64, float64, error) { return t.Sum, 1e-9, nil }
	for name, m := range models(4) {
		r := m.Rows(f)
		used := func(release ReleaseScores) (b Belief, steps int) {
			b, err := m.Fit(context.Background(), r, exactSteps, release, func(int) { steps++ })
			mustModel(t, err)
			return b, steps
		}
		b, steps := used(ExactScores)
		if steps > 12 {
			t.Errorf("%s: %d steps without noise, must be 12 at most", name, steps)
		}
		x := make([]float64, len(b.mean))
		slope := make([]float64, len(b.mean))
		for i := range r.n {
			r.row(i, x)
			residual, _ := r.derivatives(i, dot(b.mean, x))
			for j, v := range x {
				slope[j] += residual * v
			}
		}
		for j, p := range m.Prior() {
			if d := slope[j] - p*b.mean[j]; math.Abs(d) > 1e-2 { // 2000 rows, each rounded to 2^-20 of the longest
				t.Errorf("%s: the gradient for coefficient %d is %g, must be 0", name, j, d)
			}
		}
		if _, steps = used(hushed); steps != exactSteps {
			t.Errorf("%s: %d steps under noise, must be all %d", name, steps, exactSteps)
		}
	}
}
