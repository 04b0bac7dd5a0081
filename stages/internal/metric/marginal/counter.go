package marginal

// denseCells is the most cells that are counted in an array: 32 MB of counts.
// Beyond it cells are counted in a hash table that grows with the rows.
const denseCells = 1 << 22

// counter counts the cells of one marginal of both tables, and keeps its memory
// for the next one.
type counter struct {
	stride []uint64 // of each column of the query
	cells  uint64   // product of sizes; 0 where it does not fit 64 bits
	keys   []uint64 // of the rows of one block
	dense  [][2]uint32
	table  hash
	p, q   []float64
}

// blockRows bounds the keys in memory; they stay in the first cache.
const blockRows = 1 << 11

func (c *counter) reset(t *Table, query []int) {
	c.cells, c.stride = 1, c.stride[:0]
	for _, q := range query {
		c.stride = append(c.stride, uint64(t.Columns[q].Size))
		c.cells *= uint64(t.Columns[q].Size)
	}
	if c.keys == nil {
		c.keys = make([]uint64, blockRows)
	}
	if c.cells <= denseCells {
		if uint64(cap(c.dense)) < c.cells {
			c.dense = make([][2]uint32, c.cells)
		}
		c.dense = c.dense[:c.cells]
		clear(c.dense)
		return
	}
	c.table.reset()
}

func (c *counter) add(t *Table, query []int, synth bool) {
	rows, side := t.Real, 0
	if synth {
		rows, side = t.Synth, 1
	}
	for lo := 0; lo < rows; lo += blockRows {
		keys := c.keys[:min(blockRows, rows-lo)]
		clear(keys)
		for k, q := range query {
			codes := t.Columns[q].Real
			if synth {
				codes = t.Columns[q].Synth
			}
			extend(keys, codes[lo:lo+len(keys)], c.stride[k])
		}
		c.count(keys, side)
	}
}

func extend(keys []uint64, codes []uint16, size uint64) {
	for i, v := range codes {
		keys[i] = keys[i]*size + uint64(v)
	}
}

func (c *counter) count(keys []uint64, side int) {
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

// each yields the counts of the occupied cells, in an order that depends on the
// tables alone.
func (c *counter) each(yield func(real, synth int64)) {
	cells := c.table.counts
	if c.cells <= denseCells {
		cells = c.dense
	}
	for _, n := range cells {
		if n[0]|n[1] != 0 {
			yield(int64(n[0]), int64(n[1]))
		}
	}
}

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

// at is the counts of cell k, valid until the next call.
func (h *hash) at(k uint64) *[2]uint32 {
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

// place is where k is or would be. The multiplier is 2^64 over the golden ratio
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
