package disclosure

import (
	"slices"

	"weir/stages/evaluate/frame"
	"weir/stages/evaluate/metric/marginal"
)

// NearestAll finds for each row of `from` the nearest rows of `to`, aligned
// frames. A frame searched for its own rows leaves each row itself out.
func NearestAll(s *Space, from, to *frame.Frame, workers int) []Near {
	q := s.Points(from)
	tree := newTree(s, s.Points(to))
	out := make([]Near, from.Rows)
	const block = 256
	marginal.Parallel((from.Rows+block-1)/block, workers, func(b int) {
		for i := b * block; i < min((b+1)*block, from.Rows); i++ {
			skip := -1
			if from == to {
				skip = i
			}
			out[i] = tree.nearest(q, i, skip)
		}
	})
	return out
}

// PercentileOf is Percentile of values in any order.
func PercentileOf(x []float64, q float64) float64 {
	s := slices.Clone(x)
	slices.Sort(s)
	return Percentile(s, q)
}
