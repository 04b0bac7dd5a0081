package gan

import (
	"weir/pipeline"
	"weir/stages/model/internal/encoded"
	"weir/train/net"
)

// leak is the slope of LeakyReLU below zero, as in the published program.
const leak = 0.2

// nets are a critic, which maps encoded rows of domain d to one score, and a
// generator, which maps latent standard normals to such rows, each with hidden
// layers of the given units.
func nets(critic, generator []int, latent int, d *pipeline.Domain) (c, g *net.Net, err error) {
	if c, err = net.New(net.Spec{Inputs: encoded.Width(d), Layers: append(hidden(critic), net.Dense(1))}); err != nil {
		return nil, nil, err
	}
	g, err = net.New(net.Spec{Inputs: latent, Layers: append(hidden(generator), net.Dense(encoded.Width(d)), encoded.Outputs(d))})
	return c, g, err
}

func hidden(units []int) []net.Layer {
	var layers []net.Layer
	for _, u := range units {
		layers = append(layers, net.Dense(u), net.LeakyReLU(leak))
	}
	return layers
}
