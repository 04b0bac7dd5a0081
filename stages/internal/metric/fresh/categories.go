package fresh

import (
	"fmt"
	"math"

	"weir/stages/internal/columns"
)

// categories compares the prevalence of each category, and of missing values, as shares of all rows.
func (f *Family) categories(b *Blocks, real, other *columns.Column) []Statistic {
	n := len(real.Categories)
	blocks := make([][]cell, b.count)
	tally(blocks, b.Real, real.Codes)
	tally(blocks, b.Other, other.Codes)
	x, y := prevalence(real, n), prevalence(other, n)
	drawn, observed := b.prevalences(blocks, n), repeatedNaN(n+1)
	if b.fewest > 0 { // of the rows that are dealt alone, as the draws are
		one, rest := split(b, blocks)
		p, rows := counted(one, nil, n)
		q, more := counted(rest, nil, n)
		for i := range observed {
			observed[i] = p[i]/rows - q[i]/more
		}
	}
	list := make([]Statistic, n+1)
	for i := range list {
		s := Statistic{Of: real.Name, Name: Missing, Real: x[i], Other: y[i], Loss: share(x[i]-y[i], max(x[i], y[i]))}
		if i < n {
			s.Of, s.Name = fmt.Sprintf("%s=%s", real.Name, real.Categories[i]), Prevalence
		}
		f.add(&s, observed[i], drawn[i])
		list[i] = s
	}
	return list
}

// cell is how many rows of a block have a code; the code after the last stands for missing values.
type cell struct {
	code int32
	rows float64
}

func tally(into [][]cell, blocks, codes []int32) {
	last := map[[2]int32]int{}
	for i, code := range codes {
		block := blocks[i]
		if block < 0 {
			continue
		}
		at, known := last[[2]int32{block, code}]
		if !known {
			at = len(into[block])
			last[[2]int32{block, code}] = at
			into[block] = append(into[block], cell{code: code})
		}
		into[block][at].rows++
	}
}

// prevalence returns the share of rows of each of n codes, and of missing values last.
func prevalence(c *columns.Column, n int) []float64 {
	list := make([]float64, n+1)
	for _, code := range c.Codes {
		list[place(code, n)]++
	}
	for i := range list {
		list[i] /= float64(len(c.Codes))
	}
	return list
}

func place(code int32, n int) int {
	if code < 0 {
		return n
	}
	return int(code)
}

// prevalences returns the differences of shares, by code and draw.
func (b *Blocks) prevalences(blocks [][]cell, n int) [][]float64 {
	drawn := make([][]float64, n+1)
	for i := range drawn {
		drawn[i] = make([]float64, len(b.sets))
	}
	total, all := counted(blocks, nil, n)
	for d, set := range b.sets {
		one, rows := counted(blocks, set, n)
		for i := range drawn {
			v := one[i]/rows - (total[i]-one[i])/(all-rows)
			if math.IsInf(v, 0) {
				v = math.NaN()
			}
			drawn[i][d] = v
		}
	}
	return drawn
}

// counted is how many rows of the blocks of a set have each code, and how many they are; nil stands for all blocks.
func counted(blocks [][]cell, set []int32, n int) (counts []float64, rows float64) {
	counts = make([]float64, n+1)
	add := func(block []cell) {
		for _, c := range block {
			counts[place(c.code, n)] += c.rows
			rows += c.rows
		}
	}
	if set == nil {
		for _, block := range blocks {
			add(block)
		}
		return counts, rows
	}
	for _, i := range set {
		add(blocks[i])
	}
	return counts, rows
}
