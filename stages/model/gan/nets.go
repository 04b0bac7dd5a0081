package gan

import (
	"weir/pipeline/domain"
	"weir/stages/model/internal/generator"
	"weir/train/net"
)

// Slopes of LeakyReLU below zero: of GANs on images (Radford et al. 2016), and that of
// UCLANESL's program.
const (
	leak         = 0.2
	leakUCLANESL = 0.01
)

// nets are a critic, which maps encoded rows of domain d to one score, and a generator,
// which maps latent standard normals to such rows.
func nets(critic, hidden generator.Hidden, latent int, d *domain.Domain) (c, g *net.Net, err error) {
	if c, err = generator.Critic(critic, d); err != nil {
		return nil, nil, err
	}
	g, err = generator.Generator(hidden, latent, d)
	return c, g, err
}
