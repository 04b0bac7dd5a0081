package record_test

import (
	"fmt"

	"weir/record"
)

// ExampleBound: an epsilon is an upper bound, so it is rounded up wherever it is shown.
func ExampleBound() {
	fmt.Println(record.Bound(0.9997477), record.Bound(1.0000001))
	// Output: 0.99975 1.0001
}
