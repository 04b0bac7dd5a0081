package graphical

import (
	"math"
	"slices"

	"weir/internal/bitmath"
)

// Values of two numbers in one cell of a table depend on each other as their codes do: the
// last bin of a long tail holds much of what two columns have in common. The model does not
// know it, and rows whose values were drawn apart lose it. So numbers of which pairs were
// measured are placed one after the other, each by its strongest relation to one before: which
// values a bin has is what the histogram of the column says, as for all columns; which row of
// the bin gets which follows the rank of the other number, by what the model's table shows of
// normal scores around its code. It is post-processing of the model (docs/marginals.md section 4).

const (
	mostRelations = 300 // pairs of numbers that are looked at
	leastRelation = .05 // correlation of normal scores below which numbers are placed apart
	mostRelation  = .95 // the greatest that is taken for one
	pointsOfBin   = 32  // at which the normal score of a rank inside its bin is known
	rankSteps     = 1 << 16
)

// relation is how a number is placed: by that of another one.
type relation struct {
	column, by int // by: -1 where it is the first
	strength   float64
	laws       []law // by code of the other number
}

// law is the normal law of a number's score where the other one has a code: its mean at the
// middle of the code, by how much that grows with the other's score, and its variance.
type law struct{ mean, slope, variance float64 }

// scores are the normal scores of a number's ranks, by code.
type scores struct {
	at    [][pointsOfBin]float64
	mean  []float64 // of each code
	own   []float64 // variance inside each code
	wide  []float64 // from the rank at a tenth of a code to that at nine tenths, over .8
	whole float64   // variance of the means
}

// relations are the numbers that are placed by ranks, each behind the one it is placed by.
func (m *released) relations() ([]relation, []*scores) {
	scores, tables := make([]*scores, len(m.Columns)), map[[2]int][]float64{}
	var edges []relation
	for _, pair := range m.near() {
		table, err := m.model.Marginal(pair[:])
		if err != nil { // too large to be found by elimination
			continue
		}
		for _, j := range pair {
			if scores[j] == nil {
				scores[j] = m.scores(j)
			}
		}
		if r := related(table, scores[pair[0]], scores[pair[1]]); math.Abs(r) >= leastRelation {
			edges, tables[pair] = append(edges, relation{column: pair[0], by: pair[1], strength: r}), table
		}
	}
	list := strongest(edges, len(m.Columns))
	for i, r := range list {
		if r.by >= 0 {
			list[i].laws = laws(r, tables[[2]int{min(r.column, r.by), max(r.column, r.by)}], scores)
		}
	}
	return list, scores
}

// near are the pairs of numbers that were measured together, or each with one column that is
// the same.
func (m *released) near() (pairs [][2]int) {
	beside := make([][]bool, len(m.Columns))
	for j := range beside {
		beside[j] = make([]bool, len(m.Columns))
	}
	for _, x := range m.Measured {
		for _, a := range x.Columns {
			for _, b := range x.Columns {
				beside[a][b] = len(x.Columns) > 1
			}
		}
	}
	for a := range beside {
		for b := a + 1; b < len(beside); b++ {
			if m.Columns[a].Order != nil || m.Columns[b].Order != nil || len(pairs) >= mostRelations {
				continue
			}
			for c := range beside {
				if beside[a][c] && beside[b][c] {
					pairs = append(pairs, [2]int{a, b})
					break
				}
			}
		}
	}
	return pairs
}

// strongest keeps the strongest relations that form no circle, and directs them.
func strongest(edges []relation, columns int) (list []relation) {
	slices.SortStableFunc(edges, func(a, b relation) int { return descending(math.Abs(a.strength), math.Abs(b.strength)) })
	tree := make([]int, columns)
	for j := range tree {
		tree[j] = j
	}
	var kept []relation
	for _, e := range edges {
		if a, b := tree[e.column], tree[e.by]; a != b {
			kept = append(kept, e)
			for j := range tree {
				if tree[j] == a {
					tree[j] = b
				}
			}
		}
	}
	placed := make([]bool, columns)
	for _, root := range kept {
		if placed[root.column] {
			continue
		}
		placed[root.column] = true
		list = append(list, relation{column: root.column, by: -1})
		for next := len(list) - 1; next < len(list); next++ {
			for _, e := range kept {
				switch from := list[next].column; {
				case e.by == from && !placed[e.column]:
					list, placed[e.column] = append(list, e), true
				case e.column == from && !placed[e.by]:
					list, placed[e.by] = append(list, relation{column: e.by, by: e.column, strength: e.strength}), true
				}
			}
		}
	}
	return list
}

// scores finds those of a number, missing values left out.
func (m *released) scores(j int) *scores {
	counts, err := m.model.Marginal([]int{j})
	if err != nil {
		return nil
	}
	bins := len(m.Columns[j].Bins)
	s, present, before := &scores{}, total(counts[:bins]), 0.0
	if !(present > 0) {
		return nil
	}
	for _, n := range counts[:bins] {
		var at [pointsOfBin]float64
		mean, square, part := 0.0, 0.0, max(n/present, 0)
		for k := range at {
			at[k] = bitmath.NormalQuantile(finite(before + float64(part*(float64(k)+.5)/pointsOfBin)))
			mean, square = mean+float64(at[k]/pointsOfBin), square+float64(at[k]*at[k]/pointsOfBin)
		}
		wide := bitmath.NormalQuantile(finite(before+float64(.9*part))) - bitmath.NormalQuantile(finite(before+float64(.1*part)))
		s.at, s.mean, s.wide = append(s.at, at), append(s.mean, mean), append(s.wide, wide/.8)
		s.own = append(s.own, max(square-float64(mean*mean), 0))
		s.whole += float64(part * mean * mean)
		before += part
	}
	return s
}

// finite keeps a rank where its score is finite.
func finite(rank float64) float64 { return min(max(rank, 0x1p-40), 1-0x1p-40) }

// related is the correlation of two numbers' normal scores, of rows where neither is missing,
// made up for what codes hide of it.
func related(table []float64, a, b *scores) float64 {
	if a == nil || b == nil || !(a.whole > 0 && b.whole > 0) {
		return 0
	}
	wide := width(table, a, b)
	rows, sum, sumA, sumB := 0.0, 0.0, 0.0, 0.0
	for i, x := range a.mean {
		for k, y := range b.mean {
			n := table[i*wide+k]
			rows, sum = rows+n, sum+float64(n*x*y)
			sumA, sumB = sumA+float64(n*x), sumB+float64(n*y)
		}
	}
	if !(rows > 0) {
		return 0
	}
	r := (sum/rows - float64(sumA/rows*sumB/rows)) / float64(a.whole*b.whole)
	return min(max(r, -mostRelation), mostRelation)
}

// width is the codes of the second number of a table, a code of missing values among them
// where it has one.
func width(table []float64, a, b *scores) int {
	if rows := len(a.mean); len(table)%rows == 0 && (len(table)/rows == len(b.mean) || len(table)/rows == len(b.mean)+1) {
		return len(table) / rows
	}
	return len(table) / (len(a.mean) + 1)
}

// laws are those of a number by code of the other: what the model's table of both, the lower column first, shows around
// each code, since what tails have in common is more than what all rows have.
func laws(r relation, table []float64, scores []*scores) []law {
	own, other := scores[r.column], scores[r.by]
	laws := make([]law, len(other.mean))
	wide := width(table, scores[min(r.column, r.by)], scores[max(r.column, r.by)])
	rows, spread := make([]float64, len(laws)), make([]float64, len(laws))
	for a := range laws {
		sum, square := 0.0, 0.0
		for b, x := range own.mean {
			n := table[min(a*wide+b, len(table)-1)]
			if r.column < r.by {
				n = table[b*wide+a]
			}
			rows[a], sum = rows[a]+n, sum+float64(n*x)
			square += float64(n * (float64(x*x) + own.own[b]))
		}
		if rows[a] > 0 {
			mean := sum / rows[a]
			spread[a] = square/rows[a] - float64(mean*mean)
			laws[a].mean = mean / own.whole // what means of codes hide of the scores in them
		}
	}
	for a := range laws {
		slope := around(laws, other.mean, rows, a, r.strength)
		laws[a].slope = slope
		laws[a].variance = max(min(spread[a]-float64(slope*slope*other.own[a]), 1-float64(r.strength*r.strength)), leastVariance)
	}
	return laws
}

const (
	nextCodes     = 2     // codes on each side by which a slope is told
	steady        = .05   // weight of the slope of all rows, in variances of the scores
	mostSteep     = 2     // slope of a law
	leastVariance = .0975 // of a law: 1 - mostRelation^2
)

// around is the slope of the means of the codes beside one, by least squares, weighed by their
// rows, with the slope of all rows for what little they tell.
func around(laws []law, at, rows []float64, code int, all float64) float64 {
	whole, x, y, xx, xy := 0.0, 0.0, 0.0, 0.0, 0.0
	for a := max(code-nextCodes, 0); a <= min(code+nextCodes, len(laws)-1); a++ {
		whole += rows[a]
		x, y = x+float64(rows[a]*at[a]), y+float64(rows[a]*laws[a].mean)
		xx, xy = xx+float64(rows[a]*at[a]*at[a]), xy+float64(rows[a]*at[a]*laws[a].mean)
	}
	if !(whole > 0) {
		return all
	}
	over := xx/whole - float64(x/whole*x/whole)
	with := xy/whole - float64(x/whole*y/whole)
	return min(max((with+float64(steady*all))/(over+steady), -mostSteep), mostSteep)
}

// rank places the numbers that are related for a whole block. ranks are where rows lie among
// those of their bin, by column: 0 the first of rankSteps.
func (w *drawing) rank() {
	w.placed = make([][]uint16, len(w.block))
	ranks := make([][]uint16, len(w.block))
	for _, r := range w.relations {
		w.placed[r.column], ranks[r.column] = w.ordered(r, ranks)
	}
}

// ordered places a number: rows of a bin by a key that is uniform, but tilted by where the row
// lies among those of the number it is placed by. With x the score of the number and m and v
// the mean and the variance of its law there, the logarithm of that law over the standard
// normal one has the slope (m - x)/v + x in x.
func (w *drawing) ordered(r relation, ranks [][]uint16) (cells, rank []uint16) {
	codes, c := w.block[r.column], &w.m.Columns[r.column]
	bins := len(c.Bins)
	keys := make([]uint16, len(codes))
	for i, code := range codes {
		if int(code) < bins {
			keys[i] = uint16(min(rankSteps*w.key(r, int(code), i, ranks), rankSteps-1))
		}
	}
	cells, rank = make([]uint16, len(codes)), make([]uint16, len(codes))
	order, starts := sorted(codes, keys, c.codes())
	for code := range c.codes() {
		rows := order[starts[code]:starts[code+1]]
		if code >= bins {
			for _, i := range rows {
				cells[i] = uint16(c.places() + code - bins)
			}
			continue
		}
		own := w.fillers[r.column].Ordered(code, len(rows))
		for k, i := range rows {
			cells[i], rank[i] = own[k], uint16(uint64(k)*rankSteps/uint64(len(rows)))
		}
	}
	return cells, rank
}

// key is a number in [0, 1) by which a row is placed inside its bin.
func (w *drawing) key(r relation, code, row int, ranks [][]uint16) float64 {
	u := w.values.Float64()
	if r.by < 0 {
		return u
	}
	by := int(w.block[r.by][row])
	if by >= len(w.m.Columns[r.by].Bins) { // missing
		return u
	}
	own, other, l := w.scores[r.column], w.scores[r.by], r.laws[by]
	y := other.at[by][int(ranks[r.by][row])*pointsOfBin/rankSteps]
	mean := l.mean + float64(l.slope*(y-other.mean[by]))
	slope := own.wide[code] * ((mean-own.mean[code])/l.variance + own.mean[code])
	return tilted(u, min(max(slope, -mostSlope), mostSlope))
}

const (
	mostSlope  = 500
	leastSlope = 1e-6
)

// tilted is where a density of e^(slope t) on [0, 1) has u of its mass below.
func tilted(u, slope float64) float64 {
	if math.Abs(slope) < leastSlope {
		return u
	}
	if slope > 0 {
		return 1 - tilted(1-u, -slope)
	}
	return min(max(bitmath.Log1p(float64(u*bitmath.Expm1(slope)))/slope, 0), 1)
}

// sorted lists rows by code, those of a code by key, in the order of rows where keys are
// alike; rows of a code are from starts[code] to starts[code+1].
func sorted(codes, keys []uint16, sizes int) (order []int32, starts []int) {
	order = countingSort(codes, sizes, countingSort(keys, rankSteps, nil))
	return order, startsOf(codes, sizes)
}

// byCode lists rows by code, in their order; rows of a code are from starts[code] to
// starts[code+1].
func byCode(codes []uint16, sizes int) (order []int32, starts []int) {
	return countingSort(codes, sizes, nil), startsOf(codes, sizes)
}

func startsOf(codes []uint16, sizes int) []int {
	starts := make([]int, sizes+1)
	for _, code := range codes {
		starts[code+1]++
	}
	for code := range sizes {
		starts[code+1] += starts[code]
	}
	return starts
}

// countingSort lists rows by a number of each, in a given order where they are alike.
func countingSort(numbers []uint16, sizes int, given []int32) []int32 {
	starts := make([]int, sizes+1)
	for _, x := range numbers {
		starts[int(x)+1]++
	}
	for k := range sizes {
		starts[k+1] += starts[k]
	}
	order := make([]int32, len(numbers))
	for k := range numbers {
		i := int32(k)
		if given != nil {
			i = given[k]
		}
		order[starts[numbers[i]]] = i
		starts[numbers[i]]++
	}
	return order
}
