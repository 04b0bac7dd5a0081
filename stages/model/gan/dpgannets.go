package gan

import (
	"fmt"

	"weir/pipeline/domain"
	"weir/schema"
	"weir/stages/model/internal/encoded"
	"weir/stages/model/internal/generator"
	"weir/train/net"
)

// leakThesis is the slope of LeakyReLU below zero in the critics of the GANAD thesis.
const leakThesis = 0.3

// atWork is the number of private rows whose gradients are taken side by side, on 8 cores; each
// label has room for all of them.
const atWork = 8 * 128

// GANNets are the nets of one label.
type GANNets struct {
	Generator []int   `yaml:"generator" json:"generator" min:"1" doc:"Units of the generators' hidden layers, of LeakyReLU; none ([]) is one linear layer before the outputs, as published."`
	LatentDim int     `yaml:"latent_dim,omitempty" json:"latent_dim,omitempty" min:"1" doc:"Dimension of the standard normal vector that a generated row starts from; by default the width of the encoded table."`
	Critic    []int   `yaml:"critic" json:"critic" min:"1" minItems:"1" doc:"Units of the critics' hidden layers, of LeakyReLU."`
	Dropout   float64 `yaml:"dropout" json:"dropout" min:"0" exclusiveMax:"1" doc:"Share of the critics' hidden units that are left out at random, row by row; 0 is none."`
}

// nets are those of the settings, if a training of so many labels can hold them.
func (n GANNets) nets(d *domain.Domain, labels, batch int) (critic, gen *net.Net, err error) {
	var ps schema.Problems
	generator.Shallow(&ps, "critic", n.Critic)
	generator.Shallow(&ps, "generator", n.Generator)
	width := encoded.Width(d)
	latent := n.LatentDim
	if latent == 0 {
		latent = width
	}
	c, g := generator.Widths(width, n.Critic, 1), generator.Widths(1, n.Generator, width)
	all := float64(labels) * generator.NetCopies
	generator.Fits(&ps, generator.Costs("generator", fmt.Sprintf("%v for %d labels", n.Generator, labels), float64(all*generator.Weights(g...))),
		generator.Costs("latent_dim", fmt.Sprint(latent), float64(latent)*(float64(all*float64(g[1]))+float64(generator.PassCopies*float64(batch)))),
		generator.Costs("critic", fmt.Sprintf("%v for %d labels", n.Critic, labels), float64(all*generator.Weights(c...))+float64(float64(labels)*generator.PassCopies*atWork*generator.Units(c...))),
		generator.Costs("generated_batch", fmt.Sprint(batch), generator.PassCopies*float64(batch)*(generator.Units(g...)+generator.Units(c...))))
	if err := ps.Err(); err != nil {
		return nil, nil, err
	}
	judge := generator.Leaky(leakThesis, n.Critic)
	judge.Dropout = n.Dropout
	return nets(judge, generator.Leaky(leakThesis, n.Generator), latent, d)
}
