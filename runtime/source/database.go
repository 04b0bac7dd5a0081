package source

import (
	"context"
	"errors"
	"maps"
	"slices"

	"weir/pipeline"
	"weir/schema"
)

// Database is a table that a database reads, instead of weir itself.
type Database struct {
	Database *DatabaseTable `yaml:"database,omitempty" json:"database,omitempty" doc:"A table that a database reads, instead of a file that weir reads itself."`
	Name     string         `yaml:"name,omitempty" json:"name,omitempty" doc:"What ledger and owner file of a table on a server are called, beside the spec: NAME.weir-ledger.jsonl. Letters, digits, - and _."`
}

// DatabaseTable says which database reads, what, and where rows may go.
type DatabaseTable struct {
	Engine      string  `yaml:"engine" json:"engine" required:"true" enum:"duckdb|postgres|spark" doc:"duckdb: the user's own DuckDB program, duckdb of PATH or the path in the environment variable WEIR_DUCKDB. postgres: a PostgreSQL server. spark: the Thrift server of a Spark cluster."`
	Rows        string  `yaml:"rows" json:"rows" required:"true" enum:"may_leave|stay" doc:"Whether rows may leave the database, which weir cannot know. may_leave: weir reads, counts and learns from them as from a file's. stay: the database computes what stages make of a row and counts it, and weir gets counts, and hashes of rows for the owner's side; stages that need rows are refused."`
	Sample      int64   `yaml:"sample_may_leave,omitempty" json:"sample_may_leave,omitempty" min:"1" max:"1000000" doc:"Of rows that stay, at most so many may leave for figures that only the owner sees, such as evaluations: those with the least public hashes. None by default."`
	Read        *Reader `yaml:"read,omitempty" json:"read,omitempty" doc:"What DuckDB reads: one of parquet, csv, database and sqlite."`
	Connection  string  `yaml:"connection,omitempty" json:"connection,omitempty" doc:"Of a server: env:NAME, an environment variable that holds a connection, or of PostgreSQL service:NAME, an entry of pg_service.conf; never the connection itself."`
	Table       string  `yaml:"table,omitempty" json:"table,omitempty" doc:"Of a server: SCHEMA.TABLE, as the catalogue spells it, in Spark also CATALOG.SCHEMA.TABLE. Columns that the domain does not name are not asked for."`
	VersionAsOf *int64  `yaml:"version_as_of,omitempty" json:"version_as_of,omitempty" min:"0" doc:"Of Spark: the version to count of a table that keeps versions (Delta, Iceberg); by default the table as it is."`
	Scratch     string  `yaml:"scratch,omitempty" json:"scratch,omitempty" doc:"Of Spark, where it is needed: the schema in which weir keeps the codes of the rows during a run, as tables that it drops at the end."`
	View        string  `yaml:"view,omitempty" json:"view,omitempty" enum:"rows_of_one_unit" doc:"Needed where the table is a view, or one of which row security shows the role a part: whoever signs the spec says that each of its rows follows from rows of one privacy unit alone. weir cannot see what a view joins or sums up."`
	Timeout     int64   `yaml:"timeout,omitempty" json:"timeout,omitempty" unit:"seconds" min:"1" max:"864000" doc:"Most time for one request to a server; none by default."`
}

func databaseKind() pipeline.SourceKind {
	return pipeline.SourceKind{Name: "database", New: func() pipeline.Source { return &Database{} }}
}

// engine is a database: what settings of it declare, and how its table is opened.
type engine interface {
	declare(ps *schema.Problems, under pipeline.Declaring) pipeline.Declared
	open(ctx context.Context, o pipeline.Opening) (pipeline.Opened, error)
	browse(ctx context.Context, o pipeline.Opening) (*Browsed, error)
}

// engine returns the engine with the settings that belong to others: these are to be left out.
func (s *Database) engine() (e engine, others map[string]bool) {
	d := s.Database
	others = map[string]bool{"database.version_as_of": d.VersionAsOf != nil, "database.scratch": d.Scratch != ""}
	switch d.Engine {
	case "spark":
		return cluster{s.Name, d}, map[string]bool{"database.read": d.Read != nil}
	case "postgres":
		others["database.read"] = d.Read != nil
		return server{s.Name, d}, others
	}
	others["name"], others["database.connection"] = s.Name != "", d.Connection != ""
	others["database.table"], others["database.timeout"] = d.Table != "", d.Timeout != 0
	return duckDB{d}, others
}

// Declare implements pipeline.Source.
func (s *Database) Declare(declaring pipeline.Declaring) (pipeline.Declared, error) {
	var ps schema.Problems
	if s.Database == nil || s.Database.Engine == "" {
		ps.Add("database", "without engine", "{engine: duckdb, read: {parquet: data}, rows: may_leave}, {engine: postgres, "+
			"connection: ..., table: ..., rows: may_leave}, or {engine: spark, connection: ..., table: ..., scratch: ..., "+
			"rows: stay}")
		return pipeline.Declared{}, ps.Err()
	}
	e, others := s.engine()
	if s.Database.Sample > 0 && s.Database.Rows != stay {
		ps.Add("database.sample_may_leave", "set for rows that may all leave", "left out")
	}
	for _, key := range slices.Sorted(maps.Keys(others)) {
		if others[key] {
			ps.Add(key, "set for the engine "+s.Database.Engine, "left out: it belongs to another engine")
		}
	}
	return e.declare(&ps, declaring), ps.Err()
}

// Open implements pipeline.Source.
func (s *Database) Open(ctx context.Context, o pipeline.Opening) (pipeline.Opened, error) {
	e, _ := s.engine()
	return e.open(ctx, o)
}

// cells returns what csv says of cells and columns, whatever it says of text.
func cells(csv *pipeline.CSV) *pipeline.CSV {
	if csv == nil {
		return nil
	}
	return &pipeline.CSV{Missing: csv.Missing, Unknown: csv.Unknown, Extra: csv.Extra}
}

// checkCells refuses settings of text files, which a database's table is none of.
func checkCells(ps *schema.Problems, csv *pipeline.CSV, also string) {
	if csv == nil {
		return
	}
	for _, one := range []struct {
		key   string
		given bool
	}{{"encoding", csv.Encoding != ""}, {"sheet", csv.Sheet != ""}, {"range", csv.Range != ""},
		{"header", csv.Header != nil}, {"quote", csv.Quote != ""}, {"comment", csv.Comment != ""},
		{"trim", csv.Trim}, {"strip_suffix", csv.StripSuffix != ""}} {
		if one.given {
			ps.Add("csv."+one.key, "set for a table that a database reads", "left out; missing, unknown, extra"+also+
				" are taken")
		}
	}
}

// errView is a view that nobody answers for.
var errView = errors.New("is a view, must be a table; or database.view: rows_of_one_unit, where each of its rows " +
	"follows " +
	"from rows of one privacy unit alone")
