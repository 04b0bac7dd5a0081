package train

import (
	"context"
	"math"
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

// judged samples for a critic's training: the weights stay as they are, running
// statistics included, so that critics side by side may share them.
func (g *generator) judged(w []float32, rows int, r *rand.Rand) net.Matrix {
	normal(g.Input(rows), r)
	return g.Forward(w, net.Mode{Train: true, Frozen: true, Rand: r})
}

// gradient returns the sum of the gradients that dx at the rows that sample returned last causes,
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

// StandardNormal draws by the law of latent rows in training.
func StandardNormal(row []float32, r *rand.Rand) {
	for j := range row {
		row[j] = float32(bitmath.Normal(r))
	}
}

// Generate returns rows generated rows, rows×n.Out(), from weights w in chunks.
// Latent rows are drawn from a law; they and any noise of the net's head come from r.
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

// generated is the public half of a GAN: generated rows, what a critic says of them, and
// the gradients that follow. It sees weights and public latents alone, so that all it makes is
// post-processing of the noisy sums that the weights come from.
type generated struct {
	rows          int    // of a step
	worst         *Worst // of which so many have no gradient; nil: all have one
	label         int    // of the rows, where they do not say it
	loss          scoreLoss
	critic        *net.Pass
	gen           *generator
	grad          []float32 // of the critic
	square, bound []float64
	factor        []float32
	parts         *tensorClip // where each weight tensor has a clip
}

// newGenerated makes so many rows a step; frozen weights at the end of the generator's stay.
func newGenerated(critic, gen *net.Net, rows, frozen int, loss scoreLoss) *generated {
	g := &generated{rows: rows, label: noLabel, loss: loss, critic: critic.NewPass(rows), gen: newGenerator(gen, rows),
		grad:   make([]float32, critic.Params()),
		square: make([]float64, rows), bound: make([]float64, rows), factor: make([]float32, rows)}
	g.gen.frozen = frozen
	return g
}

// clipTensors gives each of the given number of weight tensors a clip, or, where that is 0, one clip to all of them.
func (g *generated) clipTensors(tensors int) {
	if tensors > 0 {
		g.parts = newTensorClip(tensors, g.rows)
	}
}

// leaveOut takes their gradients from the worst rows of every batch.
func (g *generated) leaveOut(w *Worst, n int, batch float64) error {
	g.worst = w
	return w.check(n, batch, g.rows)
}

// divisor returns the number of rows that have gradients.
func (g *generated) divisor() float64 { return g.worst.less(float64(g.rows)) }

// score runs a critic of weights wc on rows of a generator of weights wg and backwards from
// sign; it returns the gradient at the rows from on.
func (g *generated) score(wc, wg []float32, r *rand.Rand, sign float32, start int) net.Matrix {
	x := g.gen.sample(wg, g.rows, r)
	g.critic.Input(g.rows).CopyFrom(x)
	y := g.critic.Forward(wc, net.Mode{Train: true, Rand: r})
	g.loss(g.critic.OutGrad(), y, sign, nil)
	g.worst.silence(g.critic.OutGrad(), x, g.label)
	return g.critic.BackwardInput(wc, start)
}

// criticPart returns the sum of the critic's gradients at generated rows, which lasts until the next
// call. They have the clip of real rows, so that the two sums of a critic that cannot tell them
// apart still cancel.
func (g *generated) criticPart(wc, wg []float32, r *rand.Rand, clip float64) []float32 {
	g.score(wc, wg, r, 1, g.rows)
	clear(g.grad)
	switch {
	case g.parts != nil:
		g.parts.accumulate(g.critic, g.grad, g.rows, clip, nil)
	case math.IsInf(clip, 1):
		g.critic.Accumulate(g.grad, nil)
	default:
		g.critic.Accumulate(g.grad, g.factors(clip))
	}
	return g.grad
}

// factors returns the factors of one clip over all weights.
func (g *generated) factors(clip float64) []float32 {
	clear(g.square)
	clear(g.bound)
	g.critic.Squares(g.square, g.bound)
	clipFactors(g.factor, g.square, g.bound, clip)
	return g.factor
}

// pool returns the rows of a step that may meet real ones, until the next call.
func (g *generated) pool(wg []float32, r *rand.Rand) net.Matrix {
	return g.worst.spared(g.gen.sample(wg, g.rows, r))
}

// generatorPart returns the sum of the generator's gradients, for rows that the critic scores higher.
func (g *generated) generatorPart(wc, wg []float32, r *rand.Rand) []float32 {
	return g.gen.gradient(wg, g.score(wc, wg, r, -1, 0))
}

// ganLoop is a GAN whose critic learns by a paid DPSGD.
type ganLoop interface {
	criticStep(t int, wantLoss bool) (loss float64, err error)
	generatorSteps(t int) // the turn after the critic's step t
}

// turns runs what is left of a critic's steps, which the descent counts, and a turn of the
// generator after every so many.
func turns(ctx context.Context, l ganLoop, real *stepper, critic *descent, every int, st *state, h Hooks) error {
	steps := real.c.Steps
	h.resumed(Progress{Phase: "critic", Step: critic.t, Steps: steps})
	defer real.drawAhead(critic.t)()
	for critic.t < steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		t := critic.t
		report := h.reports(t+1, steps)
		loss, err := l.criticStep(t, report)
		if err != nil {
			return err
		}
		if (t+1)%every == 0 {
			l.generatorSteps(t)
		}
		if report {
			h.Progress(Progress{Phase: "critic", Step: t + 1, Steps: steps, Loss: loss})
		}
		if err := h.save(t+1, st); err != nil {
			return err
		}
	}
	return nil
}
