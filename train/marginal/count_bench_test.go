package marginal

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// skewed draws columns of 16 codes where code 0 has a share of the rows.
func skewed(rows, columns int, share float64) [][]uint16 {
	rng := rand.New(rand.NewPCG(5, 5))
	list := make([][]uint16, columns)
	for j := range list {
		list[j] = make([]uint16, rows)
		for i := range list[j] {
			if rng.Float64() >= share {
				list[j][i] = uint16(rng.IntN(16))
			}
		}
	}
	return list
}

// plainly counts sets one by one, row by row: what Count is compared with.
func plainly(columns [][]uint16, sizes []int, sets [][]int) [][]int64 {
	all := make([][]int64, len(sets))
	for s, set := range sets {
		cells := 1
		for _, j := range set {
			cells *= sizes[j]
		}
		counts := make([]int64, cells)
		for i := range columns[set[0]] {
			cell := 0
			for _, j := range set {
				cell = cell*sizes[j] + int(columns[j][i])
			}
			counts[cell]++
		}
		all[s] = counts
	}
	return all
}

// BenchmarkCount counts all pairs and all triples of 13 columns of 16 codes on one
// goroutine, beside the plain loop: the best of many short runs each, in ns a row and
// marginal. The aim is 1.0 and 1.25.
func BenchmarkCount(b *testing.B) {
	for _, c := range []struct {
		name  string
		k     int
		share float64
	}{{"pairs", 2, 0}, {"pairs-skewed", 2, .9}, {"triples", 3, 0}, {"triples-skewed", 3, .9}} {
		b.Run(c.name, func(b *testing.B) {
			const rows = 1 << 16
			columns, sizes := skewed(rows, 13, c.share), make([]int, 13)
			for j := range sizes {
				sizes[j] = 16
			}
			sets, _ := Queries(13, c.k, 1000, nil)
			best, plain := math.Inf(1), math.Inf(1)
			for b.Loop() {
				began := time.Now()
				if _, err := counted(columns, sizes, sets, 1); err != nil {
					b.Fatal(err)
				}
				half := time.Now()
				plainly(columns, sizes, sets)
				best, plain = min(best, half.Sub(began).Seconds()), min(plain, time.Since(half).Seconds())
			}
			b.ReportMetric(best*1e9/rows/float64(len(sets)), "ns/row/set")
			b.ReportMetric(plain/best, "plain/count")
		})
	}
}

func TestQueries(t *testing.T) {
	got, isDrawn := Queries(4, 2, 6, nil)
	if want := [][]int{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}; isDrawn || !cmp.Equal(got, want) {
		t.Errorf("all pairs of four are %v", got)
	}
	if got, _ := Queries(2, 3, 10, nil); len(got) != 0 {
		t.Errorf("triples of two are %v", got)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	got, isDrawn = Queries(30, 3, 50, rng)
	if !isDrawn || len(got) != 50 || !slices.IsSortedFunc(got, slices.Compare) {
		t.Errorf("%d triples, drawn %v", len(got), isDrawn)
	}
	for i, q := range got {
		if q[0] >= q[1] || q[1] >= q[2] || q[2] >= 30 || i > 0 && slices.Equal(q, got[i-1]) {
			t.Errorf("triple %v", q)
		}
	}
}
