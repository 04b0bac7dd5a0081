package train

import (
	"math/rand/v2"

	"weir/internal/bitmath"
	"weir/train/net"
)

// generator runs a generator net on latents that are standard normal.
type generator struct {
	*net.Pass
	grad   []float32
	frozen int // weights at the end that stay
}

func newGenerator(n *net.Net, rows int) *generator {
	return &generator{Pass: n.NewPass(rows), grad: make([]float32, n.Params())}
}

// sample returns rows of generated data; they last until the next call.
func (g *generator) sample(w []float32, rows int, r *rand.Rand) net.Matrix {
	normal(g.Input(rows), r)
	return g.Forward(w, net.Mode{Train: true, Rand: r})
}

// judged is sample for a critic's training: the weights stay as they are, running
// statistics included, so that critics side by side may share them.
func (g *generator) judged(w []float32, rows int, r *rand.Rand) net.Matrix {
	normal(g.Input(rows), r)
	return g.Forward(w, net.Mode{Train: true, Frozen: true, Rand: r})
}

// gradient is the sum of the gradients that dx at the rows that sample returned last causes,
// until the next call. Frozen weights have none, and no optimiser moves a weight whose gradients
// have all been zero.
func (g *generator) gradient(w []float32, dx net.Matrix) []float32 {
	g.OutGrad().CopyFrom(dx)
	g.Backward(w)
	clear(g.grad)
	g.Accumulate(g.grad, nil)
	clear(g.grad[len(g.grad)-g.frozen:])
	return g.grad
}

// descend moves the generator against the gradient dx at the rows that sample
// returned last, times scale.
func (g *generator) descend(d *descent, dx net.Matrix, scale float64) {
	d.step(g.gradient(d.w, dx), scale)
}

// Latent fills one latent row.
type Latent func(row []float32, r *rand.Rand)

// StandardNormal is the law of latent rows in training.
func StandardNormal(row []float32, r *rand.Rand) {
	for j := range row {
		row[j] = float32(bitmath.Normal(r))
	}
}

// Generate returns rows generated rows, rows×n.Out(), from weights w in chunks.
// Latent rows are those of a law; they and any noise of the net's head come from r.
func Generate(n *net.Net, w []float32, rows int, law Latent, r *rand.Rand) []float32 {
	p := n.NewPass(min(rows, chunkRows))
	out := make([]float32, 0, rows*n.Out())
	for done := 0; done < rows; done += chunkRows {
		x := p.Input(min(chunkRows, rows-done))
		for i := range x.Rows {
			law(x.Row(i), r)
		}
		y := p.Forward(w, net.Mode{Rand: r})
		for i := range y.Rows {
			out = append(out, y.Row(i)...)
		}
	}
	return out
}
