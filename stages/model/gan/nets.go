package gan

import (
	"weir/pipeline"
	"weir/stages/model/internal/generator"
	"weir/train/net"
)

// leak is the slope of LeakyReLU below zero, as in the published program.
const leak = 0.2

// nets are a critic, which maps encoded rows of domain d to one score, and a generator,
// which maps latent standard normals to such rows.
func nets(critic, hidden generator.Hidden, latent int, d *pipeline.Domain) (c, g *net.Net, err error) {
	if c, err = generator.Critic(critic, d); err != nil {
		return nil, nil, err
	}
	g, err = generator.Generator(hidden, latent, d)
	return c, g, err
}
