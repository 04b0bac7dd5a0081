package model

import (
	"math/rand/v2"

	"weir/train/net"
)

// sampler draws encoded rows from a generator.
type sampler struct {
	pass    *net.Pass
	net     *net.Net
	weights []float32
	rng     *rand.Rand
}

// batchRows is how many rows are drawn at a time.
const batchRows = 4096

func newSampler(g *Generator, rng *rand.Rand) (*sampler, error) {
	n, err := net.New(g.Net)
	if err != nil {
		return nil, err
	}
	weights, err := n.Import(g.weights)
	if err != nil {
		return nil, err
	}
	return &sampler{pass: n.NewPass(batchRows), net: n, weights: weights, rng: rng}, nil
}

// rows draws n <= batchRows rows, row-major, net.Out() wide.
func (s *sampler) rows(n int) []float32 {
	latent := s.pass.Input(n)
	for i := range n {
		row := latent.Row(i)
		for j := range row {
			row[j] = float32(s.rng.NormFloat64())
		}
	}
	out := s.pass.Forward(s.weights, net.Mode{Rand: s.rng})
	dense := make([]float32, 0, n*s.net.Out())
	for i := range n {
		dense = append(dense, out.Row(i)...)
	}
	return dense
}
