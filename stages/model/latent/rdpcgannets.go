package latent

import (
	"fmt"
	"slices"

	"weir/pipeline/domain"
	"weir/schema"
	"weir/stages/model/internal/encoded"
	"weir/stages/model/internal/generator"
	"weir/train"
	"weir/train/net"
)

// convolved is a training of rdp_cgan that is planned.
type convolved struct {
	*RDPCGAN
	column, labels           int
	autoencoderRate, ganRate float64
	auto                     *net.Net // encoder and decoder, which learn
	criterion                train.Criterion
	decoder                  int      // weights of the decoder, which are the last of auto and of chain
	chain                    *net.Net // generator, decoder and heads, with zeros in the label
	critic                   *net.Net
	units                    [2]float64 // of auto; of chain and critic
}

// writtenChunk is how many rows of each label a loop works on at once where gradients are
// written out.
const writtenChunk = 16

// build makes the nets of rows of d. What does not fit is a problem of its setting.
func (l *convolved) build(d *domain.Domain, ps *schema.Problems) error {
	a, g, width := l.Autoencoder, l.GAN, encoded.Width(d)
	up, down := &stack{positions: width, channels: 1}, &stack{positions: 1, channels: a.Code}
	generate, judge := &stack{positions: 1, channels: g.LatentDim}, &stack{positions: width, channels: 1}
	code := net.Activation(a.CodeActivation)
	if a.CodeActivation == "leaky_relu" {
		code = net.LeakyReLU(leak)
	}
	encoder := up.build(or(a.Encoder, narrowing(width, a.Code)), form{setting: "autoencoder.encoder", norm: a.Norm, last: code, outputs: a.Code}, ps)
	decoder := down.build(or(a.Decoder, widening(width)), form{setting: "autoencoder.decoder", transpose: true, norm: a.Norm, outputs: width}, ps)
	first := generate.build(or(g.Generator, doubling(a.Code)), form{setting: "gan.generator", transpose: true, norm: g.GeneratorNorm, last: code, outputs: a.Code}, ps)
	score := judge.build(or(g.Critic, judging(width)), form{setting: "gan.critic", norm: g.CriticNorm, outputs: 1}, ps)
	if len(*ps) > 0 {
		return nil
	}
	if err := l.join(d, encoder, decoder, first, score); err != nil {
		return err
	}
	if err := generator.Drawable(l.chain, d); err != nil {
		ps.Add("gan.generator", "too large for a model that can be read back: "+err.Error(), "smaller, as autoencoder.decoder")
	}
	l.units = [2]float64{up.units + down.units, generate.units + down.units + judge.units}
	return nil
}

func or(given, derived []Convolution) []Convolution {
	if len(given) > 0 {
		return given
	}
	return derived
}

// join makes nets of layers.
func (l *convolved) join(d *domain.Domain, encoder, decoder, first, score []net.Layer) (err error) {
	width := encoded.Width(d)
	if l.critic, err = net.New(net.Spec{Inputs: width, Layers: score}); err != nil {
		return err
	}
	released, err := net.New(net.Spec{Inputs: l.GAN.LatentDim, Layers: slices.Concat(first, decoder, []net.Layer{encoded.Outputs(d)})})
	if err != nil {
		return err
	}
	if l.chain, err = generator.WithoutLabel(released, d, l.column); err != nil {
		return err
	}
	ends := l.chain.Spec().Layers
	learns := slices.Concat(encoder, decoder)
	if l.Autoencoder.Loss == "squares" {
		learns = append(learns, ends[len(ends)-1])
	}
	if l.auto, err = net.New(net.Spec{Inputs: width, Layers: learns}); err != nil {
		return err
	}
	half, err := net.New(net.Spec{Inputs: width, Layers: encoder})
	if err != nil {
		return err
	}
	l.decoder = l.auto.Params() - half.Params()
	l.criterion, err = l.loss(d)
	return err
}

// loss compares what the autoencoder puts out with a row, but for its label.
func (l *convolved) loss(d *domain.Domain) (train.Criterion, error) {
	if l.Autoencoder.Loss == "likelihood" {
		return heads(d, l.column)
	}
	h, err := net.NewHeads([]net.Block{{Activation: "linear", Width: encoded.Width(d)}}, -1)
	return h.Loss, err
}

// fits judges what a training holds: weights a copy for each label, activations a number for
// each unit and row.
func (l *convolved) fits(ps *schema.Problems) {
	g, weights := l.GAN, func(n *net.Net, copies int) float64 {
		return float64(generator.NetCopies * float64(copies) * float64(n.Params()))
	}
	generator.Fits(ps,
		generator.Costs("autoencoder.encoder", fmt.Sprintf("%d weights", l.auto.Params()), weights(l.auto, 1)+float64(generator.PassCopies*chunk*l.units[0])),
		generator.Costs("gan.generator", fmt.Sprintf("%d weights for each of %d labels", l.chain.Params(), l.labels), weights(l.chain, l.labels)),
		generator.Costs("gan.critic", fmt.Sprintf("%d weights for each of %d labels", l.critic.Params(), l.labels), weights(l.critic, l.labels)),
		generator.Costs("gan.generated_batch", fmt.Sprint(g.GeneratedBatch), float64(generator.PassCopies*(float64(g.GeneratedBatch)+float64(writtenChunk*l.labels))*l.units[1])))
}
