package marginal

// shared are the keys of one block of rows: the place of each row in the columns that
// the sets of a piece share.
type shared [sharedRows]uint32

// sharedRows is how many rows are in a block; their keys and codes stay in the first
// cache.
const sharedRows = 1 << 12

// count counts all rows for the sets of a piece, block by block.
func (t *Tally) count(columns [][]uint16, p piece) {
	var keys shared
	rows := len(columns[t.sets[p.sets[0]][0]])
	for lo := 0; lo < rows; lo += sharedRows {
		hi := min(lo+sharedRows, rows)
		block := keys[:hi-lo]
		clear(block)
		for _, j := range p.before {
			size := uint32(t.sizes[j])
			for i, v := range columns[j][lo:hi] {
				block[i] = block[i]*size + uint32(v)
			}
		}
		t.block(columns, p, block, lo)
	}
}

// block counts the rows of one block.
func (t *Tally) block(columns [][]uint16, p piece, keys []uint32, lo int) {
	var last [together]side
	for k, i := range p.sets {
		j := t.sets[i][len(p.before)]
		last[k] = side{columns[j][lo : lo+len(keys)], t.counts[i], uint32(t.sizes[j])}
	}
	k := 0
	for ; k+1 < len(p.sets); k += 2 {
		two(keys, last[k], last[k+1])
	}
	if k < len(p.sets) {
		one(keys, last[k])
	}
}

// side is one set of a piece: the codes of its last column, and its counts.
type side struct {
	codes  []uint16
	counts []int64
	size   uint32
}

func one(keys []uint32, a side) {
	codes := a.codes[:len(keys)]
	for i, k := range keys {
		a.counts[k*a.size+uint32(codes[i])]++
	}
}

func two(keys []uint32, a, b side) {
	x, y := a.codes[:len(keys)], b.codes[:len(keys)]
	for i, k := range keys {
		a.counts[k*a.size+uint32(x[i])]++
		b.counts[k*b.size+uint32(y[i])]++
	}
}
