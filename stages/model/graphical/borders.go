package graphical

import (
	"math"

	"weir/internal/bitmath"
	"weir/train/histogram"
)

// rounded moves the borders between bins of a number to round numbers, where one lies near
// and no heap stands beside: people are asked, counted and paid from 15 years, 40 hours,
// 140 mmHg on, and a bin across such a border mixes those of both sides. Bins whose borders
// meet are one. least is the least value of a cell: the choice looks at nothing but the
// released bins.
func rounded(leaves []histogram.Leaf, bins [][2]int, least func(cell int) float64) [][2]int {
	var out [][2]int
	from := bins[0][0]
	for i := 1; i < len(bins); i++ {
		border := bins[i][0]
		if !heaped(leaves, bins[i-1]) && !heaped(leaves, bins[i]) {
			border = roundest(leaves, bins[i-1], bins[i], least)
		}
		if border > from {
			out, from = append(out, [2]int{from, border}), border
		}
	}
	return append(out, [2]int{from, bins[len(bins)-1][1]})
}

// heaped tells whether a bin is one cell.
func heaped(leaves []histogram.Leaf, bin [2]int) bool {
	return bin[1]-bin[0] == 1 && leaves[bin[0]].Hi-leaves[bin[0]].Lo == 1
}

// roundest is the leaf between two neighbouring bins, nearest to their border, that begins
// at a multiple of their unit; the border as it was where none is within half a unit.
func roundest(leaves []histogram.Leaf, a, b [2]int, least func(cell int) float64) int {
	start := func(leaf int) float64 { return least(leaves[leaf].Lo) }
	unit := unitOf((start(b[1]-1) - start(a[0])) / 2)
	best, far := b[0], unit/2*(1+0x1p-20)
	for leaf := a[0] + 1; leaf < b[1]; leaf++ {
		times := start(leaf) / unit
		if d := math.Abs(start(leaf) - start(b[0])); math.Abs(times-math.Round(times)) < 1e-6 && d < far {
			best, far = leaf, d
		}
	}
	return best
}

// unitOf is what borders are multiples of between bins of a width: 5 from a width of 2.5
// on, 10 from 12.5 on, 50 from 25 on, and so on.
func unitOf(width float64) float64 {
	ten := bitmath.Pow(10, math.Floor(bitmath.Log10(width/2.5)))
	if width >= 12.5*ten {
		return 10 * ten
	}
	return 5 * ten
}
