package account

import (
	"testing"

	"weir/privacy"
)

// 225,000 steps of a batch of 128 of 32,561 rows, the size of issue 3.
func BenchmarkRDP(b *testing.B) {
	for _, adj := range []privacy.Adjacency{privacy.AddRemove, privacy.ReplaceOne} {
		b.Run(string(adj), func(b *testing.B) {
			for range b.N {
				if _, err := (RDP{}).Epsilon(sgd(128.0/32561, 1.1, 225000), adj, 1e-5); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
