package runtime

import (
	"context"
	"errors"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline"
	"weir/privacy"
)

// errRowsPublic does not say how many rows there are.
var errRowsPublic = errors.New("rows_public is not the number of rows of the table; under replace_one it must be, and it must be public knowledge")

// countRows checks a declared row count at the end of the table. Under
// add_remove the count is private and stopping on it would tell it, so there a
// declared count is taken as a public estimate.
func countRows(t pipeline.Table) func(context.Context) pipeline.Batches {
	if t.Rows == 0 || t.Terms.Adjacency != privacy.ReplaceOne {
		return t.Open
	}
	return func(ctx context.Context) pipeline.Batches {
		return func(yield func(arrow.Record, error) bool) {
			var n int64
			for rec, err := range t.Open(ctx) {
				if err == nil {
					n += rec.NumRows()
				}
				if !yield(rec, err) || err != nil {
					return
				}
			}
			if n != t.Rows {
				yield(nil, errRowsPublic)
			}
		}
	}
}
