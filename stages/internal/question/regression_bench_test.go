package question

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"weir/pipeline/domain"
	"weir/stages/internal/columns"
)

// BenchmarkSums is the sums of one step of a fit of 91 coefficients to 30,000 rows.
func BenchmarkSums(b *testing.B) {
	const rows, categories = 30000, 90
	r := rand.New(rand.NewPCG(1, 1))
	var names []string
	for k := range categories {
		names = append(names, fmt.Sprint(k))
	}
	flag := []string{"no", "yes"}
	m := &Regression{Kind: Logistic, Target: "ill", Positive: "yes", PriorDeviation: 2.5,
		Columns: []RegressionColumn{{Name: "age", Bounds: [2]float64{20, 80}}, {Name: "region", Categories: names}}}
	f := &columns.Frame{Rows: rows, Columns: []columns.Column{{Name: "age", Type: domain.Integer},
		{Name: "region", Type: domain.Categorical, Categories: names}, {Name: "ill", Type: domain.Boolean, Categories: flag}}}
	for range rows {
		f.Columns[0].Numbers = append(f.Columns[0].Numbers, float64(20+r.IntN(61)))
		f.Columns[1].Codes = append(f.Columns[1].Codes, int32(r.IntN(categories)))
		f.Columns[2].Codes = append(f.Columns[2].Codes, int32(r.IntN(2)))
	}
	point := m.Rows(f)
	theta := make([]float64, m.Design().Terms())
	for range b.N {
		if _, _, err := point.sums(context.Background(), theta); err != nil {
			b.Fatal(err)
		}
	}
}
