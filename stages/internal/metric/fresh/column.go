package fresh

import (
	"math"
	"slices"
	"sort"

	"weir/stages/internal/columns"
)

// Names of the statistics of numbers, and of shares.
const (
	Mean       = "mean"
	SD         = "standard_deviation"
	Median     = "median"
	Q95        = "quantile_95"
	Q99        = "quantile_99"
	Missing    = "missing"
	Prevalence = "prevalence"
)

// Numbers lists the statistics of a column of numbers in order; all columns have Missing.
func Numbers() []string { return []string{Mean, SD, Median, Q95, Q99} }

func shares() []float64 { return []float64{.5, .95, .99} }

// Column compares a column of two tables: its missing values, the mean, standard deviation and quantiles of numbers,
// the prevalence of each category. A quantile is the least value that at least its share of the values do not exceed.
//
// Losses: of a share, the difference over the greater of both; of a standard deviation too; of a mean and a median,
// the difference over the mean distance from the median (the greater of both tables), so that a count whose values are
// mostly 0 has a scale of its own mean; of an outer quantile, over its distance from the median where that is more.
func (f *Family) Column(b *Blocks, real, other *columns.Column) []Statistic {
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
	for i, q := range shares() {
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

// values lists the statistics in the order of Numbers, then the share that is missing.
func (d described) values() []float64 {
	return append(append([]float64{d.mean, d.sd}, d.quantiles[:]...), d.missing)
}

// scales are what a difference of each statistic is a share of.
func (d described) scales(e described) []float64 {
	dev := max(d.dev, e.dev)
	list := []float64{dev, max(d.sd, e.sd)}
	for i := range d.quantiles {
		list = append(list, max(dev, math.Abs(d.quantiles[i]-d.quantiles[0]), math.Abs(e.quantiles[i]-e.quantiles[0])))
	}
	return append(list, max(d.missing, e.missing))
}

func (f *Family) numbers(b *Blocks, real, other *columns.Column) []Statistic {
	d, e := describe(real), describe(other)
	s := newSums(b, real, other)
	names := append(Numbers(), Missing)
	drawn := make([][]float64, len(names))
	b.each(s.blocks, func(_ int, one, rest []float64) {
		x, y := s.values(one), s.values(rest)
		for i, d := range differences(x, y) {
			drawn[i] = append(drawn[i], d)
		}
	})
	one, rest := split(b, s.blocks)
	observed := repeatedNaN(len(names))
	if b.fewest > 0 { // of the rows that are dealt alone, as the draws are
		observed = differences(s.values(added(one, nil)), s.values(added(rest, nil)))
	}
	list, scales := make([]Statistic, len(names)), d.scales(e)
	for i, name := range names {
		x, y := d.values()[i], e.values()[i]
		list[i] = Statistic{Of: real.Name, Name: name, Real: x, Other: y, Loss: share(x-y, scales[i])}
		f.add(&list[i], observed[i], drawn[i])
	}
	return list
}

// differences returns by how much the statistics of two tables differ, means in units of the lesser of both
// standard deviations: where a mean grows its deviation does too, and would hide it.
func differences(x, y []float64) []float64 {
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

// dealt are the values that are there of the rows that are dealt.
func dealt(blocks []int32, x []float64) (list []float64) {
	for i, v := range x {
		if blocks[i] >= 0 && !math.IsNaN(v) {
			list = append(list, v)
		}
	}
	return list
}

// candidates are values that quantiles of draws may have: of sorted values those around each quantile, six standard
// errors of the smaller table to both sides, at most steps for each; and the greatest.
func candidates(pool []float64, fewest int) (list []float64) {
	const steps, errors = 64, 6
	if len(pool) == 0 || fewest == 0 {
		return nil
	}
	last := float64(len(pool) - 1)
	for _, q := range shares() {
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

// values are the statistics of a table by its sums, in the order of Numbers and in units of scale, then the share that
// is missing.
func (s *sums) values(sum []float64) []float64 {
	n := sum[sumPresent]
	mean := sum[sumValues] / n
	list := []float64{mean, math.Sqrt(max(0, (sum[sumSquares]-float64(mean*sum[sumValues]))/(n-1)))}
	for _, q := range shares() {
		below, at := 0.0, math.NaN()
		for i, c := range sum[sumCounts:] {
			if below += c; c > 0 && below >= float64(q*n) {
				at = s.candidates[i] / s.scale
				break
			}
		}
		list = append(list, at)
	}
	return append(list, sum[sumMissing]/(n+sum[sumMissing]))
}
