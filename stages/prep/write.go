package prep

import (
	"context"
	"fmt"
	"strings"

	"weir/pipeline"
	"weir/schema"
)

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
		Doc: "Keeps a table as files of the run: a private one in internal/, a released one in release/; a released one also as a table of a server. " +
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
	return pipeline.Work{Out: pipeline.Headers{"out": in["in"]}, Lazy: true, Write: s.Formats.Names, Send: s.sending(&ps),
		Elsewhere: needsRows("writes rows into files"),
		Run: func(_ context.Context, _ *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
			return pipeline.Tables{"out": in["in"]}, nil
		}}, ps.Err()
}

// sending is the table of a server that the settings name, or nil.
func (s *Write) sending(ps *schema.Problems) *pipeline.Sending {
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
	return &pipeline.Sending{Connection: p.Connection, Table: p.Table}
}
