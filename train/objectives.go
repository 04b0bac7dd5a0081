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
		return nil, errors.New("supervised: inputs and targets differ in their number of rows")
	}
	if n.In() != x.Width() || n.Out() != y.Width() {
		return nil, fmt.Errorf("supervised: the net turns %d columns into %d, the rows have %d and %d", n.In(), n.Out(), x.Width(), y.Width())
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
		return nil, fmt.Errorf("variational: widths are rows %d, encoder %d to %d, decoder %d to %d; the encoder must end in twice the decoder's input",
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
