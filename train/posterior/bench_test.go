package posterior

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"weir/privacy"
	"weir/privacy/noise"
	"weir/train"
)

// adult is an objective of the shape of Jalko et al. 2021 on Adult: two strata by income, 10
// components each, 12 columns of the paper's widths, 30,162 made-up rows.
func adult(tb testing.TB) *Objective {
	const rows = 30162
	m := Mixture{Components: 10, Columns: []Column{{Family: Beta}, {Family: Beta}, {Family: Bernoulli}}}
	for _, c := range []int{7, 16, 7, 14, 6, 5, 16, 16, 16, 41} {
		m.Columns = append(m.Columns, Column{Categorical, c})
	}
	r := rand.New(rand.NewPCG(1, 1))
	var values []Values
	var places []int
	for j, c := range m.Columns {
		v, cells := Values{Cells: make([]uint16, rows)}, 73
		if c.coded() {
			cells = c.codes()
		} else {
			for i := range cells {
				v.Numbers = append(v.Numbers, (float64(i)+0.5)/73)
			}
		}
		for i := range v.Cells {
			v.Cells[i] = uint16(r.IntN(cells))
		}
		values, places = append(values, v), append(places, j)
	}
	of := make([]uint16, rows)
	for i := range of {
		of[i] = uint16(r.IntN(4) / 3)
	}
	o, err := New([]Stratum{{m, places}, {m, places}}, values, of)
	if err != nil {
		tb.Fatal(err)
	}
	return o
}

// BenchmarkStep is a step of the training on Adult: 151 rows in the mean. private is what a
// spec runs; plain has neither clip nor noise.
func BenchmarkStep(b *testing.B) {
	for name, c := range map[string]train.DPSGD{"private": {MaxGradNorm: 2, NoiseMultiplier: 2}, "plain": {MaxGradNorm: math.Inf(1)}} {
		b.Run("mixture/"+name, func(b *testing.B) {
			o := adult(b)
			c.SamplingRate, c.ExpectedBatchSize, c.Steps = 0.005, 151, b.N
			paid := privacy.Open(privacy.Opening{Spend: "train", Mechanism: c, Source: noise.NewSource(noise.Key{1}, "train")})
			start := train.MeanField{Mean: make([]float32, o.Params()), LogDeviation: make([]float32, o.Params())}
			b.ResetTimer()
			if _, err := train.FitMeanField(context.Background(), train.FitConfig{Optimiser: train.Adam(5e-4, 0.9, 0.999)}, o, o.Gradient(Uniform()), start, 30162, 1, paid, train.Hooks{}); err != nil {
				b.Fatal(err)
			}
		})
	}
}
