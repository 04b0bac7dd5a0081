package learn

import (
	"slices"

	"weir/train/parallel"
)

// maxBins is the number of bins a column: codes fit a byte.
const maxBins = 255

// binned holds the bins of all values in tiles of a few groups, so that the sums of
// a tile stay in the cache.
type binned struct {
	tiles []*tile
	bins  int // of all groups
}

// tile holds the bins of some groups row by row: codes[i*len(groups)+k] of row i and
// group k.
type tile struct {
	groups []group
	codes  []uint8
}

// group is a stored column with the upper edges of its bins: bin b holds values <=
// edges[b], the last bin the rest. Or it is up to maxBins columns of a block: bin k
// holds the rows with a 1 in the k-th of them, and bin width those with none.
type group struct {
	column int // the first
	at     int // of its first bin among those of all groups
	edges  []float64
	width  int // columns of a block; 0: a stored column
}

// tileGroups is the number of groups in a tile: 8 times 255 bins fit a second-level
// cache.
const tileGroups = 8

func bin(x Matrix, workers int) *binned {
	b := &binned{}
	var fill []func(to []uint8, stride int)
	add := func(g group, f func([]uint8, int)) {
		if last := len(b.tiles) - 1; last < 0 || len(b.tiles[last].groups) == tileGroups {
			b.tiles = append(b.tiles, &tile{})
		}
		t := b.tiles[len(b.tiles)-1]
		t.groups, fill = append(t.groups, g), append(fill, f)
	}
	edges := make([][]float64, len(x.Cols))
	parallel.Do(workers, len(x.Cols), func(_, j int) { edges[j] = quantileEdges(x.Cols[j]) })
	x.each(func(j int, c []float64) {
		add(group{column: j, edges: edges[j]}, func(to []uint8, stride int) { binNumbers(c, edges[j], to, stride) })
	}, func(a Block) {
		for lo := 0; lo < a.Width; lo += maxBins {
			width := min(maxBins, a.Width-lo)
			add(group{column: a.First + lo, width: width}, func(to []uint8, stride int) { binCodes(a.Codes, lo, width, to, stride) })
		}
	})
	b.lay(x.Rows, workers, fill)
	return b
}

// lay places the bins of groups one after the other and fills the codes.
func (b *binned) lay(rows, workers int, fill []func([]uint8, int)) {
	for _, t := range b.tiles {
		t.codes = make([]uint8, rows*len(t.groups))
		for k := range t.groups {
			t.groups[k].at = b.bins
			b.bins += len(t.groups[k].edges) + t.groups[k].width + 1
		}
	}
	parallel.Do(workers, len(fill), func(_, k int) {
		t := b.tiles[k/tileGroups]
		if rows > 0 {
			fill[k](t.codes[k%tileGroups:], len(t.groups))
		}
	})
}

func binNumbers(c, edges []float64, to []uint8, stride int) {
	for i, v := range c {
		at, _ := slices.BinarySearch(edges, v)
		to[i*stride] = uint8(at)
	}
}

func binCodes(codes []int32, lo, width int, to []uint8, stride int) {
	for i, k := range codes {
		to[i*stride] = uint8(min(uint32(k-int32(lo)), uint32(width)))
	}
}

// quantileEdges are midpoints between distinct values, or where there are more
// than maxBins of these, the maxBins-1 inner percentiles, each the midpoint of
// its neighbours.
func quantileEdges(c []float64) []float64 {
	values := distinct(c)
	var edges []float64
	if len(values) <= maxBins {
		for i := 1; i < len(values); i++ {
			edges = append(edges, float64(values[i-1]/2)+float64(values[i]/2))
		}
		return edges
	}
	sorted := slices.Clone(c)
	slices.Sort(sorted)
	for k := 1; k < maxBins; k++ {
		at := k * (len(sorted) - 1)
		lo := at / maxBins
		hi := min(lo+min(at%maxBins, 1), len(sorted)-1)
		edges = append(edges, float64(sorted[lo]/2)+float64(sorted[hi]/2))
	}
	return slices.Compact(edges)
}
