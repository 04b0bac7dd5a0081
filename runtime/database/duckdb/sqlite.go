package duckdb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ExtensionsVariable names the environment variable that holds the folder of DuckDB's extensions; by default it is the
// one into which INSTALL puts them. An extension is for one version of DuckDB, which signs it, and weir downloads none.
const ExtensionsVariable = "WEIR_DUCKDB_EXTENSIONS"

// extensions returns the folder of extensions; "" where the user has no home.
func extensions() string {
	if dir := os.Getenv(ExtensionsVariable); dir != "" {
		return dir
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".duckdb", "extensions")
}

// extended returns the setting by which DuckDB looks for extensions there.
func extended() string { return "SET extension_directory=" + text(extensions()) }

// sqliteSettings attach a SQLite file. SQLite opens it by its name, which it finds by the descriptor; so its rows are
// held to their content again behind all that is kept of them.
func sqliteSettings() []string {
	return []string{extended(), "LOAD sqlite_scanner",
		"ATTACH " + text(descriptor(0)) + " AS weir_source (TYPE sqlite, READ_ONLY)"}
}

// installed refuses a DuckDB that has no extension for SQLite.
func (s *Session) installed(ctx context.Context) error {
	asked := copied("SELECT installed, version() FROM duckdb_extensions() WHERE extension_name = 'sqlite_scanner'")
	p, err := s.launch(ctx, strings.NewReader(extended()+";\n"+asked+";\n"))
	if err != nil {
		return err
	}
	defer p.stop()
	row, err := newCells(p.out).row(nil, 2)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if len(row) == 2 && string(row[0].text) == "true" {
		return nil
	}
	version := "it"
	if len(row) == 2 {
		version = string(row[1].text)
	}
	return fmt.Errorf("%s: needs DuckDB's extension for SQLite, and %s has none installed; INSTALL sqlite in DuckDB, "+
		"or name the folder of its extensions in the environment variable %s", s.name, version, ExtensionsVariable)
}

// walMode is the version of SQLite's file format by which rows may lie in a log (bytes 18 and 19; "Database File
// Format", sqlite.org, 1.3.3).
const walMode = 2

// settled refuses a SQLite file with a journal or a log, in which rows may lie that are not in the file, or which
// reading would write.
func (s *Session) settled(f *os.File) error {
	head := make([]byte, 20)
	if _, err := f.ReadAt(head, 0); err != nil || string(head[:16]) != "SQLite format 3\x00" {
		return fmt.Errorf("%s: is no SQLite file, must be one", s.name)
	}
	if head[18] == walMode || head[19] == walMode {
		return fmt.Errorf("%s: is a SQLite file with a write-ahead log; PRAGMA journal_mode=DELETE in SQLite ends that, "+
			"in the file or in a copy of it", s.name)
	}
	real, err := filepath.EvalSymlinks(f.Name())
	if err != nil {
		return fmt.Errorf("%s: is no longer there: %w", s.name, errors.Unwrap(err))
	}
	for _, log := range []string{"-journal", "-wal"} {
		if _, err := os.Stat(real + log); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s: has a journal (%s) beside it, so it is being changed or was left in the middle of it; "+
				"open and close it in SQLite", s.name, log)
		}
	}
	return nil
}
