package questiontest

import (
	"math"
	"math/rand/v2"

	"weir/pipeline"
	"weir/pipeline/pipelinetest"
)

// Mixed is the domain of the tables of these tests.
func Mixed() *pipeline.Domain {
	return &pipeline.Domain{Columns: []pipeline.Column{
		{Name: "x", Type: pipeline.Numeric, Bounds: &[2]float64{-4, 4}},
		{Name: "group", Type: pipeline.Categorical, Categories: pipeline.Spellings{"a", "b", "c"}},
		{Name: "outcome", Type: pipeline.Boolean, Categories: pipeline.Spellings{"0", "1"}},
		{Name: "level", Type: pipeline.Numeric},
	}}
}

// Rows draws n rows in which x and group say much about outcome and level. Some
// values of x and outcome are missing.
func Rows(n int, seed uint64) pipelinetest.Input {
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
	return Input(Mixed(), x, g, y, l)
}

// Input is a private table of columns; nil is missing.
func Input(d *pipeline.Domain, columns ...[]any) pipelinetest.Input {
	h := pipeline.TableHeader(d, pipeline.Header{Class: pipeline.Private, Stability: pipeline.Rows(1)})
	return pipelinetest.Input{Header: h, Rows: pipelinetest.Rows(d, columns...)}
}
