package marginal

import (
	"math/rand/v2"
	"testing"
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

// BenchmarkCount counts all pairs and all triples of 13 columns of 16 codes on one
// goroutine; the aim is 1.0 and 1.25 ns a row and marginal.
func BenchmarkCount(b *testing.B) {
	for _, c := range []struct {
		name  string
		k     int
		share float64
	}{{"pairs", 2, 0}, {"pairs-skewed", 2, .9}, {"triples", 3, 0}, {"triples-skewed", 3, .9}} {
		b.Run(c.name, func(b *testing.B) {
			const rows = 1 << 18
			columns, sizes := skewed(rows, 13, c.share), make([]int, 13)
			for j := range sizes {
				sizes[j] = 16
			}
			sets, _ := Queries(13, c.k, 1000, nil)
			for b.Loop() {
				if _, err := Count(columns, sizes, sets, 1); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows/float64(len(sets)), "ns/row/set")
		})
	}
}
