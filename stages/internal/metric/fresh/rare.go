package fresh

import (
	"math"

	"weir/stages/internal/columns"
)

// mostRare is the greatest share of a rare category.
const mostRare = .02

// Rare compares how many values of a row are rare, over all columns of categories: categories, and missing values,
// that at most mostRare of the dealt rows of both tables together have. Noise that drowns each of them may still move
// their sum.
func (f *Family) Rare(b *Blocks, real, other *columns.Frame) Statistic {
	blocks := make([][]float64, b.count)
	for i := range blocks {
		blocks[i] = make([]float64, 2) // rows, rare values
	}
	for _, of := range [][]int32{b.Real, b.Other} {
		for _, block := range of {
			if block >= 0 {
				blocks[block][0]++
			}
		}
	}
	var x, y float64
	for i := range real.Columns {
		if c, d := &real.Columns[i], &other.Columns[i]; c.Coded() {
			rare := rareCodes(b, c, d)
			x += rareOf(rare, c, func(row int) { mark(blocks, b.Real[row]) })
			y += rareOf(rare, d, func(row int) { mark(blocks, b.Other[row]) })
		}
	}
	x, y = x/float64(real.Rows), y/float64(other.Rows)
	drawn := make([]float64, draws)
	b.each(blocks, func(d int, one, rest []float64) { drawn[d] = one[1]/one[0] - rest[1]/rest[0] })
	s := Statistic{Of: "rare categories", Name: Prevalence, Real: x, Other: y, Loss: share(x-y, math.Max(x, y))}
	if b.fewest == 0 {
		s.Loss = math.NaN()
		return s
	}
	one, rest := split(b, blocks)
	p, q := added(one, nil), added(rest, nil)
	f.add(&s, p[1]/p[0]-q[1]/q[0], drawn)
	return s
}

func mark(blocks [][]float64, block int32) {
	if block >= 0 {
		blocks[block][1]++
	}
}

// rareCodes says of each code, and of missing values last, whether it is rare.
func rareCodes(b *Blocks, real, other *columns.Column) []bool {
	blocks := [][]int32{b.Real, b.Other}
	counts, rows := make([]float64, len(real.Categories)+1), 0.0
	for k, codes := range [][]int32{real.Codes, other.Codes} {
		for i, code := range codes {
			if blocks[k][i] >= 0 {
				counts[place(code, len(real.Categories))]++
				rows++
			}
		}
	}
	rare := make([]bool, len(counts))
	for i, c := range counts {
		rare[i] = c <= mostRare*rows
	}
	return rare
}

// rareOf counts the rare values of a column and names their rows.
func rareOf(rare []bool, c *columns.Column, found func(row int)) (n float64) {
	for i, code := range c.Codes {
		if rare[place(code, len(c.Categories))] {
			n++
			found(i)
		}
	}
	return n
}
