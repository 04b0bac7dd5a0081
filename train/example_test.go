package train_test

import (
	"fmt"

	"weir/privacy"
	"weir/train"
)

// ExampleDPSGD: one value says how a loop samples, clips, adds noise and pays, so the four cannot
// disagree. The noise multiplier is over the clip bound, whatever it is; under
// replace_one a row moves a clipped sum by twice the bound.
func ExampleDPSGD() {
	loop := train.DPSGD{MaxGradNorm: 0.5, NoiseMultiplier: 1.1, SamplingRate: 0.01, ExpectedBatchSize: 600, Steps: 4000}
	event, err := privacy.MarshalEvent(loop.Event(privacy.ReplaceOne))
	if err != nil {
		panic(err)
	}
	fmt.Println(string(event))
	fmt.Println(loop.Sensitivity(privacy.AddRemove).Bound, loop.Sensitivity(privacy.ReplaceOne).Bound, loop.Uses())
	// Output:
	// {"repeated":{"count":4000,"event":{"poisson_sampled":{"sampling_rate":0.01,"event":{"gaussian":{"noise_multiplier":1.1}}}}}}
	// 0.5 1 4000
}
