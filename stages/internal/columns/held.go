package columns

import "context"

// held is rows in memory: a byte for each cell of a grid of up to 256, two for each of a larger one, and one for each
// point of a grid whose points are told apart.
type held struct {
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
func hold(grids []Grid, rows int64) *held {
	h, room := &held{columns: make([]packed, len(grids))}, int(min(max(rows, 0), mostAhead))
	for j, g := range grids {
		p := packed{narrow: g.Cells() <= 1<<8, told: g.Told()}
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
func (h *held) add(b batch) {
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
func (h *held) each(ctx context.Context, some []int, use func(batch)) (int64, error) {
	cells, from, to := make([][]uint16, len(h.columns)), int64(0), int64(0)
	b := batch{cells: cells, within: func(j int) []uint8 { return h.columns[j].within[from:to] }}
	for ; from < h.number; from = to {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		to = min(from+heldRows, h.number)
		for _, j := range some {
			cells[j] = h.columns[j].cells(cells[j][:0], from, to)
		}
		use(b)
	}
	return h.number, ctx.Err()
}

// cells appends the cells of some rows.
func (p *packed) cells(to []uint16, from, until int64) []uint16 {
	if !p.narrow {
		return append(to, p.many[from:until]...)
	}
	for _, cell := range p.few[from:until] {
		to = append(to, uint16(cell))
	}
	return to
}
