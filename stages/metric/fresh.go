package metric

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"weir/stages/internal/columns"
)

// Of draws of the rows, and of the tables themselves, the greatest few are told: where all rows come from one
// distribution, each of draws+1 orders is as likely, so that any statistic of a family is told with a probability of at
// most greatest/(draws+1) = .02. (Exact where every row is dealt; see NewBlocks.)
const (
	draws    = 199
	greatest = 4
)

// The smaller table is cut into so many blocks, and at most so many times as many rows of the other one are dealt.
const (
	smallBlocks = 250
	mostTimes   = 4
)

// Blocks holds the rows of two tables in blocks of equal size, filled at random, and how these are dealt to two tables
// anew. Blocks of exchangeable rows are exchangeable; sums over blocks cost less than sums over rows.
type Blocks struct {
	Real, Other []int32 // the block of each row; -1 where the row is not dealt

	count  int
	fewest int       // rows of the smaller of both tables, as dealt
	sets   [][]int32 // for each draw the blocks of one of both tables, the smaller one
}

// NewBlocks deals the rows of a real and of another table. Of the other table at most the given number of rows are
// dealt: rows that come from a model vary as the rows do that it learnt from, however many there are of them. Less
// than a block of each table is left out.
func NewBlocks(real, other, most int, rng *rand.Rand) *Blocks {
	b := &Blocks{}
	most = min(other, most)
	realRows, otherRows := min(real, mostTimes*most), min(most, mostTimes*real)
	b.fewest = min(realRows, otherRows)
	size := max(1, (b.fewest+smallBlocks-1)/smallBlocks)
	first, second := realRows/size, otherRows/size
	b.Real, b.Other = deal(real, first, size, 0, rng), deal(other, second, size, first, rng)
	b.count = first + second
	for range draws {
		if b.fewest == 0 {
			break // a table without rows has nothing to lose
		}
		set := make([]int32, 0, min(first, second))
		for _, i := range rng.Perm(b.count)[:min(first, second)] {
			set = append(set, int32(i))
		}
		slices.Sort(set)
		b.sets = append(b.sets, set)
	}
	return b
}

// deal puts rows into blocks, numbered from first on.
func deal(rows, blocks, size, first int, rng *rand.Rand) []int32 {
	group := make([]int32, rows)
	for i, row := range rng.Perm(rows) {
		group[row] = -1
		if i/size < blocks {
			group[row] = int32(first + i/size)
		}
	}
	return group
}

// split parts a list by block into the blocks of the real table and of the other one.
func split[T any](b *Blocks, blocks []T) (real, other []T) {
	first := 0
	for _, i := range b.Real {
		first = max(first, int(i)+1)
	}
	return blocks[:first], blocks[first:]
}

func repeatedNaN(n int) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = math.NaN()
	}
	return list
}

// each adds the sums of blocks up to the sums of both tables, draw by draw.
func (b *Blocks) each(sums [][]float64, build func(draw int, one, rest []float64)) {
	total := added(sums, nil)
	for d, set := range b.sets {
		one := added(sums, set)
		rest := make([]float64, len(one))
		for i, t := range total {
			rest[i] = t - one[i]
		}
		build(d, one, rest)
	}
}

// added returns the sum over the blocks of a set; nil stands for all blocks.
func added(sums [][]float64, set []int32) []float64 {
	if len(sums) == 0 {
		return nil
	}
	total := make([]float64, len(sums[0]))
	add := func(block []float64) {
		for i, v := range block {
			total[i] += v
		}
	}
	if set == nil {
		for _, block := range sums {
			add(block)
		}
		return total
	}
	for _, i := range set {
		add(sums[i])
	}
	return total
}

// LossFamily judges the statistics of one comparison together.
type LossFamily struct {
	mu   sync.Mutex
	most [draws]float64 // the greatest standardised difference of each draw
}

// Statistic is one figure of two tables. Loss is what the other table has lost of it: 0 is nothing, 1 everything.
type Statistic struct {
	Of          string // the column, pair or category
	Name        string
	Real, Other float64 // NaN where undefined
	Loss        float64

	difference, spread float64
}

// add takes up what a statistic differs by in the tables, and in each draw; what is undefined in a draw is no
// difference.
func (f *LossFamily) add(s *Statistic, difference float64, sample []float64) {
	s.difference = difference
	sum := float64(difference * difference)
	if math.IsNaN(sum) {
		s.Loss = math.NaN()
		return
	}
	for i, d := range sample {
		if math.IsNaN(d) {
			sample[i] = 0
		}
		sum += float64(sample[i] * sample[i])
	}
	s.spread = math.Sqrt(sum / (draws + 1))
	if !(s.spread > 0) || math.IsInf(s.spread, 0) {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, d := range sample {
		f.most[i] = max(f.most[i], math.Abs(d)/s.spread)
	}
}

// BeyondChance returns what is lost of each statistic beyond chance: its loss, or 0 where fresh real rows would differ
// as much; NaN where the statistic is undefined. The list holds all statistics of the family.
func (f *LossFamily) BeyondChance(list []Statistic) []float64 {
	ordered, certain := slices.Clone(f.most[:]), make([]float64, len(list))
	slices.Sort(ordered)
	for i, s := range list {
		if math.IsNaN(s.Loss) || math.Abs(s.difference) > ordered[draws-greatest]*s.spread {
			certain[i] = s.Loss
		}
	}
	return certain
}

// share returns the part of the greater of two scales that a difference takes, at most 1.
func share(difference, scale float64) float64 {
	if difference == 0 {
		return 0
	}
	return min(1, math.Abs(difference)/scale)
}

// Pair compares the correlation of two columns of numbers in both tables, NaN being missing, and takes what the tables
// show, real and other. Its loss is the difference. For rank correlations the numbers are ranks among the rows of both
// tables (RankPair).
func (f *LossFamily) Pair(b *Blocks, name string, x, y [2][]float64, real, other float64) Statistic {
	s := Statistic{Of: name, Real: real, Other: other, Loss: math.Abs(real - other)}
	if math.IsNaN(s.Loss) {
		return s
	}
	blocks := make([][]float64, b.count)
	for i := range blocks {
		blocks[i] = make([]float64, pairMoments)
	}
	multiply(blocks, b.Real, x[0], y[0])
	multiply(blocks, b.Other, x[1], y[1])
	sample := make([]float64, draws)
	b.each(blocks, func(d int, one, rest []float64) { sample[d] = correlation(one) - correlation(rest) })
	if b.fewest == 0 {
		s.Loss = math.NaN()
		return s
	}
	one, rest := split(b, blocks)
	f.add(&s, correlation(added(one, nil))-correlation(added(rest, nil)), sample)
	return s
}

// pairMoments are the number, sums and products of pairs.
const pairMoments = 6

func multiply(blocks [][]float64, group []int32, x, y []float64) {
	for i, a := range x {
		b := y[i]
		if group[i] < 0 || math.IsNaN(a) || math.IsNaN(b) {
			continue
		}
		m := blocks[group[i]]
		m[0]++
		m[1] += a
		m[2] += b
		m[3] += float64(a * a)
		m[4] += float64(b * b)
		m[5] += float64(a * b)
	}
}

func correlation(m []float64) float64 {
	xx, yy := m[3]-float64(m[1]*m[1])/m[0], m[4]-float64(m[2]*m[2])/m[0]
	if m[0] < 2 || !(xx > 1e-12*m[3]) || !(yy > 1e-12*m[4]) {
		return math.NaN()
	}
	return max(-1, min(1, (m[5]-float64(m[1]*m[2])/m[0])/math.Sqrt(xx)/math.Sqrt(yy)))
}

// StandardPair returns the columns of both tables in units of their own scale around their common mean, so that
// products neither vanish nor overflow.
func StandardPair(x [2][]float64) [2][]float64 {
	sum, n := 0.0, 0.0
	for _, list := range x {
		for _, v := range list {
			if !math.IsNaN(v) {
				sum, n = sum+v, n+1
			}
		}
	}
	mean, dev := sum/n, 0.0
	for _, list := range x {
		for _, v := range list {
			if !math.IsNaN(v) {
				dev += math.Abs(v-mean) / n
			}
		}
	}
	return mapped(x, func(v float64) float64 { return (v - mean) / dev })
}

func mapped(x [2][]float64, convert func(v float64) float64) (out [2][]float64) {
	for k, list := range x {
		out[k] = make([]float64, len(list))
		for i, v := range list {
			out[k][i] = convert(v)
		}
	}
	return out
}

// RankPair returns the average rank of each value among the values of both tables, from -1 to 1.
func RankPair(x [2][]float64) (out [2][]float64) {
	type cell struct {
		v          float64
		table, row int32
	}
	var cells []cell
	for k, list := range x {
		out[k] = make([]float64, len(list))
		for i, v := range list {
			out[k][i] = math.NaN()
			if !math.IsNaN(v) {
				cells = append(cells, cell{v, int32(k), int32(i)})
			}
		}
	}
	slices.SortFunc(cells, func(a, b cell) int { return cmp.Compare(a.v, b.v) })
	for first := 0; first < len(cells); {
		end := first + 1
		for end < len(cells) && cells[end].v == cells[first].v {
			end++
		}
		for _, c := range cells[first:end] {
			out[c.table][c.row] = float64(first+end)/float64(len(cells)) - 1
		}
		first = end
	}
	return out
}

// mostRare is the greatest share of a rare category.
const mostRare = .02

// Rare compares how many values of a row are rare, over all columns of categories: categories, and missing values,
// that at most mostRare of the dealt rows of both tables together have. Noise that drowns each of them may still move
// their sum.
func (f *LossFamily) Rare(b *Blocks, real, other *columns.Frame) Statistic {
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
	sample := make([]float64, draws)
	b.each(blocks, func(d int, one, rest []float64) { sample[d] = one[1]/one[0] - rest[1]/rest[0] })
	s := Statistic{Of: "rare categories", Name: StatisticPrevalence, Real: x, Other: y, Loss: share(x-y, math.Max(x, y))}
	if b.fewest == 0 {
		s.Loss = math.NaN()
		return s
	}
	one, rest := split(b, blocks)
	p, q := added(one, nil), added(rest, nil)
	f.add(&s, p[1]/p[0]-q[1]/q[0], sample)
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
