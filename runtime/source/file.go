package source

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"weir/pipeline"
	"weir/runtime/table"
	"weir/schema"
)

// File is a table in one file of any format that package table reads, or in several, which a pattern names.
type File struct {
	File string `yaml:"file,omitempty" json:"file,omitempty" format:"path" doc:"CSV or TSV (.gz and .zst too), Excel (.xlsx), Parquet or Arrow file, relative to the spec; with * or ? in its name, such as part-*.csv, all files that match are one table." example:"patients.csv"`
}

func fileKind() pipeline.SourceKind {
	return pipeline.SourceKind{Name: "file", New: func() pipeline.Source { return &File{} }}
}

// Declare implements pipeline.Source.
func (s *File) Declare(declaring pipeline.Declaring) (pipeline.Declared, error) {
	var ps schema.Problems
	if s.File == "" {
		ps.Add("file", "empty", "the path of a table")
		return pipeline.Declared{}, ps.Err()
	}
	if IsAddress(s.File) {
		ps.Add("file", "an address", "the path of a table; one of a server is read by dataset.database, with "+
			"connection: service:NAME, whose address and password the owner keeps outside of the spec")
		return pipeline.Declared{}, ps.Err()
	}
	if strings.ContainsAny(filepath.Dir(s.File), "*?") {
		ps.Add("file", "a path with * or ? in the name of a folder", "a pattern in the last part of the path alone")
		return pipeline.Declared{}, ps.Err()
	}
	if key := databaseKey(s.File); key != "" {
		ps.Add("file", "a database, by its name", fmt.Sprintf("a table; one in a database is read by dataset.database, with "+
			"read: {%s: %s, table: NAME}", key, s.File))
		return pipeline.Declared{}, ps.Err()
	}
	d := pipeline.Declared{Name: filepath.Base(s.File), Full: filepath.Clean(s.File), Place: s.File,
		Files: []string{s.File}}
	if table.Tabbed(s.File) && (declaring.CSV == nil || declaring.CSV.Delimiter == "") {
		d.Reading = true // equal bytes in a .csv and in a .tsv are other rows
	}
	return d, nil
}

// IsAddress reports whether a text is the address of a server, as a URL or as the settings of a connection
// ("host=h password=x", as libpq takes them, or "Server=h;Pwd=x"), and no path. An address may hold a password, so no
// message repeats one. One setting alone is a path, such as user=3/rows.csv, unless it is a password.
func IsAddress(text string) bool {
	scheme, _, found := strings.Cut(text, "://")
	return found && scheme != "" && !strings.ContainsAny(scheme, `/\`) ||
		strings.HasPrefix(strings.ToLower(text), "jdbc:") || len(connectionSettings(text)) > 1 || givesPassword(text)
}

// HoldsPassword reports whether a text has an address in it that gives a password. A password alone, without a scheme
// or a second setting, is none: a condition on rows may name a column so.
func HoldsPassword(text string) bool {
	hasScheme := regexp.MustCompile(`(?i)://|(?:^|[^a-z])jdbc:`).MatchString(text)
	return givesPassword(text) && (hasScheme || len(connectionSettings(text)) > 1) ||
		regexp.MustCompile(`://[^\s/@]*:[^\s@]*@`).MatchString(text)
}

// givesPassword reports whether a text gives a password as a setting of a connection.
func givesPassword(text string) bool {
	return slices.ContainsFunc(connectionSettings(text), func(key string) bool {
		return key == "password" || key == "passwd" || key == "pwd"
	})
}

// connectionSettings lists which settings of a connection a text gives, in small letters.
func connectionSettings(text string) (keys []string) {
	setting := regexp.MustCompile(`(?i)(?:^|[\s;&?="'({,])(host|hostaddr|port|dbname|user|password|passwd|pwd|passfile|` +
		`service|sslmode|server|database|uid|dsn)\s*=`)
	for _, found := range setting.FindAllStringSubmatch(text, -1) {
		keys = append(keys, strings.ToLower(found[1]))
	}
	return keys
}

// databaseKey returns the key of dataset.database.read for a file that is a database by the end of its name, else "".
// Any other database is known by its first bytes, once it is read.
func databaseKey(file string) string {
	switch strings.ToLower(filepath.Ext(file)) {
	case ".sqlite", ".sqlite3", ".db3":
		return "sqlite"
	case ".duckdb", ".ddb":
		return "database"
	}
	return ""
}

// Open implements pipeline.Source.
func (s *File) Open(_ context.Context, o pipeline.Opening) (pipeline.Opened, error) {
	list, err := o.Files.List(s.File)
	if err != nil {
		return nil, err
	}
	t, err := table.OpenParts(o.Files, table.Parts{Name: s.File, Files: list, Tell: o.Tell}, o.CSV, o.Columns, o.Unit)
	return &openFile{files: o.Files, list: list, rows: t}, err
}

// openFile is an opened File. Its content is the uncompressed bytes, so that a file and its gzip are one dataset. The
// content of several files is the list of their digests in the order of their rows; a pattern that matches one file is
// that file.
type openFile struct {
	files pipeline.Files
	list  []string
	rows  pipeline.Table
}

// Table implements pipeline.Opened.
func (f *openFile) Table() pipeline.Table { return f.rows }

// Content implements pipeline.Opened.
func (f *openFile) Content(ctx context.Context) (string, error) {
	if len(f.list) == 1 {
		return f.files.Digest(ctx, f.list[0])
	}
	all := "parts"
	for _, name := range f.list {
		digest, err := f.files.Digest(ctx, name)
		if err != nil {
			return "", err
		}
		all += " " + digest
	}
	return all, nil
}

// Unchanged implements pipeline.Opened.
func (f *openFile) Unchanged(ctx context.Context) error {
	for _, name := range f.list {
		if err := f.files.Unchanged(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// Close implements pipeline.Opened.
func (f *openFile) Close() error { return nil }
