package calibrate

import (
	"fmt"

	"weir/privacy"
)

// utmostSteps bounds the search for steps.
const utmostSteps = int64(1) << 40

// Steps returns the largest number of repeats of event that meets the target; 0
// where not even one does.
func Steps(acc privacy.Accountant, target Target, event privacy.Event) (int64, error) {
	meets := func(n int64) (bool, error) {
		eps, err := acc.Epsilon([]privacy.Event{privacy.Repeated{Count: n, Event: event}}, target.Adjacency, target.Delta)
		return eps <= target.Epsilon, err
	}
	low, high := int64(0), int64(1) // low meets, high does not
	for {
		ok, err := meets(high)
		if err != nil {
			return 0, err
		}
		if !ok {
			break
		}
		if low = high; low >= utmostSteps {
			return 0, fmt.Errorf("steps: more than %d repeats meet the target; the event costs next to nothing", utmostSteps)
		}
		high *= 2
	}
	for high-low > 1 {
		mid := low + (high-low)/2
		ok, err := meets(mid)
		if err != nil {
			return 0, err
		}
		if ok {
			low = mid
		} else {
			high = mid
		}
	}
	return low, nil
}
