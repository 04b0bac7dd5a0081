package duckdb

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Format is what DuckDB reads a table from.
type Format string

// The formats. Each but SQLite is read by a part of DuckDB that needs no extension.
const (
	Parquet  Format = "parquet"  // files of equal columns
	CSV      Format = "csv"      // files of equal columns, all of text, with a line of names
	Database Format = "database" // a table or view of one DuckDB file
	SQLite   Format = "sqlite"   // a table or view of one SQLite file, by DuckDB's extension for it
)

// Named reports whether files of the format hold tables by names.
func (f Format) Named() bool { return f == Database || f == SQLite }

// Table says how the files of a table are read.
type Table struct {
	Format    Format
	Schema    string // of a Named format
	Name      string // of a Named format
	Delimiter string // of CSV; "" is a comma
}

// compression tells how a text file is compressed by the ending of its name, which the process does not see.
func compression(name string) string {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".gz":
		return "gzip"
	case ".zst":
		return "zstd"
	}
	return "none"
}

// settings hold a process to its files. A database is attached before the way to other files is closed, since
// DuckDB looks for its write-ahead log, which closed has refused. Names are looked up among DuckDB's own first, so that
// no macro of the file is taken for a function of its name, and then in the file, so that a view finds what it names.
func (s *Session) settings() []string {
	list := []string{"SET temp_directory=''", "SET TimeZone='UTC'",
		"SET autoinstall_known_extensions=false", "SET autoload_known_extensions=false"}
	paths := []string{text("/dev/stdout")}
	for i := range s.files {
		paths = append(paths, text(descriptor(i)))
	}
	switch s.table.Format {
	case Database:
		list = append(list, "ATTACH "+text(descriptor(0))+" AS weir_source (READ_ONLY)")
	case SQLite:
		list = append(list, sqliteSettings()...)
	}
	if s.table.Format.Named() {
		list, paths = append(list, "SET search_path='system.main,weir_source.main'"), paths[:1]
	}
	return append(list, "SET allowed_paths=["+strings.Join(paths, ", ")+"]",
		"SET enable_external_access=false", "SET lock_configuration=true")
}

// descriptor names an inherited file.
func descriptor(i int) string { return fmt.Sprintf("/dev/fd/%d", 3+i) }

// kind returns the expression of what the table is: view, table, or nothing where a database has none of its name.
func (s *Session) kind() string {
	if !s.table.Format.Named() {
		return "'table'"
	}
	there := func(function, name string) string {
		return "EXISTS (SELECT * FROM " + function + " WHERE database_name = 'weir_source' AND lower(schema_name) = lower(" +
			text(s.table.Schema) + ") AND lower(" + name + ") = lower(" + text(s.table.Name) + "))"
	}
	return "CASE WHEN " + there("duckdb_views()", "view_name") + " THEN 'view' WHEN " +
		there("duckdb_tables()", "table_name") + " THEN 'table' ELSE '' END"
}

// fromClause returns the expression of the rows of all files, in their order; part is the expression of one of them.
func (s *Session) fromClause() string {
	if s.table.Format.Named() {
		return "weir_source." + identifier(s.table.Schema) + "." + identifier(s.table.Name)
	}
	parts := make([]string, len(s.files))
	for i := range parts {
		parts[i] = "SELECT * FROM " + s.part(i)
	}
	return "(" + strings.Join(parts, " UNION ALL ") + ")"
}

func (s *Session) part(i int) string {
	switch s.table.Format {
	case Database, SQLite:
		return s.fromClause()
	case Parquet:
		return "read_parquet(" + text(descriptor(i)) + ", hive_partitioning=false, file_row_number=false)"
	}
	delimiter := s.table.Delimiter
	if delimiter == "" {
		delimiter = ","
	}
	return "read_csv(" + text(descriptor(i)) + ", all_varchar=true, header=true, skip=0, strict_mode=true, " +
		"quote='\"', escape='\"', comment='', hive_partitioning=false, compression=" + text(compression(s.files[i].Name())) +
		", delim=" + text(delimiter) + ")"
}

// identifier quotes a name. It is one of a spec or of DuckDB's own list of columns.
func identifier(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// text writes a text as the hexadecimal form of its bytes, so that none of them means anything to the parser.
func text(s string) string {
	if showable(s) {
		return "'" + s + "'"
	}
	var b strings.Builder
	for _, c := range []byte(s) {
		fmt.Fprintf(&b, `\x%02X`, c)
	}
	return "decode('" + b.String() + "'::BLOB)"
}

// showable reports a text of letters, digits, slashes and commas.
func showable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/,;|", r)
	})
}
