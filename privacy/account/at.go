package account

import (
	"fmt"
	"math"

	"weir/privacy"
)

// RDPAt returns the bound on the Renyi divergence of the composition at one order
// above 1, +Inf where it has none. An approximate event has no divergence, whatever
// its epsilon: like an event without a proven bound it is an error with its path.
func RDPAt(events []privacy.Event, adjacency privacy.Adjacency, order float64) (float64, error) {
	if !(order > 1) || math.IsInf(order, 1) {
		return 0, fmt.Errorf("order: is %v, must be a finite number above 1", order)
	}
	releases, err := compile("rdp", events, adjacency)
	if err != nil {
		return 0, err
	}
	for _, r := range releases {
		if r.delta > 0 {
			return 0, &privacy.UnsupportedError{Accountant: "rdp", Path: r.path, Reason: "an (epsilon, delta) release has no Renyi divergence"}
		}
	}
	return totalAt(releases, order), nil
}
