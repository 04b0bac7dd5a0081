package columns

import "context"

// packedRows is rows in memory: a byte for each cell of a grid of up to 256, two for each of a larger one, and one for
// each point of a grid whose points are told apart.
type packedRows struct {
	columns []packed
	number  int64
}

// packed is the cells of one column, in one of the two lists.
type packed struct {
	narrow bool
	few    []uint8
	many   []uint16
	told   bool
	within []uint8
}

// heldRows is rows a batch of held has: small enough for the second cache, as batches of a table are.
const heldRows = 1 << 15

// hold has room for a number of rows, which may be wrong.
func hold(grids []Grid, rows int64) *packedRows {
	h, room := &packedRows{columns: make([]packed, len(grids))}, int(min(max(rows, 0), mostAhead))
	for j, g := range grids {
		p := packed{narrow: g.Cells() <= 1<<8, told: g.HasInnerCounts()}
		if p.narrow {
			p.few = make([]uint8, 0, room)
		} else {
			p.many = make([]uint16, 0, room)
		}
		h.columns[j] = p
	}
	return h
}

// add keeps a batch of all columns; a held that is nil keeps nothing.
func (h *packedRows) add(b batch) {
	if h == nil {
		return
	}
	for j := range h.columns {
		p := &h.columns[j]
		switch {
		case p.narrow:
			for _, cell := range b.cells[j] {
				p.few = append(p.few, uint8(cell))
			}
		default:
			p.many = append(p.many, b.cells[j]...)
		}
		if p.told {
			p.within = append(p.within, b.within(j)...)
		}
	}
	if len(b.cells) > 0 {
		h.number += int64(len(b.cells[0]))
	}
}

// each implements rows.
func (h *packedRows) each(ctx context.Context, some []int, use func(batch)) (int64, error) {
	cells, first, end := make([][]uint16, len(h.columns)), int64(0), int64(0)
	b := batch{cells: cells, within: func(j int) []uint8 { return h.columns[j].within[first:end] }}
	for ; first < h.number; first = end {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		end = min(first+heldRows, h.number)
		for _, j := range some {
			cells[j] = h.columns[j].cells(cells[j][:0], first, end)
		}
		use(b)
	}
	return h.number, ctx.Err()
}

// cells appends the cells of some rows.
func (p *packed) cells(dst []uint16, first, limit int64) []uint16 {
	if !p.narrow {
		return append(dst, p.many[first:limit]...)
	}
	for _, cell := range p.few[first:limit] {
		dst = append(dst, uint16(cell))
	}
	return dst
}
