package prep

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/schema"
)

// Read opens a further table.
type Read struct {
	File       string          `yaml:"file" json:"file" required:"true" format:"path" doc:"CSV or TSV (.gz and .zst too), Excel (.xlsx), Parquet or Arrow file, relative to the spec."`
	CSV        *pipeline.CSV   `yaml:"csv,omitempty" json:"csv,omitempty" doc:"Dialect of a CSV or TSV file."`
	Columns    []domain.Column `yaml:"columns,omitempty" json:"columns,omitempty" minItems:"1" doc:"What is publicly known of each column, in the order of the table; by default as in the table of the port like, with the aliases of its columns where that is dataset or another table that was read."`
	Class      string          `yaml:"class" json:"class" required:"true" enum:"public|private" doc:"public: derived from no private data, so that any stage may use it. private: only evaluation may use it."`
	Rows       int64           `yaml:"rows,omitempty" json:"rows,omitempty" min:"1" doc:"The row count of a public table, where it is known beforehand."`
	DeclaredBy string          `yaml:"declared_by,omitempty" json:"declared_by,omitempty" doc:"Who declares that a public table holds no private row, such as a data steward or the publication that it comes from; shown in the bill and in PRIVACY.md."`
}

func readKind() pipeline.Kind {
	return pipeline.Kind{
		Name: "read", Version: 1, Out: tableOut("the table"),
		In: []pipeline.Port{{Name: "like", Form: pipeline.FormTable, Optional: true, Lends: true,
			Doc: "a table with the same columns, such as dataset"}},
		Doc: "Reads a further table, such as a public reference for impute_knn or a held-out test table. A public table is " +
			"free of charge; a " +
			"private one has unbounded stability (it is not part of the dataset whose budget is kept), so that evaluation can " +
			"use it and no " +
			"mechanism can.",
		New: func() pipeline.Stage { return &Read{} },
	}
}

// domain returns the columns of the file, with the aliases that its cells may have.
func (s *Read) domain(like pipeline.Header) *domain.Domain {
	if len(s.Columns) > 0 || like.Domain == nil {
		d := &domain.Domain{Columns: slices.Clone(s.Columns)}
		d.Complete()
		return d
	}
	d := like.Domain.Clone()
	d.History = nil
	for i := range d.Columns {
		d.Columns[i].Aliases = like.Spelled[d.Columns[i].Name]
	}
	return d
}

func (s *Read) header(d *domain.Domain) (pipeline.Header, error) {
	var ps schema.Problems
	h := pipeline.Header{Class: pipeline.Class(s.Class)}
	switch h.Class {
	case pipeline.Public:
		h.Rows = s.Rows
	case pipeline.Private:
		h.Stability = pipeline.Unbounded()
		if s.Rows > 0 {
			ps.Refuse("W05", "rows", "set for a private table", "absent: its row count is private")
		}
	default:
		ps.Add("class", s.Class, "public or private")
	}
	if s.File == "" {
		ps.Add("file", "missing", "the path of a table")
	}
	switch {
	case len(d.Columns) == 0:
		ps.Add("columns", "missing", "the columns of the table, or like: dataset")
	case len(s.Columns) > 0:
		ps = append(ps, domain.Check(d, domain.Declared)...)
	}
	return pipeline.TableHeader(d, h), ps.Err()
}

// Plan implements pipeline.Stage.
func (s *Read) Plan(in pipeline.Headers) (pipeline.Work, error) {
	d := s.domain(in["like"])
	h, err := s.header(d)
	return pipeline.Work{Out: pipeline.Headers{"out": h}, Lazy: true, Files: []pipeline.FileUse{s.use()},
		Elsewhere: needsRows("reads a file"),
		Run: func(_ context.Context, env *pipeline.Env, _ pipeline.Tables) (pipeline.Tables, error) {
			t, err := env.Files(s.File, s.CSV, d)
			t.Header = h
			return pipeline.Tables{"out": t}, err
		}}, err
}

// use says who vouches for the file.
func (s *Read) use() pipeline.FileUse {
	rule := s.DeclaredBy
	if rule == "" {
		rule = "the spec"
	}
	return pipeline.FileUse{Path: s.File, Public: s.Class == string(pipeline.Public), By: rule}
}

// Write keeps a table as a file of the run, or as a table of a server.
type Write struct {
	Formats  pipeline.Formats `yaml:"formats" json:"formats" doc:"File formats; an empty list where the table goes to a server alone."`
	Postgres *ServerTable     `yaml:"postgres,omitempty" json:"postgres,omitempty" doc:"Table of a PostgreSQL server that the released table is written to, as a whole or not at all. The run makes it; a name that something has there is refused."`
}

// ServerTable is a table of a server, and the connection by which it is written.
type ServerTable struct {
	Connection string `yaml:"connection" json:"connection" required:"true" doc:"service:NAME, an entry of pg_service.conf, or env:NAME, an environment variable that holds a connection; never the connection itself. Its role is none that reads the dataset, and may create tables in the schema."`
	Table      string `yaml:"table" json:"table" required:"true" doc:"SCHEMA.TABLE, without quotes."`
}

func writeKind() pipeline.Kind {
	return pipeline.Kind{
		Name: "write", Version: 1, Late: true, In: tableIn(), Out: tableOut("the same table"),
		Doc: "Keeps a table as files of the run or in a server. A private one in internal/, a released one in release/; a " +
			"released one " +
			"also as a table of a server. " +
			"Use it to look at an intermediate table, or to hand a released one on; " +
			"synthetic rows of sample are written as files without it. Stability stays as it is.",
		New: func() pipeline.Stage { return &Write{} },
	}
}

// KnowFormats implements pipeline.FormatChooser.
func (s *Write) KnowFormats(known []pipeline.FileFormat) { s.Formats = pipeline.FormatsOf(known...) }

// Plan implements pipeline.Stage.
func (s *Write) Plan(in pipeline.Headers) (pipeline.Work, error) {
	var ps schema.Problems
	return pipeline.Work{Out: pipeline.Headers{"out": in["in"]}, Lazy: true, Write: s.Formats.Names,
		Send:      s.sending(&ps, in["in"].Domain),
		Elsewhere: needsRows("writes rows into files"),
		Run: func(_ context.Context, _ *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
			return pipeline.Tables{"out": in["in"]}, nil
		}}, ps.Err()
}

// sending returns the table of a server that the settings name, or nil.
func (s *Write) sending(ps *schema.Problems, d *domain.Domain) *pipeline.Sending {
	p := s.Postgres
	if p == nil {
		if s.Formats.None() {
			ps.Add("formats", "an empty list without postgres", "formats of files, or a table of a server")
		}
		return nil
	}
	if kind, name, _ := strings.Cut(p.Connection, ":"); name == "" || kind != "service" && kind != "env" {
		ps.Add("postgres.connection", "not repeated here",
			"service:NAME or env:NAME; what it refers to stays outside of the spec")
	}
	if of, table, is := strings.Cut(p.Table, "."); !is || of == "" || table == "" {
		ps.Add("postgres.table", fmt.Sprintf("%q", p.Table), "SCHEMA.TABLE")
	}
	for _, c := range d.Columns { // a run would end when it has paid
		if slices.ContainsFunc(c.Categories, func(s string) bool { return strings.Contains(s, "\x00") }) {
			ps.Add("postgres", fmt.Sprintf("set for a table whose column %q has a category with a NUL", c.Name),
				"left out, or the category written otherwise: PostgreSQL stores no NUL in a text")
		}
	}
	return &pipeline.Sending{Connection: p.Connection, Table: p.Table}
}
