// Package stages is the table of contents of every kind of stage.
//
//go:generate go run weir/cmd/weir/docgen
package stages

import (
	"slices"

	"weir/pipeline"
	"weir/stages/evaluate/associations"
	"weir/stages/evaluate/constraints"
	"weir/stages/evaluate/detectability"
	"weir/stages/evaluate/dimension"
	"weir/stages/evaluate/disclosure"
	"weir/stages/evaluate/downstream"
	"weir/stages/evaluate/marginals"
	"weir/stages/evaluate/projection"
	"weir/stages/evaluate/queries"
	"weir/stages/evaluate/regression"
	"weir/stages/model"
	"weir/stages/prep"
	"weir/stages/report"
)

// Kinds lists every kind.
func Kinds() []pipeline.Kind {
	return slices.Concat(prep.Kinds(), model.Kinds(),
		marginals.Kinds(), associations.Kinds(), projection.Kinds(), detectability.Kinds(), constraints.Kinds(),
		disclosure.Kinds(), downstream.Kinds(), dimension.Kinds(), regression.Kinds(), queries.Kinds(), report.Kinds())
}
