package prep

import (
	"testing"

	"weir/internal/enginetest"
	"weir/pipeline/pipelinetest"
	"weir/pipeline/relation"
	"weir/runtime/database/sql"
)

// TestEnginesComputeStages: of random rows with every trap, each engine computes what a stage's makers make, for every
// conformance case whose stage has expressions.
func TestEnginesComputeStages(t *testing.T) {
	dialects := map[string]sql.Dialect{"postgres": sql.Postgres(), "duckdb": sql.DuckDB(), "spark": sql.Spark()}
	computed := 0
	for _, e := range enginetest.List(t) {
		for kind, cases := range conformance(t) {
			for _, c := range cases {
				t.Run(e.Name+"/"+kind+"/"+c.Name, func(t *testing.T) {
					pipelinetest.CheckEngine(t, c, func(r relation.Relation, rows [][]any) ([][]any, error) {
						computed++
						return e.Compute(dialects[e.Name], r, rows)
					})
				})
			}
		}
	}
	if computed < 10 {
		t.Errorf("only %d cases were computed", computed)
	}
}
