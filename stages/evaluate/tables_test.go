package evaluate

import (
	"math"
	"math/rand/v2"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
)

// mixedTable returns the domain of the tables of these tests.
func mixedTable() *domain.Domain {
	return &domain.Domain{Columns: []domain.Column{
		{Name: "x", Type: domain.Numeric, Bounds: &[2]float64{-4, 4}},
		{Name: "group", Type: domain.Categorical, Categories: domain.Categories{"a", "b", "c"}},
		{Name: "outcome", Type: domain.Boolean, Categories: domain.Categories{"0", "1"}},
		{Name: "level", Type: domain.Numeric},
	}}
}

// rows draws n rows in which x and group say much about outcome and level. Some
// values of x and outcome are missing.
func rows(n int, seed uint64) pipelinetest.Input {
	rng := rand.New(rand.NewPCG(seed, 1))
	x, g, y, l := make([]any, n), make([]any, n), make([]any, n), make([]any, n)
	for i := range n {
		v, k := rng.NormFloat64(), rng.IntN(3)
		x[i], g[i], y[i] = v, string(rune('a'+k)), "0"
		if rng.Float64() < 1/(1+math.Exp(-2*v+float64(k)-1)) {
			y[i] = "1"
		}
		l[i] = v - float64(k) + rng.NormFloat64()/4
		if i%17 == 3 {
			x[i] = nil
		}
		if i%23 == 5 {
			y[i] = nil
		}
	}
	return input(mixedTable(), x, g, y, l)
}

func input(d *domain.Domain, columns ...[]any) pipelinetest.Input {
	h := pipeline.TableHeader(d, pipeline.Header{Class: pipeline.Private, Stability: pipeline.Rows(1)})
	return pipelinetest.Input{Header: h, Rows: pipelinetest.Rows(d, columns...)}
}
