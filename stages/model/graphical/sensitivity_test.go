package graphical

import (
	"math"
	"math/rand/v2"
	"testing"

	"weir/train/graphical"
)

// TestSensitivities replays 10,000 random neighbours: r rows are replaced, or added,
// of small tables. What goes into a release moves by no more than is charged for one
// row, r times: a histogram by sqrt(2) or 1 in L2, all d columns by sqrt(2 d) or
// sqrt(d), a doubled distance by 2 or 1. Each bound is reached, so that none could be
// smaller.
func TestSensitivities(t *testing.T) {
	for _, replace := range []bool{true, false} {
		for _, r := range []int{1, 3} {
			var most moved
			rng := rand.New(rand.NewPCG(3, uint64(r)))
			for range 10_000 / 4 {
				most.compareWith(neighbours(t, rng, r, replace))
			}
			square, d := 1., float64(r)
			if replace {
				square, d = 2, 2*float64(r)
			}
			for what, c := range map[string][2]float64{
				"a histogram":             {most.histogram, float64(r*r) * square},
				"all columns":             {most.columns, float64(r*r) * square * wide},
				"a doubled distance":      {most.distance, d},
				"the doubled distances":   {most.distances, d * scoreMoves(wide*(wide-1)/2).AddRemove},
				"histograms of all pairs": {most.pairs, float64(r*r) * square * wide * (wide - 1) / 2},
			} {
				if reached := c[0] / c[1]; !(reached <= 1+1e-12) || what != "the doubled distances" && reached < 1-1e-12 {
					t.Errorf("replace %v, %d rows: %s moves by %.6f of its bound %g, must reach it and not pass it", replace, r, what,
						reached, c[1])
				}
			}
		}
	}
}

// wide is the columns of the tables that are replayed.
const wide = 4

// neighbours returns two tables of codes that differ in r rows. Often these are alike, so
// that they move the same cells.
func neighbours(t *testing.T, rng *rand.Rand, r int, replace bool) (one, other *coding) {
	t.Helper()
	one, other = &coding{}, &coding{}
	n, alike := r+rng.IntN(8), rng.IntN(2) == 0
	for range wide {
		size := 1 + rng.IntN(4)
		a := make([]uint16, n)
		for i := range a {
			a[i] = uint16(rng.IntN(size))
			if alike && i < r {
				a[i] = a[0]
			}
		}
		b := append([]uint16(nil), a...)
		end := uint16(rng.IntN(size))
		for i := range r {
			if !replace {
				b = append(b, end)
				continue
			}
			if b[i] = uint16(rng.IntN(size)); alike {
				b[i] = end
			}
		}
		one.codes, other.codes = append(one.codes, a), append(other.codes, b)
		column := coded{Cells: size, Leaves: ofCategories(noisy{make([]float64, size), 0}).Leaves}
		for k := range size {
			column.Bins = append(column.Bins, [2]int{k, k + 1})
		}
		one.columns, other.columns = append(one.columns, column), append(other.columns, column)
	}
	return one, other
}

// moved is how far things moved at most: squares of L2 for histograms, L1 and L2 for
// doubled distances.
type moved struct{ histogram, columns, distance, distances, pairs float64 }

func (m *moved) compareWith(one, other *coding) {
	var singles, pairs []graphical.Set
	for i := range wide {
		singles = append(singles, graphical.Set{i})
		for j := range i {
			pairs = append(pairs, graphical.Set{j, i})
		}
	}
	m.columns = max(m.columns, m.squares(one, other, singles))
	m.pairs = max(m.pairs, m.squares(one, other, pairs))
	sum := 0.0
	for _, set := range pairs {
		ones := [][]float64{{3.5, 1, 0, 7}, {2, 2, 8, 1e-9}} // any released numbers
		a, b := ones[0][:one.columns[set[0]].codes()], ones[1][:one.columns[set[1]].codes()]
		d := math.Abs(float64(distance(one.histogram(set), a, b) - distance(other.histogram(set), a, b)))
		m.distance, sum = max(m.distance, d), sum+d*d
	}
	m.distances = max(m.distances, math.Sqrt(sum))
}

// squares returns how far all histograms of the sets move together.
func (m *moved) squares(one, other *coding, sets []graphical.Set) (sum float64) {
	for _, set := range sets {
		a, b, square := one.histogram(set), other.histogram(set), 0.0
		for k := range a {
			square += float64((a[k] - b[k]) * (a[k] - b[k]))
		}
		m.histogram, sum = max(m.histogram, square), sum+square
	}
	return sum
}

// coding is a table in codes.
type coding struct {
	front
	codes [][]uint16
}

// histogram counts a set of columns.
func (c *coding) histogram(set graphical.Set) []int64 {
	counts, err := countedWhole(c.codes, c.sizes(), [][]int{set}, 1)
	if err != nil {
		panic(err) // of four columns of four codes
	}
	return counts[0]
}
