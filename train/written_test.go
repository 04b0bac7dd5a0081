package train

import (
	"math"
	"testing"

	"weir/train/net"
)

// positions is a critic that is linear in the sum of two positions, over rows of the given pairs.
func positions(t *testing.T, rows ...[2]float32) realScore {
	r := NewRows(len(rows))
	for j := range 2 {
		column := make([]float32, len(rows))
		for i := range column {
			column[i] = rows[i][j]
		}
		must(r.Numeric(column))
	}
	return realScore{build(t, 2, net.Layer{Type: "conv1d", Channels: 1, Filters: 1, Kernel: 1, Stride: 1}, net.Dense(1)), r, net.Wasserstein}
}

// TestPositionsThatCancel: whatever two positions of a row leave of each other, the row moves the
// sum of a batch by no more than the clip, and the lattice pays for the rounding. With the norms of Squares and sums over
// the batch, a row of two positions of 1e8 moved it by 2.3 clips.
func TestPositionsThatCancel(t *testing.T) {
	const clip = 1.0
	weights := []float32{0, 0.1, 1, -1, 0.2} // the second layer takes one position from the other, and its own gradient is short
	others := [][2]float32{{1, 2}, {-3, 1}, {2, 2}, {0.5, 0}, {3, -1}}
	for name, row := range map[string][2]float32{
		"cancels":         {1e8, 1e8},
		"nearly cancels":  {1e8, 1e8 + 24},
		"does not cancel": {1e8, -1e8},
		"ordinary":        {1, 3},
		"nothing":         {0, 0},
	} {
		o := positions(t, append(others, row)...)
		g := newTestGradient(o, "positions", clip)
		g.compute(weights, all(5), 1, false)
		without := append([]float32(nil), g.sum...)
		g.compute(weights, all(6), 1, false)
		moved := make([]float32, len(without))
		for i := range moved {
			moved[i] = g.sum[i] - without[i]
		}
		if n := norm(moved); !(n <= clip*(1+1e-6)) {
			t.Errorf("%s: the row moves the sum by %g clips, must move it by at most 1", name, n/clip)
		}
	}
}

// TestWrittenGradients: what a written row adds is its gradient, clipped: the sum over positions in
// closed form.
func TestWrittenGradients(t *testing.T) {
	o := positions(t, [2]float32{2, 5})
	w := []float32{0.7, 0.1, 0.5, -1, 0.2}
	h := [2]float64{0.7*2 + 0.1, 0.7*5 + 0.1}
	want := []float64{0.5*2 - 1*5, 0.5 - 1, h[0], h[1], 1} // of kernel, its bias, the second layer, its bias
	total := 0.0
	for i := range want {
		want[i] = -want[i] // the loss of a real row is minus its score
		total += want[i] * want[i]
	}
	g := newTestGradient(o, "written", math.Sqrt(total)/4)
	g.compute(w, all(1), 1, false)
	for i, v := range g.sum {
		if math.Abs(float64(v)-want[i]/4) > 1e-5*math.Sqrt(total) {
			t.Errorf("weight %d: %g, must be %g", i, v, want[i]/4)
		}
	}
}
