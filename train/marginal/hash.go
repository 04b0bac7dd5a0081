package marginal

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
