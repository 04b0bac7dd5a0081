package learn

// blockSums holds the statistics of a node's items for each code of a block: one
// pass over them serves every column of the block that is drawn.
type blockSums struct {
	cells [][]float64 // by block: stats numbers and the number of items for each code
	fresh []bool      // summed for this node
	any   bool
}

func newBlockSums(r *ranked, stats int) blockSums {
	s := blockSums{cells: make([][]float64, len(r.blocks)), fresh: make([]bool, len(r.blocks))}
	for k, b := range r.blocks {
		s.cells[k] = make([]float64, (b.width+1)*(stats+1))
	}
	return s
}

func (s *blockSums) forget() {
	if s.any {
		clear(s.fresh)
		s.any = false
	}
}

// tryBlock offers the split of column f of a block: those with a 0 go left.
func (g *grower) tryBlock(f, block int, items []item, total []float64, best *split) bool {
	one := g.right
	n := g.ones(block, f-g.blocks[block].first, items, one)
	if n == 0 || n == len(items) {
		return false
	}
	drawn := 0.0
	if g.RandomThreshold {
		drawn = g.rng.Float64()
	}
	for k, v := range one {
		g.left[k] = total[k] - v
	}
	before := best.gain
	g.offer(f, 0, 1, len(items)-n, len(items), total, best)
	if best.gain != before {
		best.drawn = drawn
	}
	return true
}

// ones puts the statistics of the items of a code into to and returns their number.
// A block of more columns than items is not summed whole.
func (g *grower) ones(block, code int, items []item, to []float64) int {
	b := &g.blocks[block]
	if len(items) >= b.width {
		cell := g.cells(block, items)[code*(g.stats+1):]
		copy(to, cell)
		return int(cell[g.stats])
	}
	clear(to)
	if b.small != nil {
		return addOnes(g, b.small, uint8(code), items, to)
	}
	return addOnes(g, b.large, uint32(code), items, to)
}

func addOnes[T uint8 | uint32](g *grower, codes []T, code T, items []item, to []float64) int {
	n := 0
	for i := range items {
		if codes[items[i].row] == code {
			g.add(to, &items[i])
			n++
		}
	}
	return n
}

// cells are the sums of a block, made where the node has none yet.
func (g *grower) cells(block int, items []item) []float64 {
	cells := g.sums.cells[block]
	if g.sums.fresh[block] {
		return cells
	}
	g.sums.fresh[block], g.sums.any = true, true
	clear(cells)
	b := &g.blocks[block]
	if b.small != nil {
		count(cells, b.small, items, g.stats, g.numbers)
	} else {
		count(cells, b.large, items, g.stats, g.numbers)
	}
	return cells
}

// count adds the items to the cells of their codes: statistics, then their number.
func count[T uint8 | uint32](cells []float64, codes []T, items []item, stats int, numbers bool) {
	if numbers {
		for i := range items {
			at := int(codes[items[i].row]) * 3
			cells[at] += float64(items[i].k)
			cells[at+1] += items[i].a
			cells[at+2]++
		}
		return
	}
	width := stats + 1
	for i := range items {
		at := int(codes[items[i].row]) * width
		cells[at+int(items[i].k)] += items[i].a
		cells[at+stats]++
	}
}
