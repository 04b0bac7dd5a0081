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
	since int                 // rows since counts were last carried
	over  map[uint64][2]int64 // what was carried out of 32 bits, by cell
}

// carryEvery and carryFrom keep counts below 2^32: what reaches carryFrom is carried
// before carryEvery more rows come.
const (
	carryEvery = 1 << 31
	carryFrom  = 1 << 30
)

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
	c.since, c.over = 0, nil
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
		if c.since += len(keys); c.since > carryEvery {
			c.carry(carryFrom)
			c.since = len(keys)
		}
		c.count(keys, side)
	}
}

// extend adds a column to the keys of its rows.
func extend[K uint32 | uint64](keys []K, codes []uint16, size K) {
	codes = codes[:len(keys)]
	for i, k := range keys {
		keys[i] = k*size + K(codes[i])
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

// carry moves counts of at least `from` rows to 64 bits, but for one row of each, so
// that an occupied cell stays one.
func (c *Counter) carry(from uint32) {
	if c.over == nil {
		c.over = map[uint64][2]int64{}
	}
	move := func(cell uint64, rows *[2]uint32) {
		n := c.over[cell]
		for side := range rows {
			if rows[side] >= from {
				n[side] += int64(rows[side]) - 1
				rows[side] = 1
				c.over[cell] = n
			}
		}
	}
	if c.cells <= denseCells {
		for cell := range c.dense {
			move(uint64(cell), &c.dense[cell])
		}
		return
	}
	for i, key := range c.table.keys {
		move(key-1, &c.table.counts[i]) // an empty place holds no rows
	}
}

// Each yields the rows of both tables in every occupied cell, in an order that depends
// on the rows alone. The place of a cell counts codes with the last column fastest.
func (c *Counter) Each(yield func(cell uint64, rows [2]int64)) {
	if c.cells <= denseCells {
		for cell, n := range c.dense {
			if n[0]|n[1] != 0 {
				yield(uint64(cell), c.whole(uint64(cell), n))
			}
		}
		return
	}
	for i, key := range c.table.keys {
		if n := c.table.counts[i]; key != 0 {
			yield(key-1, c.whole(key-1, n))
		}
	}
}

// whole is the count of a cell with what was carried.
func (c *Counter) whole(cell uint64, n [2]uint32) [2]int64 {
	out := [2]int64{int64(n[0]), int64(n[1])}
	if c.over != nil {
		over := c.over[cell]
		out[0], out[1] = out[0]+over[0], out[1]+over[1]
	}
	return out
}
