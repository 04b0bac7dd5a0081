package infer

import (
	"context"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/runtime/table"
)

// Table is a table that can be read without a domain, and by one: in files, or in a database.
type Table struct {
	Name   string // what messages call it
	Source string // key of its source in a spec, such as file
	// Guess fills in what csv leaves open of how text is written.
	Guess func(ctx context.Context, csv *pipeline.CSV) (*pipeline.CSV, error)
	// Raw reads without a domain. tell takes what the owner should know, once; nil drops it.
	Raw func(ctx context.Context, csv *pipeline.CSV, tell func(string)) (*table.Raw, error)
	// Open reads by a domain.
	Open func(csv *pipeline.CSV, d *domain.Domain, tell func(string)) (pipeline.Table, error)
	// Asked says that columns which no domain declares are never asked for, so that no spec has to pass over them.
	Asked bool
}

// Files returns a table in files.
func Files(fsys table.FS, subject table.Parts) Table {
	return Table{Name: subject.Name, Source: "file",
		Guess: func(ctx context.Context, csv *pipeline.CSV) (*pipeline.CSV, error) {
			return sniff(ctx, fsys, subject.Files[0], csv)
		},
		Raw: func(ctx context.Context, csv *pipeline.CSV, tell func(string)) (*table.Raw, error) {
			told := subject
			told.Tell = tell
			return table.OpenRawParts(ctx, fsys, told, csv)
		},
		Open: func(csv *pipeline.CSV, d *domain.Domain, tell func(string)) (pipeline.Table, error) {
			told := subject
			told.Tell = tell
			return table.OpenParts(fsys, told, csv, d, "")
		}}
}

// settled returns csv, with what it leaves open guessed where it names no delimiter.
func (t Table) settled(ctx context.Context, csv *pipeline.CSV) (*pipeline.CSV, error) {
	if csv == nil {
		csv = &pipeline.CSV{}
	} else if csv.Delimiter != "" {
		return csv, nil
	}
	return t.Guess(ctx, csv)
}

// passing returns csv, which passes over the columns that no domain declares where there are some.
func (t Table) passing(csv *pipeline.CSV, raw *table.Raw) *pipeline.CSV {
	if len(raw.Unread) == 0 || t.Asked {
		return csv
	}
	over := *csv
	over.Extra = "ignore"
	return &over
}
