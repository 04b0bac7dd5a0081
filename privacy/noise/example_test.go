package noise_test

import (
	"bytes"
	"fmt"
	"math"

	"weir/privacy/noise"
)

// ExampleSource: noise is a function of a key and of names: the owner of the key draws it again,
// another use draws other numbers, and all of it lies on the lattice, so that the low
// bits of a sum tell nothing (Mironov 2012).
func ExampleSource() {
	key, err := noise.NewKey(bytes.NewReader(make([]byte, 32))) // a run takes the operating system's randomness
	if err != nil {
		panic(err)
	}
	draw := func(use uint64) []float64 {
		stream, err := noise.NewSource(key, "train").Use(use).Stream("noise", 0)
		if err != nil {
			panic(err)
		}
		numbers := make([]float64, 4)
		stream.LatticeGaussian64(numbers, 1.5, 0.0625)
		return numbers
	}
	first, again, second := draw(0), draw(0), draw(1)
	onLattice := true
	for _, x := range first {
		onLattice = onLattice && x/0.0625 == math.Trunc(x/0.0625)
	}
	fmt.Println(first[0] == again[0], first[0] == second[0], onLattice)
	// Output: true false true
}
