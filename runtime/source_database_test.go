package runtime_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/runtime/files"
	"weir/runtime/source"
	"weir/schema"
)

// databaseOf decodes the settings of a source that reads through a database program.
func databaseOf(t *testing.T, settings string) *source.Database {
	t.Helper()
	doc, problems := schema.Parse("dataset", []byte(settings))
	s := &source.Database{}
	if len(problems) == 0 {
		problems = doc.Decode("", s)
	}
	if len(problems) > 0 {
		t.Fatal(schema.Join(problems))
	}
	return s
}

// openedIn opens a source in a confined folder.
func openedIn(t *testing.T, s *source.Database, dir string) pipeline.Opened {
	t.Helper()
	declared, err := s.Declare(pipeline.Declaring{})
	if err != nil {
		t.Fatal(err)
	}
	folder, err := files.OpenFolder(dir, true)
	if err != nil {
		t.Fatal(err)
	}
	held := files.Hold(folder)
	t.Cleanup(func() { held.Close() })
	src, err := s.Open(t.Context(), pipeline.Opening{Files: held.Only(declared.Files...), Columns: columns(), Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// TestDatabaseReadsWhatItIdentified: rows that are other than when the dataset was identified are an error of the
// reading that meets them, long before the run ends.
func TestDatabaseReadsWhatItIdentified(t *testing.T) {
	if err := needsDuckDB(); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	path, text := filepath.Join(dir, "a.csv"), []byte(rows(0, 300))
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	src := openedIn(t, databaseOf(t, "{database: {engine: duckdb, read: {csv: a.csv}, rows: may_leave}}"), dir)
	if _, err := src.Content(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.Replace(text, []byte("north"), []byte("south"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := listed(t.Context(), src.Table()); !errors.Is(err, pipeline.ErrChanged) {
		t.Errorf("%v: must be a change", err)
	}
}

// TestDatabasesAreNoFiles: a file that is a database by its name is a problem of check, which opens nothing; the
// problem names the setting that reads it, and no address.
func TestDatabasesAreNoFiles(t *testing.T) {
	for file, want := range map[string]string{
		"a.sqlite": "read: {sqlite: a.sqlite, table: NAME}", "b/a.DB3": "read: {sqlite: b/a.DB3, table: NAME}",
		"a.duckdb":             "read: {database: a.duckdb, table: NAME}",
		"postgres://u:pw@h/db": "connection: service:NAME", "jdbc:postgresql:db": "connection: service:NAME",
		"JDBC:sqlserver:h;password=pw": "connection: service:NAME",
		"a/b://c":                      "", "c:/a.csv": "",
		"a.csv": "", "sqlite.csv": "", "duckdb": "", "a.db": "",
	} {
		_, err := (&source.File{File: file}).Declare(pipeline.Declaring{})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, must say %q", file, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "pw") {
			t.Errorf("%v: quotes a password", err)
		}
	}
}

// TestDatabaseSettings: what cannot be read, or would be read otherwise than it says, is a problem before anything is
// opened.
func TestDatabaseSettings(t *testing.T) {
	for settings, want := range map[string]string{
		"{database: {engine: duckdb, read: {}, rows: may_leave}}":                                "database.read",
		"{database: {engine: duckdb, read: {csv: a.csv, parquet: b}, rows: may_leave}}":          "database.read",
		"{database: {engine: duckdb, read: {database: a.duckdb}, rows: may_leave}}":              "database.read.table",
		"{database: {engine: duckdb, read: {csv: a.csv, table: t}, rows: may_leave}}":            "database.read.table",
		"{database: {engine: duckdb, read: {csv: a*/a.csv}, rows: may_leave}}":                   "database.read.csv",
		`{database: {engine: duckdb, read: {database: "*.db", table: t}, rows: may_leave}}`:      "database.read.database",
		"{database: {engine: duckdb, read: {csv: a.csv}, rows: may_leave, sample_may_leave: 5}}": "database.sample_may_leave",
		"{database: {engine: duckdb, read: {parquet: a.parquet}, rows: may_leave}}":              "csv.delimiter",
	} {
		_, err := databaseOf(t, settings).Declare(pipeline.Declaring{CSV: &pipeline.CSV{Delimiter: ";"}})
		if err == nil || !strings.Contains(err.Error(), want+":") {
			t.Errorf("%s: %v, must be a problem of %s", settings, err, want)
		}
	}
	if _, err := databaseOf(t, "{database: {engine: duckdb, read: {csv: a.csv}, rows: may_leave}}").Declare(
		pipeline.Declaring{CSV: &pipeline.CSV{Delimiter: ";", Missing: domain.Spellings{"NA"}}}); err != nil {
		t.Error(err)
	}
}
