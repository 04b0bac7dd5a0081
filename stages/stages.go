// Package stages is the table of contents of every kind of stage.
//
//go:generate go run weir/cmd/weir/docgen
package stages

import (
	"weir/pipeline"
	"weir/stages/evaluate"
	"weir/stages/model"
	"weir/stages/prep"
)

// Registry holds every kind.
func Registry() (*pipeline.Registry, error) {
	return pipeline.NewRegistry(prep.Kinds(), model.Kinds(), evaluate.Kinds())
}
