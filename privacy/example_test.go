package privacy_test

import (
	"fmt"

	"weir/privacy"
)

// ExampleGroup: an event is plain data that says what a mechanism releases. For a person with two
// rows it is charged as a group: half the noise multiplier, and either row may be
// sampled, 1-(1-1/2)^2.
func ExampleGroup() {
	step := privacy.PoissonSampled{SamplingRate: 0.5, Event: privacy.Gaussian{NoiseMultiplier: 3}}
	pair, err := privacy.Group(privacy.Repeated{Count: 100, Event: step}, 2)
	if err != nil {
		panic(err)
	}
	text, err := privacy.MarshalEvent(pair)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(text))
	// Output: {"repeated":{"count":100,"event":{"poisson_sampled":{"sampling_rate":0.75,"event":{"gaussian":{"noise_multiplier":1.5}}}}}}
}
