package graphical

import (
	"math"
	"slices"

	"weir/internal/bitmath"
	"weir/pipeline/domain"
	"weir/train/histogram"
)

// coded is one column as the model has it: a few codes, each a bin of leaves. A leaf
// is a range of places; a place is a cell of the column's grid, or of a category the
// cell Order[place]. Codes beyond the bins are cells beyond the places: missing, of a
// number that may be.
type coded struct {
	Cells  int              `json:"cells"`           // of the grid
	Order  []int            `json:"order,omitempty"` // of categories: cells with the cells of a bin together; nil: as they are
	Leaves []histogram.Leaf `json:"leaves"`
	Bins   [][2]int         `json:"bins"` // ranges of leaves

	// Within has counts of the points of some cells, where a cell has several.
	Within map[int][]float64 `json:"within,omitempty"`
}

// places returns how many cells the leaves cover.
func (c *coded) places() int { return c.Leaves[len(c.Leaves)-1].Hi }

// codes returns how many codes the column has.
func (c *coded) codes() int { return len(c.Bins) + c.Cells - c.places() }

// codeOf returns the code of each cell.
func (c *coded) codeOf() []uint16 {
	table := make([]uint16, c.Cells)
	for b, bin := range c.Bins {
		for place := c.Leaves[bin[0]].Lo; place < c.Leaves[bin[1]-1].Hi; place++ {
			cell := place
			if c.Order != nil {
				cell = c.Order[place]
			}
			table[cell] = uint16(b)
		}
	}
	for cell := c.places(); cell < c.Cells; cell++ {
		table[cell] = uint16(len(c.Bins) + cell - c.places())
	}
	return table
}

// cells returns the cells of a code of a number, which are neighbours: from lo to hi
// (excluded).
func (c *coded) cells(code int) (lo, hi int) {
	if code >= len(c.Bins) { // missing
		lo = c.places() + code - len(c.Bins)
		return lo, lo + 1
	}
	bin := c.Bins[code]
	return c.Leaves[bin[0]].Lo, c.Leaves[bin[1]-1].Hi
}

const (
	mostBins       = 256 // of a number that declares them
	leastBins      = 8   // that a number gets where nothing is declared
	fewBins        = 2   // that lie beside the heaps of one
	mostFound      = 32  // that noise and rows give a number; heaps may add as many
	mostCategories = 64  // codes of a category
)

// rare is how many standard deviations of noise a category has to show to have a code
// of its own.
const rare = 3

// ofCategories gives a code to each category that noise does not drown, up to
// mostCategories, and one to all others together. On output those are told apart
// again by what was counted of each.
func ofCategories(counts noisy) coded {
	y, sd := counts.Y, counts.sd()
	heavy := heaviest(y, sd)
	c := coded{Cells: len(y)}
	for cell := range y {
		if slices.Contains(heavy, cell) {
			c.Order, c.Bins = append(c.Order, cell), append(c.Bins, [2]int{len(c.Bins), len(c.Bins) + 1})
		}
	}
	if own := len(c.Bins); own < len(y) {
		c.Bins = append(c.Bins, [2]int{own, len(y)})
	}
	for cell := range y {
		if !slices.Contains(heavy, cell) {
			c.Order = append(c.Order, cell)
		}
	}
	for place, cell := range c.Order {
		c.Leaves = append(c.Leaves, histogram.Leaf{Lo: place, Hi: place + 1, Count: max(y[cell], 0)})
	}
	c.divide([2]int{len(heavy), len(y)}, counts)
	return c
}

// divide gives the categories of a code counts by which its rows are divided among them: what
// rare ones are estimated to hold (given).
func (c *coded) divide(places [2]int, counts noisy) {
	cells := c.Order[places[0]:places[1]]
	if len(cells) < 2 {
		return
	}
	for i, count := range posteriorMeans(pick(counts.Y, cells), repeated(counts.sd(), len(cells))) {
		c.Leaves[places[0]+i].Count = count // of variance 0: the share of rows
	}
}

// heaviest lists the cells with a code of their own. One rare cell alone has one too.
func heaviest(y []float64, sd float64) []int {
	order := make([]int, len(y))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return descending(y[a], y[b]) })
	n := 0
	for n < len(order) && y[order[n]] >= rare*sd {
		n++
	}
	if n >= len(y)-1 {
		n = len(y)
	}
	if len(y) > mostCategories {
		n = min(n, mostCategories-1)
	}
	return order[:n]
}

// ofNumber gives a code to each bin of leaves, and one to missing values where the
// grid has a cell for them.
func ofNumber(cells int, leaves []histogram.Leaf, bins [][2]int) coded {
	return coded{Cells: cells, Leaves: leaves, Bins: bins}
}

// binsOf returns how many bins a number gets: more where rows are many and noise is small, and
// where numbers are few, since what finer bins cost is the pairs of two of them
// (docs/marginals.md, section 7).
func binsOf(rows, mu float64, numbers int) int {
	each := max(2.2/bitmath.Pow(float64(max(numbers, 1)), 1./3), 1.4)
	return int(min(max(math.Round(each*math.Sqrt(math.Sqrt(max(rows, 0)*mu))), leastBins), mostFound))
}

// numbers returns how many columns of d get bins.
func numbers(d *domain.Domain) (n int) {
	for _, c := range d.Columns {
		if !c.Type.Coded() {
			n++
		}
	}
	return n
}

// binsOutsideHeaps returns how many bins the rows outside of heaps get, as a part of all rows: fewer by
// the fourth root of their part, as in binsOf.
func binsOutsideHeaps(bins int, part float64) int {
	return max(int(math.Round(float64(bins)*math.Sqrt(math.Sqrt(part)))), fewBins)
}

// outside returns how many rows lie outside the heaps of a number, the single cells that
// stand alone beside bins of `want` rows. Bins are made for these rows: where nearly
// all are 0, the others would else share one.
func outside(leaves []histogram.Leaf, want, rows float64) float64 {
	rest := rows
	for _, l := range leaves {
		if l.Hi-l.Lo == 1 && l.Count > want/2 && l.Count >= 4*math.Sqrt(l.Var) {
			rest -= l.Count
		}
	}
	return max(rest, 1)
}

// ranges returns the leaves of each of about so many bins of a number.
func ranges(leaves []histogram.Leaf, rows float64, bins int) [][2]int {
	spread := outside(leaves, rows/float64(bins), rows)
	return histogram.Merge(leaves, spread, binsOutsideHeaps(bins, spread/rows))
}

// splitAt divides leaves at cells, so that none lies in two bins: the rows of a leaf
// are spread evenly over its cells.
func splitAt(leaves []histogram.Leaf, cuts []int) []histogram.Leaf {
	var out []histogram.Leaf
	for _, l := range leaves {
		rest := l
		for _, cut := range cuts {
			if cut > rest.Lo && cut < rest.Hi {
				part := float64(cut-rest.Lo) / float64(l.Hi-l.Lo)
				out = append(out, histogram.Leaf{Lo: rest.Lo, Hi: cut, Count: l.Count * part, Var: l.Var * part})
				rest.Lo = cut
			}
		}
		part := float64(rest.Hi-rest.Lo) / float64(l.Hi-l.Lo)
		out = append(out, histogram.Leaf{Lo: rest.Lo, Hi: rest.Hi, Count: l.Count * part, Var: l.Var * part})
	}
	return out
}

// cutAt returns the bins between cuts, ascending cells strictly inside the cells of the
// leaves, which end where the cuts are (splitAt).
func cutAt(leaves []histogram.Leaf, cuts []int) [][2]int {
	var bins [][2]int
	first := 0
	for i, l := range leaves {
		if _, last := slices.BinarySearch(cuts, l.Hi); last || i == len(leaves)-1 {
			bins = append(bins, [2]int{first, i + 1})
			first = i + 1
		}
	}
	return bins
}

// rounded moves the borders between bins of a number to round numbers, where one lies near
// and no heap stands beside: people are asked, counted and paid from 15 years, 40 hours,
// 140 mmHg on, and a bin across such a border mixes the people of both sides. Bins whose borders
// meet are one. least is the least value of a cell: the choice looks at nothing but the
// released bins.
func rounded(leaves []histogram.Leaf, bins [][2]int, least func(cell int) float64) [][2]int {
	var out [][2]int
	first := bins[0][0]
	for i := 1; i < len(bins); i++ {
		border := bins[i][0]
		if !heaped(leaves, bins[i-1]) && !heaped(leaves, bins[i]) {
			border = roundest(leaves, bins[i-1], bins[i], least)
		}
		if border > first {
			out, first = append(out, [2]int{first, border}), border
		}
	}
	return append(out, [2]int{first, bins[len(bins)-1][1]})
}

// heaped tells whether a bin is one cell.
func heaped(leaves []histogram.Leaf, bin [2]int) bool {
	return bin[1]-bin[0] == 1 && leaves[bin[0]].Hi-leaves[bin[0]].Lo == 1
}

// roundest returns the leaf between two neighbouring bins, nearest to their border, that begins
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

// unitOf returns what borders are multiples of between bins of a width: 5 from a width of 2.5
// on, 10 from 12.5 on, 50 from 25 on, and so on.
func unitOf(width float64) float64 {
	ten := bitmath.Pow(10, math.Floor(bitmath.Log10(width/2.5)))
	if width >= 12.5*ten {
		return 10 * ten
	}
	return 5 * ten
}
