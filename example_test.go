package weir_test

import (
	"context"
	"fmt"
	"os"

	"weir/pipeline/compile"
	"weir/privacy"
	"weir/runtime"
	"weir/stages"
)

// Example plans, prices and runs a spec from a Go program, as weir run does.
func Example() {
	must := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	out, err := os.MkdirTemp("", "weir-example-")
	must(err)
	defer os.RemoveAll(out)

	kinds, err := runtime.Registry(stages.Kinds())
	must(err)
	study, err := runtime.LoadSpec("examples/cardio/quickstart.yaml", []string{
		"dataset.rows_public=2000", "dataset.demo_rows=2000",
		"stages.utility=off", "stages.report=off", "stages.sample.rows=100"}, true, kinds)
	must(err)
	plan, err := compile.Compile(study) // what it does and costs; no data has been opened
	must(err)
	fmt.Printf("%s: epsilon %s at delta %g, in %d stages\n",
		plan.Name, privacy.Bound(*plan.Epsilon.Proven), plan.Delta, len(plan.Steps))

	options := runtime.Local(out)
	options.Dir = "examples/cardio"
	result, err := runtime.Run(context.Background(), plan, options)
	must(err)
	for _, charge := range result.Record.Charges {
		fmt.Println("charged by", charge.Stage)
	}
	for _, file := range result.Record.Release {
		if file.Table() == "sample" {
			fmt.Println(file.Path)
		}
	}

	// Output:
	// cardio-quickstart: epsilon 0.99975 at delta 1e-06, in 6 stages
	// charged by train
	// release/sample.csv
	// release/sample.parquet
}
