package latent

import (
	"context"
	"errors"
	"fmt"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/schema"
	"weir/stages/model/internal/generator"
	"weir/stages/model/internal/training"
	"weir/train"
	"weir/train/mixture"
	"weir/train/net"
)

// labelled is a training that is planned.
type labelled struct {
	*DPSYN
	column, labels int
	rate           float64
	nets           coders
	auto           *net.Net // encoder and decoder of one label
}

func (l *labelled) plan(d *domain.Domain) (err error) {
	if l.nets, err = l.Coder.nets(d, l.LatentDim, l.labels, net.Activation("tanh")); err != nil {
		return err
	}
	if l.auto, err = generator.Chain(l.nets.encoder, l.nets.decoder); err != nil {
		return err
	}
	return errors.Join(training.InReach(l.DPSGD(1, l.rate, l.weights())), l.fits())
}

// fits is a problem where the moments of all labels could not be held: for each component
// 8 bytes a product of two coordinates, as integers on every core, noisy and as matrices.
func (l *labelled) fits() error {
	var ps schema.Problems
	each := float64(l.labels*l.Mixture.Components) * (float64(float64(l.LatentDim)*float64(l.LatentDim)) + 1)
	generator.Fits(&ps, generator.Costs("mixture.components", fmt.Sprintf("%d of %d labels", l.Mixture.Components, l.labels), 12*each))
	return ps.Err()
}

func (l *labelled) weights() int { return l.labels * l.auto.Params() }

// run trains, learns the mixtures, and gives the part of each label.
func (l *labelled) run(ctx context.Context, env *pipeline.Env, in pipeline.Tables) ([]generator.Part, error) {
	t := in["in"]
	begun, err := training.Begin(ctx, env, t, 0, l.CheckpointEvery, l.LeftOut(env, in))
	if err != nil {
		return nil, err
	}
	labels, err := begun.Table.Codes(l.column)
	if err != nil {
		return nil, err
	}
	w, err := l.train(ctx, env, t.Domain, begun, labels)
	if err != nil {
		return nil, err
	}
	paid, err := env.Privacy.Open(mixtureSpend)
	if err != nil {
		return nil, err
	}
	m := mixture.Config{Rounds: l.Mixture.Rounds, Floor: floor * l.Mixture.MaxCodeNorm,
		Moments: mixture.Moments{Labels: l.labels, Components: l.Mixture.Components, Dim: l.LatentDim, Radius: l.Mixture.MaxCodeNorm}}
	x := l.codes(w, begun.Rows, labels)
	if l.Mixture.chosen() {
		if m.Used, err = mixture.Clusters(ctx, m.Moments, x, m.Components, env.Rand("clusters")); err != nil {
			return nil, err
		}
	}
	mixtures, err := mixture.Fit(ctx, m, x, env.Rand("mixture"), paid)
	if err != nil {
		return nil, err
	}
	if l.Labels == "public" {
		count(mixtures, labels)
	}
	return l.parts(t.Domain, w, mixtures), nil
}

// count sets the shares of labels to exact ones, where there is a row.
func count(mixtures []mixture.Mixture, labels []int32) {
	if len(labels) == 0 {
		return
	}
	for l := range mixtures {
		mixtures[l].Share = 0
	}
	for _, l := range labels {
		mixtures[l].Share += 1 / float64(len(labels))
	}
}

// train returns the weights of all autoencoders.
func (l *labelled) train(ctx context.Context, env *pipeline.Env, d *domain.Domain, begun training.Learning, labels []int32) ([]float32, error) {
	criterion, err := heads(d, l.column)
	if err != nil {
		return nil, err
	}
	one, err := train.Autoencoder(l.auto, begun.Rows, criterion)
	if err != nil {
		return nil, err
	}
	all, err := train.NewByLabel(one, labels, l.labels)
	if err != nil {
		return nil, err
	}
	random := env.Rand("weights")
	var start []float32
	for range l.labels {
		start = append(start, l.auto.Init(random)...)
	}
	return train.Fit(ctx, l.config(begun.Worst), all, start, begun.Rows.Len(), begun.Paid, begun.Hooks)
}

// of are the weights of one label's autoencoder.
func (l *labelled) of(w []float32, label int) []float32 {
	n := l.auto.Params()
	return w[label*n:][:n]
}

// codes are what the encoder of each row's label makes of it.
func (l *labelled) codes(w []float32, rows *train.Rows, labels []int32) mixture.Codes {
	index := make([][]int32, l.labels)
	for i, label := range labels {
		index[label] = append(index[label], int32(i))
	}
	x := mixture.Codes{Dim: l.LatentDim}
	for label, of := range index {
		x.Values = append(x.Values, train.Encode(l.nets.encoder, l.of(w, label), rows, of)...)
		for range of {
			x.Labels = append(x.Labels, int32(label))
		}
	}
	return x
}

// parts are decoders with their mixtures; each says its own label.
func (l *labelled) parts(d *domain.Domain, w []float32, mixtures []mixture.Mixture) []generator.Part {
	at := 0
	for _, c := range d.Columns[:l.column] {
		at += c.Encoding.Width
	}
	parts := make([]generator.Part, l.labels)
	for label, m := range mixtures {
		parts[label] = generator.Part{Share: m.Share, Net: l.nets.released, Weights: l.of(w, label)[l.nets.encoder.Params():]}
		fix(parts[label].Weights, l.nets.released, at, l.labels, label)
		for _, g := range m.Components {
			parts[label].Prior = append(parts[label].Prior, generator.Normal{Share: g.Weight, Mean: g.Mean, Factor: g.Factor})
		}
	}
	return parts
}

// fix writes over the weights of the outputs from at on, of which there are n: whatever
// the code, they put out the one of the label, and e^-100 of its probability for others.
func fix(w []float32, n *net.Net, at, labels, label int) {
	tensors := n.Tensors()
	weight, bias := tensors[len(tensors)-2], tensors[len(tensors)-1]
	units := bias.Size()
	for row := range weight.Size() / units {
		clear(w[weight.Offset+row*units+at:][:labels])
	}
	clear(w[bias.Offset+at:][:labels])
	w[bias.Offset+at+label] = 100
}
