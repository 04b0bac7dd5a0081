package pipelinetest

import (
	"context"
	"errors"
	"path/filepath"

	"weir/pipeline"
)

// Sources lists a source for the specs of tests that plan and open no data: a file.
func Sources() []pipeline.SourceKind {
	return []pipeline.SourceKind{{Name: "file", New: func() pipeline.Source { return &unopened{} }}}
}

// unopened is a file that nobody opens.
type unopened struct {
	File string `yaml:"file,omitempty" format:"path" doc:"Path of a table."`
}

// Declare implements pipeline.Source.
func (s *unopened) Declare(pipeline.Declaring) (pipeline.Declared, error) {
	return pipeline.Declared{Name: filepath.Base(s.File), Full: s.File, Place: s.File, Files: []string{s.File}}, nil
}

// Open implements pipeline.Source.
func (*unopened) Open(context.Context, pipeline.Opening) (pipeline.Opened, error) {
	return nil, errors.New("is opened, must be planned only")
}
