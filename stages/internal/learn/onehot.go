package learn

import "slices"

// Block is Width one-hot columns of a matrix, from column First on. They are not
// stored: row i has a 1 in column First+Codes[i], and no 1 where Codes[i] is not
// one of 0 to Width-1.
type Block struct {
	First, Width int
	Codes        []int32
	rows         [][]int32 // that have a 1, of each column; nil where they are not listed (Listed)
}

// each calls dense for every stored column and block for every block, in the order
// of the columns, so that sums over columns have one order however these are held.
func (m Matrix) each(dense func(j int, c []float64), block func(b Block)) {
	next := 0
	for j := 0; j < len(m.Cols); j++ {
		if next < len(m.Blocks) && m.Blocks[next].First == j {
			block(m.Blocks[next])
			j += m.Blocks[next].Width - 1
			next++
			continue
		}
		dense(j, m.Cols[j])
	}
}

// Dense is the matrix with every column stored; m itself where it has no blocks.
func (m Matrix) Dense() Matrix {
	if len(m.Blocks) == 0 {
		return m
	}
	d := Matrix{Rows: m.Rows, Cols: slices.Clone(m.Cols)}
	for _, b := range m.Blocks {
		copy(d.Cols[b.First:], b.columns())
	}
	return d
}

func (b Block) columns() [][]float64 {
	m := NewMatrix(len(b.Codes), b.Width)
	for i, k := range b.Codes {
		if uint32(k) < uint32(b.Width) {
			m.Cols[k][i] = 1
		}
	}
	return m.Cols
}

// Pick is the matrix of the columns at the given places, which ascend.
func (m Matrix) Pick(places []int) Matrix {
	p := Matrix{Rows: m.Rows}
	left := places
	m.each(func(j int, c []float64) {
		if len(left) > 0 && left[0] == j {
			p.Cols, left = append(p.Cols, c), left[1:]
		}
	}, func(b Block) {
		n := 0
		for n < len(left) && left[n] < b.First+b.Width {
			n++
		}
		if n > 0 {
			p.Blocks = append(p.Blocks, b.pick(left[:n], len(p.Cols)))
			p.Cols, left = append(p.Cols, make([][]float64, n)...), left[n:]
		}
	})
	return p
}

// Without is the matrix without the width columns from first on, which hold whole blocks; it shares its columns with m.
func (m Matrix) Without(first, width int) Matrix {
	left := Matrix{Rows: m.Rows, Cols: slices.Concat(m.Cols[:first], m.Cols[first+width:])}
	for _, b := range m.Blocks {
		if b.First >= first+width {
			b.First -= width
		} else if b.First >= first {
			continue
		}
		left.Blocks = append(left.Blocks, b)
	}
	return left
}

// pick is the block of the columns at the given places alone.
func (b Block) pick(places []int, first int) Block {
	to := slices.Repeat([]int32{-1}, b.Width)
	for k, j := range places {
		to[j-b.First] = int32(k)
	}
	p := Block{First: first, Width: len(places), Codes: make([]int32, len(b.Codes))}
	for i, k := range b.Codes {
		p.Codes[i] = -1
		if uint32(k) < uint32(b.Width) {
			p.Codes[i] = to[k]
		}
	}
	return p
}

// take is the block of the rows at the given places.
func (b Block) take(places []int) Block {
	t := Block{First: b.First, Width: b.Width, Codes: make([]int32, len(places))}
	for k, i := range places {
		t.Codes[k] = b.Codes[i]
	}
	return t
}

// rows writes rows lo to hi-1, one after the other at the given stride.
func (m Matrix) rows(lo, hi, stride int, to []float64) {
	clear(to[:(hi-lo)*stride])
	m.each(func(j int, c []float64) {
		for i, v := range c[lo:hi] {
			to[i*stride+j] = v
		}
	}, func(b Block) {
		for i, k := range b.Codes[lo:hi] {
			if uint32(k) < uint32(b.Width) {
				to[i*stride+b.First+int(k)] = 1
			}
		}
	})
}

// dots is the inner product of each column with r.
func (m Matrix) dots(r, to []float64) {
	m.each(func(j int, c []float64) { to[j] = dot(c, r) }, func(b Block) {
		at := to[b.First : b.First+b.Width]
		clear(at)
		b.dots(r, at)
	})
}

// dots adds the entries of r to the columns of their rows.
func (b Block) dots(r, to []float64) {
	for i, k := range b.Codes {
		if uint32(k) < uint32(len(to)) {
			to[k] += r[i]
		}
	}
}

// add adds the coefficients w of the columns to rows lo, lo+1, ... of to.
func (b Block) add(w []float64, lo int, to []float64) {
	for i, k := range b.Codes[lo : lo+len(to)] {
		if uint32(k) < uint32(len(w)) {
			to[i] += w[k]
		}
	}
}
