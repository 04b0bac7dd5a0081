package marginal

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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

// TestCounterCounts: a dense array and a hash table give what a map gives, one marginal after another,
// with a table in parts, and cells beyond 32 bits.
func TestCounterCounts(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	var c Counter
	for _, sizes := range [][]int{{3}, {40, 700}, {65535, 65535, 65535}, {1 << 11, 1 << 11}, {1<<11 + 1, 1 << 11},
		{2, 1, 5}} {
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

// TestCounterRefusesTooManyCells: a marginal whose cells have no number is a fault of the caller, not a wrong count.
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

// unlike words how counts differ; equal ones are not walked by cmp.Diff, which takes seconds for a million.
func unlike(want, got any) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return cmp.Diff(want, got)
}

// counted counts marginals of a whole table.
func counted(columns [][]uint16, sizes []int, sets [][]int, workers int) ([][]int64, error) {
	tally, err := NewTally(sizes, sets)
	if err != nil {
		return nil, err
	}
	tally.Add(columns, workers)
	return tally.Counts(), nil
}

// TestCountCounts: blocks, shared keys and parts of a table give what a plain loop over rows gives, with
// any number of workers: sets of one to four columns, alike in what they share or not,
// one of them twice, over a number of rows that fills no block.
func TestCountCounts(t *testing.T) {
	sizes := []int{3, 1, 40, 700, 65536}
	columns := coded(rand.New(rand.NewPCG(3, 9)), 2*sharedRows+777, sizes...)
	sets := [][]int{{0}, {4}, {1}, {0, 1}, {0, 2}, {0, 3}, {2, 3}, {0, 1, 2}, {0, 1, 2, 3}, {3, 0}, {0, 2}, {0, 2, 3},
		{0, 4}}
	for j := range 6 {
		sets = append(sets, []int{2, j % 4, 0})
	}
	want := plainly(columns, sizes, sets)
	for _, workers := range []int{1, 2, 7} {
		got, err := counted(columns, sizes, sets, workers)
		if d := unlike(want, got); d != "" || err != nil {
			t.Errorf("%d workers: %s, error %v", workers, d, err)
		}
	}
	tally, err := NewTally(sizes, sets)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range [][2]int{{0, 5}, {5, 5}, {5, sharedRows + 6}, {sharedRows + 6, len(columns[0])}} {
		rows := make([][]uint16, len(columns))
		for j := range columns {
			rows[j] = columns[j][part[0]:part[1]]
		}
		tally.Add(rows, 2)
	}
	if d := unlike(want, tally.Counts()); d != "" {
		t.Errorf("in parts: %s", d)
	}
}

// TestCountRefuses: what has no array of bounded size is refused, whatever the product overflows to.
func TestCountRefuses(t *testing.T) {
	sizes := []int{1 << 11, 1 << 11, 2, 1 << 16, 1 << 16, 1 << 16, 1 << 16}
	for _, set := range [][]int{{}, {0, 1, 2}, {3, 4, 5, 6}} {
		_, err := counted(make([][]uint16, 7), sizes, [][]int{{0, 1}, set}, 1)
		if err == nil || !strings.Contains(err.Error(), "must have columns and at most 4194304 cells") {
			t.Errorf("set %v: error %v", set, err)
		}
	}
	if got, err := counted(make([][]uint16, 7), sizes, [][]int{{0, 1}}, 1); err != nil || len(got[0]) != MostCells {
		t.Errorf("%d cells, error %v", len(got[0]), err)
	}
}

// TestCounterCarries: counts pass 32 bits: what is carried comes back, in an array and in a hash table.
func TestCounterCarries(t *testing.T) {
	for _, sizes := range [][]int{{5, 3}, {1 << 13, 1 << 13}} {
		a := coded(rand.New(rand.NewPCG(4, 9)), 3000, sizes...)
		var c Counter
		c.Reset(sizes)
		want := map[uint64][2]int64{}
		for cell, n := range byMap(sizes, a, a) {
			want[cell] = [2]int64{2 * n[0], 3 * n[1]}
		}
		for side, times := range []int{2, 3} {
			for range times {
				c.Add(side, a...)
				c.carry(2)
			}
		}
		for cell := range c.over { // as if 2^40 more rows had come
			n := c.over[cell]
			c.over[cell] = [2]int64{n[0] + 1<<40, n[1]}
			want[cell] = [2]int64{want[cell][0] + 1<<40, want[cell][1]}
		}
		got := map[uint64][2]int64{}
		c.Each(func(cell uint64, rows [2]int64) { got[cell] = rows })
		if d := unlike(want, got); d != "" || len(c.over) == 0 {
			t.Errorf("sizes %v: %d carried, %s", sizes, len(c.over), d)
		}
		c.Reset(sizes)
		c.Add(0, a...)
		if c.Each(func(_ uint64, rows [2]int64) {
			if rows[0] > 3000 {
				t.Error("a count outlives Reset")
			}
		}); c.since != 3000 {
			t.Errorf("%d rows since Reset", c.since)
		}
	}
}
