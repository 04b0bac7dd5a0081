package pipeline

import (
	"context"
	"errors"
	"slices"
)

// File is a named piece of an artifact: a page of a report, a tensor of a model.
type File struct {
	Name string
	Data []byte
}

// IsFiles reports whether an artifact of the form is files; all others are rows.
func (f Form) IsFiles() bool {
	switch f {
	case FormModel, FormDetector, FormFiles, FormCount, FormAnswers:
		return true
	}
	return false
}

// WriteFiles returns the artifact of header h that is files, in their order. Their data must not be changed afterwards.
func WriteFiles(h Header, files []File) Table {
	return Table{Header: h, Files: func(ctx context.Context) ([]File, error) { return slices.Clone(files), ctx.Err() }}
}

// ReadFiles returns the files of an artifact, in the order in which they were written. Their data is shared by all who
// read them and must not be changed.
func ReadFiles(ctx context.Context, t Table) ([]File, error) {
	if t.Files == nil {
		return nil, errors.New("the artifact is rows, must be files")
	}
	return t.Files(ctx)
}
