package calibrate_test

import (
	"fmt"

	"weir/privacy"
	"weir/privacy/account"
	"weir/privacy/calibrate"
)

// ExampleNoise: the least noise for one Gaussian release at epsilon 1 and delta 1e-5. Cases D06
// and F04 of testdata/golden/accounting.json: 3.73063 (Balle and Wang 2018); the
// classic formula asks for 4.84.
func ExampleNoise() {
	pld, err := account.ByName("pld")
	if err != nil {
		panic(err)
	}
	target := calibrate.Target{Epsilon: 1, Delta: 1e-5, Adjacency: privacy.AddRemove}
	noise, err := calibrate.Noise(pld, target, func(multiplier float64) []privacy.Event {
		return []privacy.Event{privacy.Gaussian{NoiseMultiplier: multiplier}}
	})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%.3f\n", noise)
	// Output: 3.731
}
