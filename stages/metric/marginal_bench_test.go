package metric_test

import (
	"math/rand/v2"
	"testing"

	"weir/pipeline/domain"
	"weir/stages/internal/columns"
	"weir/stages/metric"
)

// adultShape draws a table of the shape of Adult: 48,842 rows, six numeric
// columns and eight categorical ones with its numbers of categories. Columns are
// independent, so that more cells are occupied than in the real table.
func adultShape(seed uint64) *columns.Frame {
	rng := rand.New(rand.NewPCG(seed, 1))
	f := &columns.Frame{Rows: 48842}
	for range 6 {
		c := columns.Column{Name: "number", Type: domain.Numeric}
		for range f.Rows {
			c.Numbers = append(c.Numbers, rng.NormFloat64())
		}
		f.Columns = append(f.Columns, c)
	}
	for _, k := range []int{9, 16, 7, 15, 6, 5, 2, 42} {
		c := columns.Column{Name: "category", Type: domain.Categorical, Categories: make([]string, k)}
		for range f.Rows {
			c.Codes = append(c.Codes, int32(float64(k)*rng.Float64()*rng.Float64()))
		}
		f.Columns = append(f.Columns, c)
	}
	return f
}

// BenchmarkThreeWay counts and compares all 364 3-way marginals in 100 bins on
// two goroutines; issue 5 asks for less than 5 s.
func BenchmarkThreeWay(b *testing.B) {
	t := metric.Binning{Bins: 100}.CodeAll(adultShape(1), adultShape(2), 2)
	queries, _ := t.Queries(3, 1000, nil)
	b.ReportMetric(float64(len(queries)), "marginals")
	for b.Loop() {
		if _, err := t.Compare(b.Context(), queries, 2, func(int) {}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Seconds())/float64(b.N), "s/table")
}
