package train

import (
	"errors"
	"math/rand/v2"

	"weir/train/net"
)

// triples runs a critic on n generated rows, n real rows and their n interpolates
// as one batch of 3n: the loss of WGAN-GP (Gulrajani et al. 2017), example by
// example D(generated) - D(real) + weight*(|grad D(interpolate)| - 1)².
type triples struct {
	*net.Pass
	penalty []float64
}

func newTriples(critic *net.Net, rows int) *triples {
	return &triples{Pass: critic.NewPass(3 * rows), penalty: make([]float64, rows)}
}

// run leaves the gradients; gather writes the real rows. Interpolates are uniform
// on the line between a real row and its generated row. A critic with batch_norm sees three
// batches: generated rows, real ones and interpolates.
func (k *triples) run(w []float32, fake net.Matrix, gather func(net.Matrix), weight float64, r *rand.Rand, loss []float64) {
	n := fake.Rows
	x := k.Input(3 * n)
	real, between := x.Slice(n, 2*n), x.Slice(2*n, 3*n)
	x.Slice(0, n).CopyFrom(fake)
	gather(real)
	for i := range n {
		interpolate(between.Row(i), real.Row(i), fake.Row(i), r.Float32())
	}
	y := k.Forward(w, net.Mode{Train: true, Frozen: true, Groups: 3, Rand: r})
	for i := range loss {
		loss[i] = float64(y.Row(i)[0]) - float64(y.Row(n + i)[0])
	}
	k.outGrad(n)
	dx := k.BackwardInput(w, 2*n)
	if loss == nil {
		k.GradientPenalty(w, dx, 2*n, weight, nil)
		return
	}
	k.GradientPenalty(w, dx, 2*n, weight, k.penalty[:n])
	for i := range loss {
		loss[i] += k.penalty[i]
	}
}

func interpolate(dst, a, b []float32, e float32) {
	b = b[:len(dst)]
	for j, v := range a[:len(dst)] {
		dst[j] = b[j] + float32(e*(v-b[j]))
	}
}

// outGrad sets the gradient at the scores: 1 for generated, -1 for real, and 1
// for interpolates, as GradientPenalty needs.
func (k *triples) outGrad(n int) {
	d := k.OutGrad()
	clear(d.Data)
	for i := range 3 * n {
		d.Row(i)[0] = 1
	}
	for i := n; i < 2*n; i++ {
		d.Row(i)[0] = -1
	}
}

// penalised is the loss of WGAN-GP with a real row, the generated row it is paired
// with and their interpolate as one example. Pairs and interpolates are secret
// draws, so adding a row does not move the pairs of others in the distribution of
// what is released.
type penalised struct {
	critic, gen *net.Net
	rows        *Rows
	generator   []float32 // weights; they change as training goes on
	weight      float64
}

// Joined is a private row, a generated one and their interpolate.
func (o *penalised) Joined() int { return 3 }

func (o *penalised) Params() int { return o.critic.Params() }

func (o *penalised) PerExample() (written bool, err error) {
	_, unmixed := o.gen.PerExample()
	written, err = o.critic.PerExample()
	return written, errors.Join(err, o.critic.Penalisable(), unmixed)
}

func (o *penalised) Worker(rows int) Worker {
	return &penalisedWorker{penalised: o, triples: newTriples(o.critic, rows), source: newGenerator(o.gen, rows),
		scale: make([]float32, 3*rows)}
}

type penalisedWorker struct {
	*penalised
	*triples
	source *generator
	scale  []float32
}

func (k *penalisedWorker) Run(w []float32, index []int32, draw Draw, loss []float64) {
	r := draw()
	fake := k.source.sample(k.generator, len(index), r)
	k.run(w, fake, func(m net.Matrix) { k.rows.Gather(m, index) }, k.weight, r, loss)
}

// Accumulate gives the three rows of an example its one factor.
func (k *penalisedWorker) Accumulate(grad, scale []float32) {
	if scale == nil {
		k.triples.Accumulate(grad, nil)
		return
	}
	n := len(scale)
	all := k.scale[:3*n]
	copy(all, scale)
	copy(all[n:], scale)
	copy(all[2*n:], scale)
	k.triples.Accumulate(grad, all)
}
