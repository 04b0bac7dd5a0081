package source

import (
	"context"
	"path/filepath"

	"weir/pipeline"
	"weir/runtime/table"
	"weir/schema"
)

// File is a table in one file, of any format that package table reads.
type File struct {
	File string `yaml:"file,omitempty" json:"file,omitempty" format:"path" doc:"CSV or TSV (.gz and .zst too), Excel (.xlsx), Parquet or Arrow file, relative to the spec."`
}

func fileKind() pipeline.SourceKind {
	return pipeline.SourceKind{Name: "file", New: func() pipeline.Source { return &File{} }}
}

// Declare implements pipeline.Source.
func (s *File) Declare(under pipeline.Declaring) (pipeline.Declared, error) {
	var ps schema.Problems
	if s.File == "" {
		ps.Add("file", "empty", "the path of a table")
		return pipeline.Declared{}, ps.Err()
	}
	d := pipeline.Declared{Name: filepath.Base(s.File), Full: filepath.Clean(s.File), Place: s.File, Files: []string{s.File}}
	if table.Tabbed(s.File) && (under.CSV == nil || under.CSV.Delimiter == "") {
		d.Reading = true // equal bytes in a .csv and in a .tsv are other rows
	}
	return d, nil
}

// Open implements pipeline.Source.
func (s *File) Open(_ context.Context, o pipeline.Opening) (pipeline.Opened, error) {
	t, err := table.OpenUnits(o.Files, s.File, o.CSV, o.Columns, o.Unit)
	return &openFile{files: o.Files, name: s.File, rows: t}, err
}

// openFile is an opened File. Its content is the uncompressed bytes, so that a file and its gzip are one dataset.
type openFile struct {
	files pipeline.Files
	name  string
	rows  pipeline.Table
}

// Table implements pipeline.Opened.
func (f *openFile) Table() pipeline.Table { return f.rows }

// Content implements pipeline.Opened.
func (f *openFile) Content(ctx context.Context) (string, error) { return f.files.Digest(ctx, f.name) }

// Unchanged implements pipeline.Opened.
func (f *openFile) Unchanged(ctx context.Context) error { return f.files.Unchanged(ctx, f.name) }

// Close implements pipeline.Opened.
func (f *openFile) Close() error { return nil }
