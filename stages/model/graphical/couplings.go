package graphical

import (
	"math"

	"weir/internal/bitmath"
)

// alikeCells is the weight of the correlation of all rows in the correlation of a cell: what is expected
// of a cell before its corners are seen is that correlation, with the variance 1/alikeCells.
const alikeCells = 30

// couplings are the correlations of normal scores in the cells of the model's table of a number
// and the one it is placed by, by code of the other and by code: the mean of the tetrachoric
// correlations (Pearson 1900) at the corners that the cell has inside the table, and of the
// correlation of all rows, each weighed by how well its four counts tell it. A table of normal
// scores has the same in all cells; of rows that are tied in their tails alone, the corner has
// more.
func (r relation) couplings(table []float64, all []*scores) [][]float64 {
	own, other := all[r.column], all[r.by]
	below := r.below(table, all)
	sums, weights := grid(len(other.mean), len(own.mean)), grid(len(other.mean), len(own.mean))
	for a := 1; a < len(other.mean); a++ {
		for b := 1; b < len(own.mean); b++ {
			found, weight := r.corner(below, a, b)
			for _, cell := range [][2]int{{a - 1, b - 1}, {a - 1, b}, {a, b - 1}, {a, b}} {
				sums[cell[0]][cell[1]] += float64(weight * found)
				weights[cell[0]][cell[1]] += weight
			}
		}
	}
	for a := range sums {
		for b := range sums[a] {
			sums[a][b] = (sums[a][b] + float64(alikeCells*r.strength)) / (weights[a][b] + alikeCells)
		}
	}
	return sums
}

// below are the rows with lower codes of the other number and of this one, of rows where
// neither is missing.
func (r relation) below(table []float64, all []*scores) [][]float64 {
	own, other := len(all[r.column].mean), len(all[r.by].mean)
	wide := all[max(r.column, r.by)].codes
	sums := grid(other+1, own+1)
	for a := range other {
		for b := range own {
			at := b*wide + a
			if r.by < r.column {
				at = a*wide + b
			}
			sums[a+1][b+1] = max(table[at], 0) + sums[a][b+1] + (sums[a+1][b] - sums[a][b])
		}
	}
	return sums
}

// corner is the correlation that the four parts of a table show, split below two codes, and the
// inverse of its variance: rows times the sum of the inverse shares, the inverse variance of a part
// whose sides are known, times the square of how fast the part grows with the correlation. The
// shares follow from the correlation of all rows, so that no noise weighs itself.
func (r relation) corner(below [][]float64, a, b int) (found, weight float64) {
	other, own := len(below)-1, len(below[0])-1
	rows := below[other][own]
	if !(rows > 0) {
		return r.strength, 0
	}
	p, q := below[a][own]/rows, below[other][b]/rows
	if !(min(p, q) > 0 && max(p, q) < 1) {
		return r.strength, 0
	}
	x, y := bitmath.NormalQuantile(p), bitmath.NormalQuantile(q)
	both := quadrant(x, y, float64(p*q), r.strength)
	inverse := 0.0
	for _, share := range []float64{both, p - both, q - both, 1 - p - q + both} {
		inverse += 1 / max(share, 1/rows)
	}
	speed := density(x, y, r.strength)
	return tetrachoric(x, y, float64(p*q), below[a][b]/rows), float64(rows * inverse * speed * speed)
}

// strengthSteps is in how many steps of the correlation the share of a quadrant is summed.
const strengthSteps = 64

// density is the density of two normal numbers of correlation r at x and y, and how fast the share that
// lies below both grows with r (Plackett 1954, equation 3).
func density(x, y, r float64) float64 {
	rest := 1 - float64(r*r)
	square := float64(x*x) - float64(2*r*x*y) + float64(y*y)
	return bitmath.Exp(-square/(2*rest)) / (2 * math.Pi * math.Sqrt(rest))
}

// quadrant is the share below x and y at a correlation; apart is the share for independent numbers.
func quadrant(x, y, apart, r float64) float64 {
	step := r / strengthSteps
	for k := range strengthSteps {
		apart += float64(step * density(x, y, float64(step*(float64(k)+.5))))
	}
	return apart
}

// tetrachoric is the correlation at which a share lies below x and y, at most mostRelation.
func tetrachoric(x, y, apart, share float64) float64 {
	step := mostRelation / float64(strengthSteps)
	left := share - apart
	if left < 0 {
		step = -step
	}
	for k := range strengthSteps {
		more := float64(step * density(x, y, float64(step*(float64(k)+.5))))
		if math.Abs(more) >= math.Abs(left) {
			return float64(step * (float64(k) + left/nonzero(more)))
		}
		left -= more
	}
	return math.Copysign(mostRelation, step)
}

// nonzero is a number to divide by where 0/0 is 0.
func nonzero(x float64) float64 {
	if x == 0 {
		return 1
	}
	return x
}

func grid(rows, columns int) [][]float64 {
	out := make([][]float64, rows)
	for i := range out {
		out[i] = make([]float64, columns)
	}
	return out
}
