package train

import (
	"context"
	"errors"
	"fmt"
	"math"

	"weir/privacy"
	"weir/train/net"
)

// NoiselessEncoder is the autoencoder of the published program of DP-auto-GAN
// (Tantipongpipat et al. 2021, appendix, algorithm 3): only the decoder's gradients are
// clipped and noised; the encoder learns from plain sums by an optimiser of its own,
// because it is not released.
//
// There is no guarantee. The encoder carries a row into the decoder gradient of every
// other row of every later step, so that the sum can move by a clip for each row of the
// batch and not by one (docs/accounting.md section 2.1, W13). It exists for claims:
// published alone.
type NoiselessEncoder struct {
	Encoder, Decoder *net.Net
	X                *Rows
	Criterion        Criterion
	Optimiser        Optimiser // of the encoder, on the sum of a batch
}

// Fit runs the steps of a paid DPSGD over the decoder's weights from start, the
// encoder's then the decoder's, and returns them where they end.
func (o *NoiselessEncoder) Fit(ctx context.Context, c FitConfig, start []float32, paid *privacy.Handle,
	h Hooks) ([]float32, error) {
	l, err := o.begin(c, start, paid)
	st := &state{}
	if err == nil {
		st.add(l.decoder)
		st.add(l.encoder)
		st.addAverage(l.mean)
		err = st.resume(h, paid, &l.decoder.t)
	}
	if err != nil {
		return nil, fmt.Errorf("noiseless encoder: %w", err)
	}
	h.resumed(Progress{Phase: "fit", Step: l.decoder.t, Steps: l.s.c.Steps})
	for l.decoder.t < l.s.c.Steps {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		report := h.reports(l.decoder.t+1, l.s.c.Steps)
		if err := l.step(report); err != nil {
			return nil, err
		}
		l.mean.update(l.w)
		if report {
			h.Progress(Progress{Phase: "fit", Step: l.decoder.t, Steps: l.s.c.Steps, Loss: l.s.meanLoss()})
		}
		if err := h.save(l.decoder.t, st); err != nil {
			return nil, err
		}
	}
	if c.Average == 0 {
		return l.w, nil
	}
	return l.mean.w, nil
}

// begin places both halves in one vector, of which each descent moves its own part.
func (o *NoiselessEncoder) begin(c FitConfig, start []float32, paid *privacy.Handle) (*noiselessLoop, error) {
	split := o.Encoder.Params()
	if err := errors.Join(c.Validate(), o.Optimiser.Validate()); err != nil {
		return nil, err
	}
	if len(start) != split+o.Decoder.Params() || o.Encoder.Out() != o.Decoder.In() || o.Encoder.In() != o.X.Width() ||
		o.Decoder.Out() != o.X.Width() {
		return nil,
			fmt.Errorf("start: has %d weights, must have the weights of two nets with %d and %d over rows of %d columns",
				len(start), split,
				o.Decoder.Params(), o.X.Width())
	}
	l := &noiselessLoop{w: append([]float32(nil), start...), mean: newRunningMean(c.Average, start)}
	half := half{o, l.w}
	s, err := newStepper(paid, half, start[split:], o.X.Len())
	if err == nil {
		err = s.leaveOut(c.Worst, o.X.Len())
	}
	if err != nil {
		return nil, err
	}
	l.s, l.plain = s, newGradient(encoderHalf{half}, math.Inf(1), 0)
	l.encoder, l.decoder = newDescent(o.Optimiser, l.w[:split]), newDescent(c.Optimiser, l.w[split:])
	return l, nil
}

type noiselessLoop struct {
	s                *stepper
	plain            *gradient // of the encoder, without clip and noise
	w                []float32
	mean             *runningMean
	encoder, decoder *descent
}

func (l *noiselessLoop) step(report bool) error {
	if err := l.s.noisySum(l.decoder.w, l.decoder.t, report); err != nil {
		return err
	}
	l.plain.omit = l.s.omit
	l.plain.compute(l.encoder.w, l.s.index, false)
	l.decoder.step(l.s.sum, 1/l.s.divisor())
	l.encoder.step(l.plain.sum, 1)
	return nil
}

// half is the loss of an autoencoder as a function of the decoder's weights; w are
// the weights of both.
type half struct {
	*NoiselessEncoder
	w []float32
}

func (o half) Params() int { return o.Decoder.Params() }
func (o half) PerExample() (written bool, err error) {
	return net.PerExampleOfAll(o.Encoder, o.Decoder)
}

func (o half) Worker(rows int) Worker {
	return &halfWorker{o, o.Encoder.NewPass(rows), o.Decoder.NewPass(rows), net.NewMatrix(rows, o.X.Width())}
}

// encoderHalf is the same loss as a function of the encoder's weights.
type encoderHalf struct{ half }

func (o encoderHalf) Params() int { return o.Encoder.Params() }
func (o encoderHalf) Worker(rows int) Worker {
	return &encoderWorker{halfWorker{o.half, o.Encoder.NewPass(rows), o.Decoder.NewPass(rows),
		net.NewMatrix(rows, o.X.Width())}}
}

type halfWorker struct {
	half
	encode, decode *net.Pass
	target         net.Matrix
}

func (k *halfWorker) Run(_ []float32, index []int32, _ Draw, loss []float64) {
	k.forth(index, loss)
	k.decode.Backward(k.w[k.Encoder.Params():])
}

// forth leaves the gradient at the decoder's output.
func (k *halfWorker) forth(index []int32, loss []float64) {
	n := len(index)
	x, target := k.encode.Input(n), k.target.Slice(0, n)
	k.X.Gather(x, index)
	target.CopyFrom(x)
	code := k.encode.Forward(k.w, net.Mode{Train: true})
	k.decode.Input(n).CopyFrom(code)
	y := k.decode.Forward(k.w[k.Encoder.Params():], net.Mode{Train: true})
	k.Criterion(k.decode.OutGrad(), y, target, loss)
}

func (k *halfWorker) Squares(dst, bound []float64)     { k.decode.Squares(dst, bound) }
func (k *halfWorker) Accumulate(grad, scale []float32) { k.decode.Accumulate(grad, scale) }

type encoderWorker struct{ halfWorker }

func (k *encoderWorker) Run(_ []float32, index []int32, _ Draw, loss []float64) {
	k.forth(index, loss)
	k.encode.OutGrad().CopyFrom(k.decode.BackwardInput(k.w[k.Encoder.Params():], 0))
	k.encode.Backward(k.w)
}

func (k *encoderWorker) Squares(dst, bound []float64)     { k.encode.Squares(dst, bound) }
func (k *encoderWorker) Accumulate(grad, scale []float32) { k.encode.Accumulate(grad, scale) }
