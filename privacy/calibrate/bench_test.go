package calibrate

import (
	"testing"

	"weir/privacy"
	"weir/privacy/account"
)

// threeStages is a budget as papers split it: selection, an autoencoder, a GAN.
func threeStages() []Stage {
	return []Stage{
		{Name: "bounds", Share: 0.1, Events: func(s float64) []privacy.Event { return []privacy.Event{privacy.Laplace{NoiseMultiplier: s}} }},
		{Name: "encoder", Share: 0.3, Events: sgd(64.0/32561, 10000)},
		{Name: "gan", Share: 0.6, Events: sgd(128.0/32561, 15000)},
	}
}

func BenchmarkJoint(b *testing.B) {
	for _, name := range []string{"rdp", "pld"} {
		acc, err := account.ByName(name)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			for range b.N {
				if _, err := Joint(acc, Target{1, 1e-5, privacy.AddRemove}, threeStages()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
