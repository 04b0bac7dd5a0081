package train

import (
	"math"
	"testing"

	"weir/train/net"
)

// TestFitReturnsTheRunningMean: with a decay, Fit returns the mean of its iterates by the
// rule of runningMean, which forgets the start; the iterates are those of runs that
// end after 1, 2, ... steps.
func TestFitReturnsTheRunningMean(t *testing.T) {
	o := realScore{build(t, 2, net.Dense(1)), normalRows(200, 2, 1), net.Wasserstein}
	c := fitConfig()
	run := func(steps int, average float64) []float32 {
		c.Steps, c.Average = steps, average
		w, err := c.run(o, start(o), 200, "mean", Hooks{})
		must(err)
		return w
	}
	const steps, decay = 8, 0.4
	want := wide(start(o))
	for step := 1; step <= steps; step++ {
		move := 1 - math.Min(decay, (1+float64(step))/(10+float64(step)))
		for i, v := range run(step, 0) {
			want[i] += move * (float64(v) - want[i])
		}
	}
	for i, v := range run(steps, decay) {
		if math.Abs(float64(v)-want[i]) > 1e-6*math.Max(1, math.Abs(want[i])) {
			t.Errorf("weight %d is %g, must be %g", i, v, want[i])
		}
	}
}
