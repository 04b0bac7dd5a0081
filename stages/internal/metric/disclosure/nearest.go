package disclosure

import (
	"weir/stages/internal/columns"
	"weir/train/parallel"
)

// NearestAll finds for each row of `from` the nearest rows of `to`, aligned
// frames. A frame searched for its own rows leaves each row itself out.
func NearestAll(s *Space, from, to *columns.Frame, workers int) []Near {
	q := s.Points(from)
	tree := newTree(s, s.Points(to))
	out := make([]Near, from.Rows)
	const block = 256
	parallel.Do(workers, (from.Rows+block-1)/block, func(_, b int) {
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
