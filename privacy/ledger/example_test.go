package ledger_test

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"weir/internal/disk"
	"weir/privacy"
	"weir/privacy/account"
	"weir/privacy/ledger"
)

// Example: a charge is on disk before its noise is drawn; a cap refuses what would pass it.
// Pure releases of epsilon 0.5 and 0.25 come to 0.75 by addition, and a further 0.5
// to more than 1.
func Example() {
	dir, err := os.MkdirTemp("", "ledger")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	const dataset = "ds-0123456789abcdef0123456789abcdef" // random, no digest of the table
	l, err := ledger.Open(disk.Disk{}, filepath.Join(dir, "patients.csv.weir-ledger.jsonl"), dataset, time.Now)
	if err != nil {
		panic(err)
	}
	limit := &ledger.Cap{Epsilon: 1, Delta: 1e-6, Filter: "basic", Adjacency: privacy.ReplaceOne}
	for i, epsilon := range []float64{0.5, 0.25, 0.5} {
		_, err := l.Append(limit, ledger.Charge{ID: fmt.Sprint("charge ", i), Run: "run", Version: "1", Stage: "count",
			Adjacency: privacy.ReplaceOne, Event: privacy.Pure{Epsilon: epsilon}})
		fmt.Printf("%g refused: %t\n", epsilon, err != nil)
	}
	basic, err := account.ByName("basic")
	if err != nil {
		panic(err)
	}
	total, err := ledger.Sum(l.Entries(), basic, privacy.ReplaceOne, ledger.Unit{}, 1e-6)
	if err != nil {
		panic(err)
	}
	fmt.Println(total.Charges, "charges, epsilon", total.Epsilon)
	// Output:
	// 0.5 refused: false
	// 0.25 refused: false
	// 0.5 refused: true
	// 2 charges, epsilon 0.75
}
