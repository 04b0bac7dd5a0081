package train

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"weir/train/net"
)

// Criterion compares an output with its target: net.BCE (the output is a logit)
// or net.MSE.
type Criterion func(dy, y, target net.Matrix, loss []float64)

// Supervised fits a net to targets row by row.
type Supervised struct {
	Net       *net.Net
	X, Y      *Rows
	Criterion Criterion
}

// Autoencoder fits a net, encoder and decoder in one chain, to return its input.
func Autoencoder(n *net.Net, x *Rows, c Criterion) (*Supervised, error) {
	return NewSupervised(n, x, x, c)
}

// NewSupervised returns an error where widths or lengths do not fit.
func NewSupervised(n *net.Net, x, y *Rows, c Criterion) (*Supervised, error) {
	if x.Len() != y.Len() {
		return nil, errors.New("supervised: inputs and targets have different numbers of rows, must have the same")
	}
	if n.In() != x.Width() || n.Out() != y.Width() {
		return nil, fmt.Errorf("supervised: the net turns %d columns into %d, must turn %d into %d", n.In(), n.Out(),
			x.Width(), y.Width())
	}
	return &Supervised{Net: n, X: x, Y: y, Criterion: c}, nil
}

func (o *Supervised) Params() int                           { return o.Net.Params() }
func (o *Supervised) PerExample() (written bool, err error) { return o.Net.PerExample() }

func (o *Supervised) Worker(rows int) Worker {
	return &supervisedWorker{Supervised: o, Pass: o.Net.NewPass(rows), target: net.NewMatrix(rows, o.Y.Width())}
}

type supervisedWorker struct {
	*Supervised
	*net.Pass
	target net.Matrix
}

func (k *supervisedWorker) Run(w []float32, index []int32, draw Draw, loss []float64) {
	x, target := k.Input(len(index)), k.target.Slice(0, len(index))
	k.X.Gather(x, index)
	if k.X == k.Y {
		target.CopyFrom(x)
	} else {
		k.Y.Gather(target, index)
	}
	y := k.Forward(w, net.Mode{Train: true, Rand: lazy(k.Net, draw)})
	k.Criterion(k.OutGrad(), y, target, loss)
	k.Backward(w)
}

// lazy draws only for nets that use randomness.
func lazy(n *net.Net, draw Draw) *rand.Rand {
	if !n.Draws() {
		return nil
	}
	return draw()
}

// Variational is a variational autoencoder (Kingma, Welling 2014): Encoder ends
// in means, then log variances, of Decoder's input. Their gradients are clipped
// together. The weights are the encoder's, then the decoder's. KL is the weight
// of the divergence; with a criterion that is a mean over columns, 1/columns
// makes the sum an evidence bound per column.
type Variational struct {
	Encoder, Decoder *net.Net
	X                *Rows
	Criterion        Criterion
	KL               float64
}

// NewVariational returns an error where widths do not fit.
func NewVariational(encoder, decoder *net.Net, x *Rows, c Criterion, kl float64) (*Variational, error) {
	if encoder.In() != x.Width() || encoder.Out() != 2*decoder.In() || decoder.Out() != x.Width() {
		return nil, fmt.Errorf("variational: widths are rows %d, encoder %d to %d, decoder %d to %d; the encoder must end "+
			"in twice the decoder's input",
			x.Width(), encoder.In(), encoder.Out(), decoder.In(), decoder.Out())
	}
	return &Variational{Encoder: encoder, Decoder: decoder, X: x, Criterion: c, KL: kl}, nil
}

func (o *Variational) Params() int { return o.Encoder.Params() + o.Decoder.Params() }
func (o *Variational) PerExample() (written bool, err error) {
	return net.PerExampleOfAll(o.Encoder, o.Decoder)
}

func (o *Variational) Worker(rows int) Worker {
	return &variationalWorker{Variational: o, encode: o.Encoder.NewPass(rows), decode: o.Decoder.NewPass(rows),
		target: net.NewMatrix(rows, o.X.Width()), e: net.NewMatrix(rows, o.Decoder.In())}
}

type variationalWorker struct {
	*Variational
	encode, decode *net.Pass
	target, e      net.Matrix
}

func (k *variationalWorker) Run(w []float32, index []int32, draw Draw, loss []float64) {
	n, r := len(index), draw()
	we, wd := w[:k.Encoder.Params()], w[k.Encoder.Params():]
	x, target, e := k.encode.Input(n), k.target.Slice(0, n), k.e.Slice(0, n)
	k.X.Gather(x, index)
	target.CopyFrom(x)
	normal(e, r)
	code := k.encode.Forward(we, net.Mode{Train: true, Rand: r})
	net.Reparameterise(k.decode.Input(n), code, e)
	y := k.decode.Forward(wd, net.Mode{Train: true, Rand: r})
	k.Criterion(k.decode.OutGrad(), y, target, loss)
	dz := k.decode.BackwardInput(wd, 0)
	net.ReparameteriseBackward(k.encode.OutGrad(), dz, code, e)
	net.GaussianKL(k.encode.OutGrad(), code, k.KL, loss)
	k.encode.Backward(we)
}

func (k *variationalWorker) Squares(dst, bound []float64) {
	k.encode.Squares(dst, bound)
	k.decode.Squares(dst, bound)
}

func (k *variationalWorker) Accumulate(grad, scale []float32) {
	k.encode.Accumulate(grad[:k.Encoder.Params()], scale)
	k.decode.Accumulate(grad[k.Encoder.Params():], scale)
}

// normal fills m with standard normal numbers.
func normal(m net.Matrix, r *rand.Rand) {
	for i := range m.Rows {
		StandardNormal(m.Row(i), r)
	}
}

// scoreLoss is a loss of a critic's one output (net.Wasserstein, net.Logistic): sign -1 asks for
// a higher score, as of a real row, and +1 for a lower one.
type scoreLoss func(dy, y net.Matrix, sign float32, loss []float64)

// realScore is the loss of a private row, which a critic is to score high.
type realScore struct {
	critic *net.Net
	rows   *Rows
	loss   scoreLoss
}

func (o realScore) Params() int                           { return o.critic.Params() }
func (o realScore) PerExample() (written bool, err error) { return o.critic.PerExample() }

// Tensors returns the number of weight tensors, for a clip of each.
func (o realScore) Tensors() (int, error) { return len(o.critic.Tensors()), o.critic.PerTensor() }

func (o realScore) Worker(rows int) Worker {
	return &realScoreWorker{realScore: o, Pass: o.critic.NewPass(rows)}
}

type realScoreWorker struct {
	realScore
	*net.Pass
	each []*rand.Rand // of the rows of the next Run; nil: they share the chunk's
}

func (k *realScoreWorker) Run(w []float32, index []int32, draw Draw, loss []float64) {
	k.rows.Gather(k.Input(len(index)), index)
	m := net.Mode{Train: true, Rows: k.each}
	if k.each == nil {
		m.Rand = lazy(k.critic, draw)
	}
	y := k.Forward(w, m)
	k.loss(k.OutGrad(), y, -1, loss)
	k.Backward(w)
}

// drawEach implements eachDraws.
func (k *realScoreWorker) drawEach(rows []*rand.Rand) { k.each = rows }

// draws implements eachDraws.
func (k *realScoreWorker) draws() bool { return k.critic.Draws() }

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
func (k *triples) run(w []float32, fake net.Matrix, gather func(net.Matrix), weight float64, r *rand.Rand,
	loss []float64) {
	n := fake.Rows
	x := k.Input(3 * n)
	real, middle := x.Slice(n, 2*n), x.Slice(2*n, 3*n)
	x.Slice(0, n).CopyFrom(fake)
	gather(real)
	for i := range n {
		interpolate(middle.Row(i), real.Row(i), fake.Row(i), r.Float32())
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

// Joined returns 3: a private row, a generated one and their interpolate.
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

// paired is the loss D(generated) - D(real) of a private row and a generated row of
// the step's pool, as one example (Tantipongpipat et al. 2021, algorithm 4). The pool is
// public; which of its rows a private row meets is a secret draw of its own, so that
// adding a row does not move the partners of others in the distribution of what is
// released.
type paired struct {
	critic *net.Net
	rows   *Rows
	pool   net.Matrix // of the step at hand
}

// Joined returns 2: a private row and a generated one.
func (o *paired) Joined() int { return 2 }

func (o *paired) Params() int                           { return o.critic.Params() }
func (o *paired) PerExample() (written bool, err error) { return o.critic.PerExample() }

func (o *paired) Worker(rows int) Worker {
	return &pairedWorker{paired: o, Pass: o.critic.NewPass(2 * rows), scale: make([]float32, 2*rows)}
}

type pairedWorker struct {
	*paired
	*net.Pass
	scale []float32
}

func (k *pairedWorker) Run(w []float32, index []int32, draw Draw, loss []float64) {
	n, r := len(index), draw()
	x := k.Input(2 * n)
	k.rows.Gather(x.Slice(0, n), index)
	for i := range n {
		copy(x.Row(n+i), k.pool.Row(r.IntN(k.pool.Rows)))
	}
	y := k.Forward(w, net.Mode{Train: true, Rand: r})
	d := k.OutGrad()
	clear(d.Data)
	for i := range n {
		d.Row(i)[0], d.Row(n + i)[0] = -1, 1
	}
	for i := range loss {
		loss[i] = float64(y.Row(n + i)[0]) - float64(y.Row(i)[0])
	}
	k.Backward(w)
	k.FixLastBias() // what the critic adds to every score cancels in each pair
}

// Accumulate gives both rows of an example its one factor.
func (k *pairedWorker) Accumulate(grad, scale []float32) {
	if scale == nil {
		k.Pass.Accumulate(grad, nil)
		return
	}
	n := len(scale)
	all := k.scale[:2*n]
	copy(all, scale)
	copy(all[n:], scale)
	k.Pass.Accumulate(grad, all)
}
