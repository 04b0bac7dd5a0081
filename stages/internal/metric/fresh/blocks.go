// Package fresh tells what a table has lost from what fresh real rows would seem to lose by chance. A difference of two
// tables counts where it is greater than differences of the same rows dealt to two tables at random.
package fresh

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
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
	of := make([]int32, rows)
	for i, row := range rng.Perm(rows) {
		of[row] = -1
		if i/size < blocks {
			of[row] = int32(first + i/size)
		}
	}
	return of
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
func (b *Blocks) each(sums [][]float64, of func(draw int, one, rest []float64)) {
	total := added(sums, nil)
	for d, set := range b.sets {
		one := added(sums, set)
		rest := make([]float64, len(one))
		for i, t := range total {
			rest[i] = t - one[i]
		}
		of(d, one, rest)
	}
}

// added is the sum over the blocks of a set; nil stands for all blocks.
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

// Family judges the statistics of one comparison together.
type Family struct {
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
func (f *Family) add(s *Statistic, difference float64, drawn []float64) {
	s.difference = difference
	sum := float64(difference * difference)
	if math.IsNaN(sum) {
		s.Loss = math.NaN()
		return
	}
	for i, d := range drawn {
		if math.IsNaN(d) {
			drawn[i] = 0
		}
		sum += float64(drawn[i] * drawn[i])
	}
	s.spread = math.Sqrt(sum / (draws + 1))
	if !(s.spread > 0) || math.IsInf(s.spread, 0) {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, d := range drawn {
		f.most[i] = max(f.most[i], math.Abs(d)/s.spread)
	}
}

// Told returns what is lost of each statistic beyond chance: its loss, or 0 where fresh real rows would differ as
// much; NaN where the statistic is undefined. The list holds all statistics of the family.
func (f *Family) Told(list []Statistic) []float64 {
	ordered, told := slices.Clone(f.most[:]), make([]float64, len(list))
	slices.Sort(ordered)
	for i, s := range list {
		if math.IsNaN(s.Loss) || math.Abs(s.difference) > ordered[draws-greatest]*s.spread {
			told[i] = s.Loss
		}
	}
	return told
}

// share is the part of the greater of two scales that a difference takes, at most 1.
func share(difference, scale float64) float64 {
	if difference == 0 {
		return 0
	}
	return min(1, math.Abs(difference)/scale)
}
