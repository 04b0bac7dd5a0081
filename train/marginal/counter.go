// Package marginal counts the cells of marginals from packed columns: small codes in,
// counts out. Models that measure marginals and the evaluation that compares them
// count here. A marginal is counted in a dense array where it fits and in a hash table
// else, without sorting.
package marginal

import "math/bits"

// denseCells is the most cells that are counted in an array: 32 MB of counts.
// Beyond it cells are counted in a hash table that grows with the rows.
const denseCells = 1 << 22

// Counter counts the cells of one marginal at a time, of up to two tables side by
// side, and keeps its memory for the next one. The zero value is ready for Reset.
type Counter struct {
	sizes []int
	cells uint64
	keys  []uint64 // of the rows of one block
	dense [][2]uint32
	table hash
}

// blockRows bounds the keys in memory; they stay in the first cache.
const blockRows = 1 << 11

// Reset starts a marginal of columns whose codes are below sizes. It panics where
// their product does not fit 63 bits.
func (c *Counter) Reset(sizes []int) {
	c.sizes, c.cells = append(c.sizes[:0], sizes...), 1
	for _, size := range sizes {
		high, low := bits.Mul64(c.cells, uint64(size))
		if high > 0 || low >= 1<<63 {
			panic("marginal: internal error: the cells of a marginal do not fit 63 bits")
		}
		c.cells = low
	}
	if c.keys == nil {
		c.keys = make([]uint64, blockRows)
	}
	if c.cells > denseCells {
		c.table.reset()
		return
	}
	if uint64(cap(c.dense)) < c.cells {
		c.dense = make([][2]uint32, c.cells)
	}
	c.dense = c.dense[:c.cells]
	clear(c.dense)
}

// Add counts rows of table side, 0 or 1: columns has the codes of each column of the
// marginal, one for each row. A table may come in several parts.
func (c *Counter) Add(side int, columns ...[]uint16) {
	rows := 0
	if len(columns) > 0 {
		rows = len(columns[0])
	}
	for lo := 0; lo < rows; lo += blockRows {
		keys := c.keys[:min(blockRows, rows-lo)]
		clear(keys)
		for k, codes := range columns {
			extend(keys, codes[lo:lo+len(keys)], uint64(c.sizes[k]))
		}
		c.count(keys, side)
	}
}

func extend(keys []uint64, codes []uint16, size uint64) {
	for i, v := range codes {
		keys[i] = keys[i]*size + uint64(v)
	}
}

func (c *Counter) count(keys []uint64, side int) {
	if c.cells <= denseCells {
		for _, k := range keys {
			c.dense[k][side]++
		}
		return
	}
	for _, k := range keys {
		c.table.at(k)[side]++
	}
}

// Each yields the rows of both tables in every occupied cell, in an order that depends
// on the rows alone. The place of a cell counts codes with the last column fastest.
func (c *Counter) Each(yield func(cell uint64, rows [2]int64)) {
	if c.cells <= denseCells {
		for cell, n := range c.dense {
			if n[0]|n[1] != 0 {
				yield(uint64(cell), [2]int64{int64(n[0]), int64(n[1])})
			}
		}
		return
	}
	for i, key := range c.table.keys {
		if n := c.table.counts[i]; key != 0 {
			yield(key-1, [2]int64{int64(n[0]), int64(n[1])})
		}
	}
}
