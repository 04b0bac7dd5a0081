package metric

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"weir/stages/internal/columns"
)

// Names of the statistics of numbers, and of shares.
const (
	StatisticMean       = "mean"
	StatisticSD         = "standard_deviation"
	StatisticMedian     = "median"
	StatisticQ95        = "quantile_95"
	StatisticQ99        = "quantile_99"
	StatisticMissing    = "missing"
	StatisticPrevalence = "prevalence"
)

// NumberStatistics lists the statistics of a column of numbers in order; all columns have StatisticMissing.
func NumberStatistics() []string {
	return []string{StatisticMean, StatisticSD, StatisticMedian, StatisticQ95, StatisticQ99}
}

func quantileShares() []float64 { return []float64{.5, .95, .99} }

// Column compares a column of two tables: its missing values, the mean, standard deviation and quantiles of numbers,
// the prevalence of each category. A quantile is the least value that at least its share of the values do not exceed.
//
// Losses: of a share, the difference over the greater of both; of a standard deviation too; of a mean and a median,
// the difference over the mean distance from the median (the greater of both tables), so that a count whose values are
// mostly 0 has a scale of its own mean; of an outer quantile, over its distance from the median where that is more.
func (f *LossFamily) Column(b *Blocks, real, other *columns.Column) []Statistic {
	if real.Coded() {
		return f.categories(b, real, other)
	}
	return f.numbers(b, real, other)
}

// described is what a table says of a column of numbers.
type described struct {
	missing       float64 // share
	mean, sd, dev float64 // dev: mean distance from the median
	quantiles     [3]float64
}

func describe(c *columns.Column) (d described) {
	x := present(c.Numbers)
	d.missing = float64(len(c.Numbers)-len(x)) / float64(len(c.Numbers))
	slices.Sort(x)
	n := float64(len(x))
	d.mean, d.sd, d.dev = math.NaN(), math.NaN(), math.NaN()
	for i, q := range quantileShares() {
		d.quantiles[i] = math.NaN()
		if len(x) > 0 {
			d.quantiles[i] = x[max(0, int(math.Ceil(float64(q*n)))-1)]
		}
	}
	if len(x) == 0 {
		return d
	}
	sum, dev, squares := 0.0, 0.0, 0.0
	for _, v := range x {
		sum, dev = sum+v, dev+math.Abs(v-d.quantiles[0])
	}
	d.mean, d.dev = sum/n, dev/n
	for _, v := range x {
		squares += float64((v - d.mean) * (v - d.mean))
	}
	if len(x) > 1 {
		d.sd = math.Sqrt(squares / (n - 1))
	}
	return d
}

func present(x []float64) []float64 {
	return slices.DeleteFunc(slices.Clone(x), math.IsNaN)
}

// values lists the statistics in the order of NumberStatistics, then the share that is missing.
func (d described) values() []float64 {
	return append(append([]float64{d.mean, d.sd}, d.quantiles[:]...), d.missing)
}

// scales returns what a difference of each statistic is a share of.
func (d described) scales(e described) []float64 {
	dev := max(d.dev, e.dev)
	list := []float64{dev, max(d.sd, e.sd)}
	for i := range d.quantiles {
		list = append(list, max(dev, math.Abs(d.quantiles[i]-d.quantiles[0]), math.Abs(e.quantiles[i]-e.quantiles[0])))
	}
	return append(list, max(d.missing, e.missing))
}

func (f *LossFamily) numbers(b *Blocks, real, other *columns.Column) []Statistic {
	d, e := describe(real), describe(other)
	s := newSums(b, real, other)
	names := append(NumberStatistics(), StatisticMissing)
	draws := make([][]float64, len(names))
	b.each(s.blocks, func(_ int, one, rest []float64) {
		x, y := s.values(one), s.values(rest)
		for i, d := range freshDifferences(x, y) {
			draws[i] = append(draws[i], d)
		}
	})
	one, rest := split(b, s.blocks)
	observed := repeatedNaN(len(names))
	if b.fewest > 0 { // of the rows that are dealt alone, as the draws are
		observed = freshDifferences(s.values(added(one, nil)), s.values(added(rest, nil)))
	}
	list, scales := make([]Statistic, len(names)), d.scales(e)
	for i, name := range names {
		x, y := d.values()[i], e.values()[i]
		list[i] = Statistic{Of: real.Name, Name: name, Real: x, Other: y, Loss: share(x-y, scales[i])}
		f.add(&list[i], observed[i], draws[i])
	}
	return list
}

// freshDifferences returns by how much the statistics of two tables differ, means in units of the lesser of both
// standard deviations: where a mean grows its deviation does too, and would hide it.
func freshDifferences(x, y []float64) []float64 {
	list := make([]float64, len(x))
	for i := range x {
		list[i] = x[i] - y[i]
	}
	sd := min(x[1], y[1])
	if sd == 0 {
		sd = max(x[1], y[1])
	}
	if sd > 0 {
		list[0] /= sd
	}
	return list
}

// sums holds what the blocks of a column of numbers add up to: missing and present values, their sum and squares, and
// counts of the values up to each of some candidates for quantiles. Numbers are in units of scale from middle, so that
// squares neither vanish nor overflow.
type sums struct {
	middle, scale float64
	candidates    []float64
	blocks        [][]float64
}

const (
	sumMissing = iota
	sumPresent
	sumValues
	sumSquares
	sumCounts
)

func newSums(b *Blocks, real, other *columns.Column) *sums {
	pool := append(dealt(b.Real, real.Numbers), dealt(b.Other, other.Numbers)...)
	slices.Sort(pool)
	s := &sums{scale: 1, candidates: candidates(pool, b.fewest)}
	if len(pool) > 0 {
		s.middle = pool[len(pool)/2]
		dev := 0.0
		for _, v := range pool {
			dev += math.Abs(v-s.middle) / float64(len(pool))
		}
		if dev > 0 && !math.IsInf(dev, 0) {
			s.scale = dev
		}
	}
	s.blocks = make([][]float64, b.count)
	for i := range s.blocks {
		s.blocks[i] = make([]float64, sumCounts+len(s.candidates))
	}
	s.take(b.Real, real.Numbers)
	s.take(b.Other, other.Numbers)
	return s
}

// dealt returns the values that are there of the rows that are dealt.
func dealt(blocks []int32, x []float64) (list []float64) {
	for i, v := range x {
		if blocks[i] >= 0 && !math.IsNaN(v) {
			list = append(list, v)
		}
	}
	return list
}

// candidates returns values that quantiles of draws may have: of sorted values those around each quantile, six standard
// errors of the smaller table to both sides, at most steps for each; and the greatest.
func candidates(pool []float64, fewest int) (list []float64) {
	const steps, errors = 64, 6
	if len(pool) == 0 || fewest == 0 {
		return nil
	}
	last := float64(len(pool) - 1)
	for _, q := range quantileShares() {
		reach := float64(errors*math.Sqrt(q*(1-q)/float64(fewest))) + 1/float64(fewest)
		for i := range steps + 1 {
			at := q + float64(reach*(float64(float64(2*i)/steps)-1))
			list = append(list, pool[int(math.Round(max(0, min(1, at))*last))])
		}
	}
	list = append(list, pool[len(pool)-1])
	slices.Sort(list)
	return slices.Compact(list)
}

func (s *sums) take(blocks []int32, x []float64) {
	for i, v := range x {
		switch {
		case blocks[i] < 0:
			continue
		case math.IsNaN(v):
			s.blocks[blocks[i]][sumMissing]++
			continue
		}
		sums, u := s.blocks[blocks[i]], (v-s.middle)/s.scale
		sums[sumPresent]++
		sums[sumValues] += u
		sums[sumSquares] += float64(u * u)
		sums[sumCounts+sort.SearchFloat64s(s.candidates, v)]++
	}
}

// values returns the statistics of a table by its sums, in the order of NumberStatistics and in units of scale, then
// the share that is missing.
func (s *sums) values(sum []float64) []float64 {
	n := sum[sumPresent]
	mean := sum[sumValues] / n
	list := []float64{mean, math.Sqrt(max(0, (sum[sumSquares]-float64(mean*sum[sumValues]))/(n-1)))}
	for _, q := range quantileShares() {
		below, point := 0.0, math.NaN()
		for i, c := range sum[sumCounts:] {
			if below += c; c > 0 && below >= float64(q*n) {
				point = s.candidates[i] / s.scale
				break
			}
		}
		list = append(list, point)
	}
	return append(list, sum[sumMissing]/(n+sum[sumMissing]))
}

// categories compares the prevalence of each category, and of missing values, as shares of all rows.
func (f *LossFamily) categories(b *Blocks, real, other *columns.Column) []Statistic {
	n := len(real.Categories)
	blocks := make([][]cell, b.count)
	tally(blocks, b.Real, real.Codes)
	tally(blocks, b.Other, other.Codes)
	x, y := prevalence(real, n), prevalence(other, n)
	draws, observed := b.prevalences(blocks, n), repeatedNaN(n+1)
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
		s := Statistic{Of: real.Name, Name: StatisticMissing, Real: x[i], Other: y[i],
			Loss: share(x[i]-y[i], max(x[i], y[i]))}
		if i < n {
			s.Of, s.Name = fmt.Sprintf("%s=%s", real.Name, real.Categories[i]), StatisticPrevalence
		}
		f.add(&s, observed[i], draws[i])
		list[i] = s
	}
	return list
}

// cell is how many rows of a block have a code; the code after the last stands for missing values.
type cell struct {
	code int32
	rows float64
}

func tally(dst [][]cell, blocks, codes []int32) {
	last := map[[2]int32]int{}
	for i, code := range codes {
		block := blocks[i]
		if block < 0 {
			continue
		}
		pos, known := last[[2]int32{block, code}]
		if !known {
			pos = len(dst[block])
			last[[2]int32{block, code}] = pos
			dst[block] = append(dst[block], cell{code: code})
		}
		dst[block][pos].rows++
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
	draws := make([][]float64, n+1)
	for i := range draws {
		draws[i] = make([]float64, len(b.sets))
	}
	total, all := counted(blocks, nil, n)
	for d, set := range b.sets {
		one, rows := counted(blocks, set, n)
		for i := range draws {
			v := one[i]/rows - (total[i]-one[i])/(all-rows)
			if math.IsInf(v, 0) {
				v = math.NaN()
			}
			draws[i][d] = v
		}
	}
	return draws
}

// counted returns how many rows of the blocks of a set have each code, and how many they are; nil stands for all
// blocks.
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
