package latent

import (
	"fmt"
	"slices"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/schema"
	"weir/stages/model/internal/encoded"
	"weir/stages/model/internal/generator"
	"weir/stages/model/internal/training"
	"weir/train"
	"weir/train/net"
)

// plan is what follows from settings and public facts.
type plan struct {
	autoencoderRate, ganRate float64
	encoder, decoder         *net.Net // the decoder ends before its heads
	critic                   *net.Net
	chain                    *net.Net // generator, decoder and heads
	heads                    []net.Block
}

func (s *DPAutoGAN) plan(in pipeline.Headers) (*plan, error) {
	h := in["in"]
	var ps schema.Problems
	encoded.Need(h, &ps)
	generator.Readable(h, &ps)
	p := &plan{}
	within(&ps, "autoencoder", func(ps *schema.Problems) { p.autoencoderRate = s.Autoencoder.Rate(h, ps) })
	within(&ps, "gan", func(ps *schema.Problems) { p.ganRate = s.GAN.Rate(h, ps) })
	s.CheckRemoval(in, &ps, batchesOf(s.Autoencoder.Sampling, s.GAN.Sampling, s.GAN.GeneratedBatch)...)
	if len(ps) == 0 {
		s.judge(h.Domain, &ps)
	}
	if err := ps.Err(); err != nil {
		return nil, err
	}
	if err := p.build(s, h.Domain); err != nil {
		return nil, err
	}
	within(&ps, "autoencoder", func(ps *schema.Problems) { reach(ps, s.autoencoder(1, p)) })
	within(&ps, "gan", func(ps *schema.Problems) { reach(ps, s.gan(1, p)) })
	return p, ps.Err()
}

// batchesOf are the batches of two phases.
func batchesOf(autoencoder, gan training.Sampling, generated int) []training.Batch {
	return []training.Batch{{Setting: "autoencoder.expected_batch_size", Rows: autoencoder.ExpectedBatchSize},
		{Setting: "gan.expected_batch_size", Rows: gan.ExpectedBatchSize}, {Setting: "gan.generated_batch", Rows: float64(generated)}}
}

// within gives the problems of a phase its path.
func within(ps *schema.Problems, phase string, judge func(ps *schema.Problems)) {
	var own schema.Problems
	judge(&own)
	for _, p := range own {
		if p.Path != "from" && p.Path != "" {
			p.Path = phase + "." + p.Path
		}
		*ps = append(*ps, p)
	}
}

func reach(ps *schema.Problems, c train.DPSGD) {
	if err, ok := training.InReach(c).(schema.Problems); ok {
		*ps = append(*ps, err...)
	}
}

// judgePhases finds what cannot work of an autoencoder and a GAN, one after the other.
func judgePhases(a, g training.Sampling, criticSteps int, ps *schema.Problems) {
	if (a.NoiseMultiplier == 0) != (g.NoiseMultiplier == 0) {
		ps.Add("noise_multiplier", "given for one of autoencoder and gan", "given for both, or for none: then noise_ratio says how they compare")
	}
	if g.Steps < criticSteps {
		ps.Add("gan.steps", fmt.Sprintf("%d, so that the generator is never trained", g.Steps), fmt.Sprintf("at least gan.critic_steps, %d", criticSteps))
	}
}

// judge finds, from settings and domain alone, what cannot work.
func (s *DPAutoGAN) judge(d *domain.Domain, ps *schema.Problems) {
	a, g := s.Autoencoder, s.GAN
	judgePhases(a.Sampling, g.Sampling, g.CriticSteps, ps)
	if a.EncoderRate != 0 && s.NoiseOn == "both" {
		ps.Add("autoencoder.encoder_rate", "given with noise_on both", "absent: then one optimiser moves encoder and decoder")
	}
	if a.Heads == "sigmoid" {
		for _, c := range d.Columns {
			if e := c.Encoding; e.Form == domain.Standard || e.Form == domain.MinMax && e.Range != [2]float64{0, 1} {
				ps.Add("autoencoder.heads", "sigmoid, and the column "+c.Name+" is encoded beyond [0, 1]", "columns, or encode with min_max [0, 1] and without standard")
				break
			}
		}
	}
	s.fits(d, ps)
}

// fits judges what a training would hold.
func (s *DPAutoGAN) fits(d *domain.Domain, ps *schema.Problems) {
	a, g, width := s.Autoencoder, s.GAN, encoded.Width(d)
	generator.Shallow(ps, "autoencoder.hidden", a.Hidden)
	generator.Shallow(ps, "gan.generator", g.Generator)
	generator.Shallow(ps, "gan.critic", g.Critic)
	half := generator.Widths(width, a.Hidden, a.Code)
	gen := generator.Widths(1, g.Generator, a.Code)
	critic := generator.Widths(width, g.Critic, 1)
	batch := float64(generator.PassCopies * float64(g.GeneratedBatch))
	generator.Fits(ps,
		generator.Costs("autoencoder.hidden", fmt.Sprint(a.Hidden), 3*generator.NetCopies*generator.Weights(half...)),
		generator.Costs("gan.generator", fmt.Sprint(g.Generator), generator.NetCopies*generator.Weights(gen...)),
		generator.Costs("gan.latent_dim", fmt.Sprint(g.LatentDim), float64(g.LatentDim)*(float64(generator.NetCopies*float64(gen[1]))+batch)),
		generator.Costs("gan.critic", fmt.Sprint(g.Critic), generator.NetCopies*generator.Weights(critic...)),
		generator.Costs("gan.generated_batch", fmt.Sprint(g.GeneratedBatch), batch*(generator.Units(half...)+generator.Units(gen...)+generator.Units(critic...))))
}

func (p *plan) build(s *DPAutoGAN, d *domain.Domain) (err error) {
	a, g, width := s.Autoencoder, s.GAN, encoded.Width(d)
	p.heads = []net.Block{{Activation: "sigmoid", Width: width}}
	if a.Heads == "columns" {
		p.heads = encoded.Outputs(d).Blocks
	}
	if p.encoder, err = net.New(net.Spec{Inputs: width, Layers: a.layers(slices.Concat(a.Hidden, []int{a.Code})).Layers(width)}); err != nil {
		return err
	}
	back := slices.Clone(a.Hidden)
	slices.Reverse(back)
	if p.decoder, err = net.New(net.Spec{Inputs: a.Code, Layers: append(a.layers(back).Layers(a.Code), net.Dense(width))}); err != nil {
		return err
	}
	hidden := generator.Leaky(leak, g.Generator)
	hidden.Norm, hidden.Residual = g.norm(), g.Residual
	last := a.layers([]int{a.Code})
	last.Norm = g.norm()
	layers := append(hidden.Layers(g.LatentDim), last.Layers(widest(g.Generator, g.LatentDim))...)
	layers = append(layers, p.decoder.Spec().Layers...)
	if p.chain, err = net.New(net.Spec{Inputs: g.LatentDim, Layers: append(layers, net.Blocks(p.heads...))}); err != nil {
		return err
	}
	p.critic, err = generator.Critic(generator.Leaky(leak, g.Critic), d)
	return err
}

// widest is the width that the last layer of a generator starts from.
func widest(hidden []int, latent int) int {
	if len(hidden) == 0 {
		return latent
	}
	return hidden[len(hidden)-1]
}
