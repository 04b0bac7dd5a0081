package gan

import (
	"weir/pipeline"
	"weir/stages/model/internal/encoded"
	"weir/train/net"
)

// leak is the slope of LeakyReLU below zero, as in the published program.
const leak = 0.2

// generatorNet maps latent standard normals through hidden LeakyReLU layers to
// encoded rows of domain d.
func generatorNet(latent int, hidden []int, slope float64, d *pipeline.Domain) (*net.Net, error) {
	layers := hiddenLayers(hidden, slope)
	layers = append(layers, net.Dense(encoded.Width(d)), encoded.Outputs(d))
	return net.New(net.Spec{Inputs: latent, Layers: layers})
}

// criticNet maps encoded rows to one score.
func criticNet(hidden []int, slope float64, d *pipeline.Domain) (*net.Net, error) {
	layers := append(hiddenLayers(hidden, slope), net.Dense(1))
	return net.New(net.Spec{Inputs: encoded.Width(d), Layers: layers})
}

func hiddenLayers(units []int, slope float64) []net.Layer {
	var layers []net.Layer
	for _, u := range units {
		layers = append(layers, net.Dense(u), net.LeakyReLU(slope))
	}
	return layers
}
