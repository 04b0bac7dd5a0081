package metric

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"weir/pipeline/domain"
	"weir/stages/internal/columns"
)

// scattered draws a table of numbers and categories; share of the values is
// missing.
func scattered(seed uint64, rows, numbers, coded int, missing float64) *columns.Frame {
	rng := rand.New(rand.NewPCG(seed, 3))
	f := &columns.Frame{Rows: rows}
	for range numbers {
		c := columns.Column{Name: string(rune('a' + len(f.Columns))), Type: domain.Numeric, Bounds: &[2]float64{-2, 2}}
		for range rows {
			v := rng.NormFloat64()
			if rng.Float64() < missing {
				v = math.NaN()
			}
			c.Numbers = append(c.Numbers, v)
		}
		f.Columns = append(f.Columns, c)
	}
	for range coded {
		c := columns.Column{Name: string(rune('a' + len(f.Columns))), Type: domain.Categorical, Categories: []string{"p", "q",
			"r"}}
		for range rows {
			v := int32(rng.IntN(3))
			if rng.Float64() < missing {
				v = -1
			}
			c.Codes = append(c.Codes, v)
		}
		f.Columns = append(f.Columns, c)
	}
	return f
}

// BenchmarkNearest finds the nearest of 63,000 rows of the shape of Cardio for
// 1,000 rows, and reports how many times faster that is than a full scan.
func BenchmarkNearest(b *testing.B) {
	source, to := scattered(1, 1000, 5, 7, 0), scattered(2, 63000, 5, 7, 0)
	space := NewSpace(EuclideanMixed, to)
	p, q := space.Points(to), space.Points(source)
	tree := newTree(space, p)
	start := time.Now()
	for i := range 20 {
		fullScan(space, q, i, p, -1)
	}
	scan := float64(time.Since(start).Nanoseconds()) / 20
	for b.Loop() {
		for i := range source.Rows {
			tree.nearest(q, i, -1)
		}
	}
	perRow := float64(b.Elapsed().Nanoseconds()) / float64(b.N) / 1000
	b.ReportMetric(scan/perRow, "times_a_scan")
}

// BenchmarkBuild indexes 63,000 rows.
func BenchmarkBuild(b *testing.B) {
	to := scattered(2, 63000, 5, 7, 0)
	space := NewSpace(EuclideanMixed, to)
	p := space.Points(to)
	for b.Loop() {
		newTree(space, p)
	}
}
