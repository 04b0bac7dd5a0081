// Package marginal counts the cells of marginals from packed columns: small codes in,
// counts out. Models that measure marginals and the evaluation that compares them
// count here. A marginal is counted in a dense array where it fits and in a hash table
// else, without sorting.
package marginal

import (
	"fmt"
	"math/bits"
	"slices"

	"weir/train/parallel"
)

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
		c.table.slot(k)[side]++
	}
}

// carry moves counts of at least `from` rows to 64 bits, but for one row of each, so
// that an occupied cell stays one.
func (c *Counter) carry(start uint32) {
	if c.over == nil {
		c.over = map[uint64][2]int64{}
	}
	move := func(cell uint64, rows *[2]uint32) {
		n := c.over[cell]
		for side := range rows {
			if rows[side] >= start {
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

// whole returns the count of a cell with what was carried.
func (c *Counter) whole(cell uint64, n [2]uint32) [2]int64 {
	out := [2]int64{int64(n[0]), int64(n[1])}
	if c.over != nil {
		over := c.over[cell]
		out[0], out[1] = out[0]+over[0], out[1]+over[1]
	}
	return out
}

// MostCells is the most cells of a marginal that is counted in an array.
const MostCells = denseCells

// Tally counts many marginals of one table that comes in parts, in one pass. The counts of a set are the rows in every
// cell, row-major, the last column of the set fastest: 8 bytes a cell. They do not depend on parts or workers.
type Tally struct {
	sizes  []int
	sets   [][]int
	counts [][]int64
	pieces []piece
}

// NewTally returns a tally of no rows. Codes of column j are below sizes[j]; each set lists the columns of a marginal.
// An error names a set of no column, or of more than MostCells cells.
func NewTally(sizes []int, sets [][]int) (*Tally, error) {
	t := &Tally{sizes: sizes, sets: sets, counts: make([][]int64, len(sets))}
	for i, set := range sets {
		cells, err := Cells(sizes, set)
		if err != nil {
			return nil, err
		}
		t.counts[i] = make([]int64, cells)
	}
	t.pieces = piecesOf(sets)
	return t, nil
}

// Cells returns how many combinations of codes a set of columns has. An error names a set of no column, or of more than
// MostCells cells.
func Cells(sizes, set []int) (int, error) {
	cells := int64(1)
	for _, j := range set {
		cells = min(cells*int64(sizes[j]), MostCells+1)
	}
	if len(set) == 0 || cells > MostCells {
		return 0, fmt.Errorf("marginal of columns %v: has %d cells or more, must have columns and at most %d cells", set,
			cells, MostCells)
	}
	return int(cells), nil
}

// Add counts further rows: columns has the cells of every column.
func (t *Tally) Add(columns [][]uint16, workers int) {
	parallel.Do(workers, len(t.pieces), func(_, i int) { t.count(columns, t.pieces[i]) })
}

// Counts returns what was counted so far, by set.
func (t *Tally) Counts() [][]int64 { return t.counts }

// hash is an open-addressing table from a cell to its counts. Keys are stored
// plus one: 0 is an empty place.
type hash struct {
	keys   []uint64
	counts [][2]uint32
	used   int
}

func (h *hash) reset() {
	if h.keys == nil {
		h.grow(1 << 12)
	}
	clear(h.keys)
	clear(h.counts)
	h.used = 0
}

// slot returns the counts of cell k, valid until the next call.
func (h *hash) slot(k uint64) *[2]uint32 {
	if 2*h.used >= len(h.keys) {
		h.grow(2 * len(h.keys))
	}
	i := h.place(k)
	if h.keys[i] == 0 {
		h.keys[i] = k + 1
		h.used++
	}
	return &h.counts[i]
}

// place returns where k is or would be. The multiplier is 2^64 over the golden ratio
// (Knuth, TAOCP 6.4).
func (h *hash) place(k uint64) int {
	mask := uint64(len(h.keys) - 1)
	i := (k * 0x9E3779B97F4A7C15) >> 20 & mask
	for h.keys[i] != 0 && h.keys[i] != k+1 {
		i = (i + 1) & mask
	}
	return int(i)
}

func (h *hash) grow(to int) {
	keys, counts := h.keys, h.counts
	h.keys, h.counts = make([]uint64, to), make([][2]uint32, to)
	for i, k := range keys {
		if k != 0 {
			at := h.place(k - 1)
			h.keys[at], h.counts[at] = k, counts[i]
		}
	}
}

// setsPerKey is how many sets share a key: more would share it further, but leave less to
// do side by side.
const setsPerKey = 4

// piece is up to `together` sets of equal length that differ in their last column only:
// they share the key of the columns before it.
type piece struct {
	before []int // columns of the shared key
	sets   []int // places in the list of sets
}

// piecesOf puts sets together, each of at least one column.
func piecesOf(sets [][]int) []piece {
	order := make([]int, len(sets))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return slices.Compare(before(sets[a]), before(sets[b])) })
	var list []piece
	for _, i := range order {
		last := len(list) - 1
		if last >= 0 && len(list[last].sets) < setsPerKey && slices.Equal(list[last].before, before(sets[i])) {
			list[last].sets = append(list[last].sets, i)
		} else {
			list = append(list, piece{before(sets[i]), []int{i}})
		}
	}
	return list
}

func before(set []int) []int { return set[:len(set)-1] }
