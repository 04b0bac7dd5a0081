package latent

import (
	"fmt"

	"weir/pipeline/domain"
	"weir/schema"
	"weir/stages/model/internal/training"
	"weir/train"
	"weir/train/net"
)

// Coder says how an encoder and a decoder are built and learn.
type Coder struct {
	training.Settings `yaml:",inline" keys:"steps expected_batch_size sampling_rate max_grad_norm noise_multiplier remove_anomalies label labels encoder decoder activation latent_dim learning_rate average checkpoint_every" doc.latent_dim:"Numbers of a code." max.latent_dim:"1000" doc.learning_rate:"Learning rate of Adam (betas 0.9, 0.999)."`
}

const (
	leak  = 0.2 // slope of LeakyReLU below zero
	chunk = 128 // rows that a loop works on at once
)

func (c Coder) hidden(units []int) training.Hidden {
	h := training.Hidden{Units: units, Activation: c.Activation}
	if c.Activation == "leaky_relu" {
		h.Slope = leak
	}
	return h
}

// coders are the nets of a training: an encoder of encoded rows of d to codes,
// a decoder of codes to what the heads of d begin with, and the decoder with its heads,
// which is what is released and has the same weights.
type coders struct{ encoder, decoder, released *net.Net }

// nets returns the nets of the settings, if count trainings side by side can be held. The
// encoder ends in codes numbers, then in layers after.
func (c Coder) nets(d *domain.Domain, codes, count int, after ...net.Layer) (n coders, err error) {
	if err := c.fits(d, codes, count); err != nil {
		return n, err
	}
	width := training.Width(d)
	if n.released, err = training.Generator(c.hidden(c.Decoder), c.LatentDim, d); err != nil {
		return n, err
	}
	layers := n.released.Spec().Layers
	if n.decoder, err = net.New(net.Spec{Inputs: c.LatentDim, Layers: layers[:len(layers)-1]}); err != nil {
		return n, err
	}
	first := append(c.hidden(c.Encoder).Layers(width), net.Dense(codes))
	n.encoder, err = net.New(net.Spec{Inputs: width, Layers: append(first, after...)})
	return n, err
}

// fits returns a problem where a training takes more memory than there may be.
func (c Coder) fits(d *domain.Domain, codes, count int) error {
	var ps schema.Problems
	training.Shallow(&ps, "encoder", c.Encoder)
	training.Shallow(&ps, "decoder", c.Decoder)
	width, times := training.Width(d), float64(count)
	up, down := training.Widths(width, c.Encoder, 1), training.Widths(1, c.Decoder, width)
	training.Fits(&ps, training.Costs("encoder", fmt.Sprint(c.Encoder), times*memory(up)), training.Costs("decoder",
		fmt.Sprint(c.Decoder), times*memory(down)),
		training.Costs("latent_dim", fmt.Sprint(c.LatentDim),
			times*training.NetCopies*(float64(float64(codes)*float64(up[len(up)-2]))+
				float64(float64(c.LatentDim)*float64(down[1])))))
	return ps.Err()
}

// memory returns the memory of a net that learns from chunks of rows.
func memory(widths []int) float64 {
	return float64(training.NetCopies*training.Weights(widths...)) + float64(training.PassCopies*chunk*training.Units(
		widths...))
}

// heads returns the criterion of rows of d, but for the column skip (-1: none).
func heads(d *domain.Domain, skip int) (train.Criterion, error) {
	h, err := net.NewHeads(training.Outputs(d).Blocks, skip)
	if err != nil {
		return nil, err
	}
	return h.Loss, nil
}

func (c Coder) config(worst *train.Worst) train.FitConfig {
	return train.FitConfig{Optimiser: train.Adam(c.LearningRate, 0.9, 0.999), Average: c.Average, Worst: worst}
}
