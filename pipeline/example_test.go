package pipeline_test

import (
	"fmt"

	"weir/pipeline"
	"weir/pipeline/domain"
)

// Example: a header is all that a stage plans from: what is publicly known of a table, and
// how much of it one privacy unit can change.
func Example() {
	ages := &domain.Domain{Columns: []domain.Column{
		{Name: "age", Type: domain.Integer, Bounds: &[2]float64{18, 90}},
		{Name: "region", Type: domain.Categorical, Categories: []string{"north", "south"}, Nullable: true},
	}}
	table := pipeline.TableHeader(ages, pipeline.Header{Class: pipeline.Private, Stability: pipeline.Rows(1)})
	fmt.Println(table.Schema)

	// Imputing across rows lets one row change any other; inside a shard it cannot
	// reach beyond the shard.
	fmt.Println(table.Stability, "becomes", table.Stability.AcrossRows(false))
	fmt.Println(pipeline.Shards(250), "stays", pipeline.Shards(250).AcrossRows(true))
	// Output:
	// schema:
	//   fields: 2
	//     - age: type=int64, nullable
	//     - region: type=int32, nullable
	// rows(1) becomes unbounded
	// shards(250) stays shards(250)
}
