package generator

import (
	"fmt"
	"slices"

	"weir/schema"
)

// Bounds of a training, by public numbers alone: what could not be held or would never
// end is refused before it is paid for.
const (
	maxBytes  = 16 << 30 // of one training, beside its table: two thirds of the 24 GiB that weir is made for
	maxLayers = 64       // hidden ones of one net

	// Copies of a weight, 4 bytes each. A net that learns: where it starts, where it is, two
	// moments, a gradient, a noisy or averaged one (8 bytes), and a checkpoint of all that.
	NetCopies = 12
	// An earlier generator that is kept: itself, in a checkpoint, in the artifact.
	KeptCopies = 3
	// One of many critics: where it is, two moments, and those in a checkpoint.
	CriticCopies = 6
	// Numbers for each unit and generated row: the activation and its gradient, in the
	// passes of critic and generator.
	PassCopies = 4
)

// Cost is what one setting adds to the memory of a training.
type Cost struct {
	setting, of string
	numbers     float64 // floats, so that no product of settings overflows
}

// Costs is that a setting, as it is given, adds so many numbers.
func Costs(setting, given string, numbers float64) Cost { return Cost{setting, given, numbers} }

// Fits adds a problem where a training takes more than maxBytes, at the setting that takes
// most.
func Fits(ps *schema.Problems, parts ...Cost) {
	total := 0.0
	for _, p := range parts {
		total += float64(4 * p.numbers)
	}
	if total <= maxBytes {
		return
	}
	most := slices.MaxFunc(parts, func(a, b Cost) int {
		if a.numbers < b.numbers {
			return -1
		}
		return 1
	})
	ps.Add(most.setting, fmt.Sprintf("%s, with which the training takes %.3g GiB", most.of, total/(1<<30)),
		fmt.Sprintf("so small that nets, their copies and batches together take at most %d GiB", maxBytes>>30))
}

// Weights is the number of weights of a dense net of these layers.
func Weights(layers ...int) float64 {
	n := 0.0
	for i := 1; i < len(layers); i++ {
		n += float64((float64(layers[i-1]) + 1) * float64(layers[i]))
	}
	return n
}

// Units is the number of units in all layers.
func Units(layers ...int) float64 {
	n := 0.0
	for _, u := range layers {
		n += float64(u)
	}
	return n
}

// Widths lists the widths of a net from its input to its output.
func Widths(in int, hidden []int, out int) []int {
	return slices.Concat([]int{in}, hidden, []int{out})
}

// Shallow adds a problem for a net of more than maxLayers hidden layers.
func Shallow(ps *schema.Problems, setting string, hidden []int) {
	if len(hidden) > maxLayers {
		ps.Add(setting, fmt.Sprintf("%d layers", len(hidden)), fmt.Sprintf("at most %d", maxLayers))
	}
}
