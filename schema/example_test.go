package schema_test

import (
	"fmt"

	"weir/schema"
)

// Example: a settings struct is the schema: its tags are what a file is checked against,
// and every problem is told with its place.
func Example() {
	type training struct {
		Steps int    `yaml:"steps" json:"steps" required:"true" min:"1" doc:"Steps of training."`
		Scope string `yaml:"scope" json:"scope" enum:"table|shard" doc:"Rows that are searched."`
	}
	doc, problems := schema.Parse("train.yaml", []byte("steps: 0\nscope: shards\n"))
	for _, p := range append(problems, doc.Decode("", &training{Scope: "table"})...) {
		fmt.Println(p)
	}
	// Output:
	// train.yaml:1:8: steps: is 0, must be a whole number of at least 1
	// train.yaml:2:8: scope: is the text "shards", must be one of table, shard; did you mean shard?
}
