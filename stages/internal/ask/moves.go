package ask

import (
	"math"

	"weir/privacy/mechanism"
)

// Moves bounds in L2 how far one row moves the tally of a question, which has no quantiles.
//
// Input: the rows of one table. A row meets the conditions or not, by its own values.
//
// Count: a row is counted or not: 1 under either adjacency. Histogram: a row is in at most
// one cell: 1, and sqrt(2) where it leaves one for another. Mean: a row adds (Unit, z),
// |z| <= Unit: sqrt(2) Unit; replaced, it goes from there to (Unit, z') or to nothing, at
// most 2 Unit. With a public number of rows z alone moves: Unit and 2 Unit. Covariance: a
// row adds a a' with |a|^2 <= d+1, of Frobenius norm |a|^2; and since
// |a a' - b b'|^2 = |a|^4 + |b|^4 - 2 (a.b)^2, exchanging it moves at most sqrt(2) (d+1).
// Rounding its numbers adds half a unit to each of them, twice where it is exchanged.
func (a Asked) Moves() mechanism.Moves {
	switch {
	case a.Ask == Count:
		return mechanism.Moves{AddRemove: 1, ReplaceOne: 1}
	case a.Ask == Histogram:
		return mechanism.HistogramMoves()
	case a.Ask == Mean && a.Rows > 0:
		return mechanism.Moves{AddRemove: Unit, ReplaceOne: 2 * Unit}
	case a.Ask == Mean:
		return mechanism.Moves{AddRemove: math.Sqrt2 * Unit, ReplaceOne: 2 * Unit}
	}
	whole, rounded := float64(float64(len(a.Columns)+1)*square), math.Sqrt(a.entries(1))
	return mechanism.Moves{AddRemove: whole + rounded, ReplaceOne: float64(math.Sqrt2*whole) + rounded}
}

// entries are the distinct numbers of a symmetric matrix over the columns and some more.
func (a Asked) entries(more int) float64 {
	d := float64(len(a.Columns) + more)
	return d * (d + 1) / 2
}

// ScatterMoves bounds in L2 how far one row moves Scatter. Replaced: entry (j, k) is the sum
// over all ordered pairs of the n rows of (x_j - y_j)(x_k - y_k)/(2n). A row is in 2(n-1) of
// the pairs that are two rows, and for a given partner y its product lies within an
// interval of length at most 1: it is at most max(y_j y_k, (1-y_j)(1-y_k)), at least
// -max(y_j (1-y_k), (1-y_j) y_k), and two of these add up to one of y_j, 1-y_j, y_k, 1-y_k.
// So each entry moves by at most (n-1)/n. Added to n rows, it moves an entry by
// n/(n+1) times the product of its distances from their means, which is no more. So each of
// d(d+1)/2 entries moves by at most 1. Rounding the numbers of a row, products and
// sums adds at most 4 units to each.
func (a Asked) ScatterMoves() mechanism.Moves {
	d := math.Sqrt(a.entries(0)) * (square + 4)
	return mechanism.Moves{AddRemove: d, ReplaceOne: d}
}

// PublishedMoves is what Jalko et al. 2021 take for ScatterMoves: d(d-1)/2 numbers, those
// of the diagonal left out, though they are released too.
func (a Asked) PublishedMoves() float64 { return math.Sqrt(a.entries(-1)) * square }
