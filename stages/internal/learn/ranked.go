package learn

import (
	"slices"

	"weir/train/parallel"
)

// ranked holds each column as places in the list of its distinct values, so that
// trees find exact splits by counting. Columns of at most 256 values take a byte
// a row. The columns of a block share its codes.
type ranked struct {
	values [][]float64 // distinct, ascending
	small  [][]uint8   // by column; nil where large or a block is used
	large  [][]uint32
	blocks []rankedBlock
	block  []int32 // of each column; -1: none
}

// rankedBlock is a Block whose rows without a 1 have the code width. It has its
// codes in small where they fit, else in large.
type rankedBlock struct {
	first, width int
	small        []uint8
	large        []uint32
}

// few is how many distinct values are looked for before a column is sorted.
const few = 32

func rank(x Matrix, workers int) *ranked {
	p := len(x.Cols)
	r := &ranked{make([][]float64, p), make([][]uint8, p), make([][]uint32, p), make([]rankedBlock, len(x.Blocks)),
		slices.Repeat([]int32{-1}, p)}
	for k, b := range x.Blocks {
		for j := b.First; j < b.First+b.Width; j++ {
			r.values[j], r.block[j] = []float64{0, 1}, int32(k)
		}
	}
	parallel.Do(workers, p, func(_, j int) {
		if r.block[j] < 0 {
			r.column(j, x.Cols[j])
		}
	})
	parallel.Do(workers, len(x.Blocks), func(_, k int) { r.blocks[k] = rankBlock(x.Blocks[k]) })
	return r
}

func rankBlock(b Block) rankedBlock {
	r := rankedBlock{first: b.First, width: b.Width}
	if b.Width <= 255 {
		r.small = blockPlaces[uint8](b)
	} else {
		r.large = blockPlaces[uint32](b)
	}
	return r
}

func blockPlaces[T uint8 | uint32](b Block) []T {
	dst := make([]T, len(b.Codes))
	for i, k := range b.Codes {
		dst[i] = T(min(uint32(k), uint32(b.Width)))
	}
	return dst
}

func (r *ranked) column(j int, c []float64) {
	values := distinct(c)
	r.values[j] = values
	if len(values) <= 256 {
		r.small[j] = places[uint8](c, values)
	} else {
		r.large[j] = places[uint32](c, values)
	}
}

func distinct(c []float64) []float64 {
	var seen []float64
	for _, v := range c {
		index, found := slices.BinarySearch(seen, v)
		if !found {
			if len(seen) == few {
				all := slices.Clone(c)
				slices.Sort(all)
				return slices.Compact(all)
			}
			seen = slices.Insert(seen, index, v)
		}
	}
	return seen
}

func places[T uint8 | uint32](c, values []float64) []T {
	dst := make([]T, len(c))
	for i, v := range c {
		at, _ := slices.BinarySearch(values, v)
		dst[i] = T(at)
	}
	return dst
}
