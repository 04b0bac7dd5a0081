package marginal

import (
	"math/rand/v2"
	"testing"
)

// coded draws columns of codes below sizes.
func coded(rng *rand.Rand, rows int, sizes ...int) [][]uint16 {
	columns := make([][]uint16, len(sizes))
	for k, size := range sizes {
		for range rows {
			columns[k] = append(columns[k], uint16(rng.IntN(size)))
		}
	}
	return columns
}

// byMap counts by definition, cell by cell.
func byMap(sizes []int, tables ...[][]uint16) map[uint64][2]int64 {
	counts := map[uint64][2]int64{}
	for side, columns := range tables {
		for i := range columns[0] {
			cell := uint64(0)
			for k, size := range sizes {
				cell = cell*uint64(size) + uint64(columns[k][i])
			}
			n := counts[cell]
			n[side]++
			counts[cell] = n
		}
	}
	return counts
}

// A dense array and a hash table give what a map gives, one marginal after another,
// with a table in parts, and cells beyond 32 bits.
func TestCounterCounts(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	var c Counter
	for _, sizes := range [][]int{{3}, {40, 700}, {65535, 65535, 65535}, {1 << 11, 1 << 11}, {1<<11 + 1, 1 << 11}, {2, 1, 5}} {
		a, b := coded(rng, 5000, sizes...), coded(rng, 3001, sizes...)
		c.Reset(sizes)
		for _, part := range [][2]int{{0, 2500}, {2500, 2500}, {2500, 5000}} {
			var columns [][]uint16
			for _, column := range a {
				columns = append(columns, column[part[0]:part[1]])
			}
			c.Add(0, columns...)
		}
		c.Add(1, b...)
		got := map[uint64][2]int64{}
		c.Each(func(cell uint64, rows [2]int64) { got[cell] = rows })
		if d := unlike(byMap(sizes, a, b), got); d != "" {
			t.Errorf("sizes %v: %s", sizes, d)
		}
	}
}

// A marginal whose cells have no number is a fault of the caller, not a wrong count.
func TestCounterRefusesTooManyCells(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("2^64 cells were counted")
		}
	}()
	new(Counter).Reset([]int{1 << 16, 1 << 16, 1 << 16, 1 << 16})
}

// BenchmarkCounter counts all 364 3-way marginals of two tables of the shape of Adult,
// 48,842 rows, numbers in 100 bins, on one goroutine.
func BenchmarkCounter(b *testing.B) {
	sizes := []int{103, 103, 103, 103, 103, 103, 10, 17, 8, 16, 7, 6, 3, 43}
	rng := rand.New(rand.NewPCG(1, 1))
	tables := [2][][]uint16{coded(rng, 48842, sizes...), coded(rng, 48842, sizes...)}
	queries, _ := Queries(len(sizes), 3, 1000, nil)
	var c Counter
	for b.Loop() {
		for _, q := range queries {
			c.Reset([]int{sizes[q[0]], sizes[q[1]], sizes[q[2]]})
			for side, t := range tables {
				c.Add(side, t[q[0]], t[q[1]], t[q[2]])
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Seconds())/float64(b.N), "s/table")
}
