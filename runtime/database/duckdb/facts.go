package duckdb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow/go/v15/arrow"
)

// Column is a column of the table as DuckDB stores it.
type Column struct{ Name, Type string }

// Facts are what is known of a table before its rows are read.
type Facts struct {
	Version string // of DuckDB, such as v1.5.6
	View    bool   // the table is a view
	Columns []Column
}

// Facts asks for the columns of the table. All files must have the same ones: DuckDB would turn the values of later
// files into the types of the first, decimals into whole numbers.
func (s *Session) Facts(ctx context.Context) (Facts, error) {
	if s.table.Format == SQLite {
		if err := s.installed(ctx); err != nil {
			return Facts{}, err
		}
	}
	statements := []string{copied("SELECT version(), " + s.kind())}
	for i := range s.files {
		described := fmt.Sprintf("SELECT '%d', column_name, column_type FROM (DESCRIBE SELECT * FROM %s)", i, s.part(i))
		statements = append(statements, copied(described))
	}
	p, err := s.start(ctx, statements...)
	if err != nil {
		return Facts{}, err
	}
	defer p.stop()
	f, parts, err := s.described(newCells(p.out))
	if err == nil {
		err = p.end()
	}
	if err != nil {
		return Facts{}, err
	}
	f.Columns = parts[0]
	return f, s.alike(parts)
}

// described reads the version, and the columns of each file.
func (s *Session) described(c *cells) (f Facts, parts [][]Column, err error) {
	parts = make([][]Column, len(s.files))
	row, err := c.row(nil, 2)
	if err != nil && !errors.Is(err, io.EOF) {
		return f, nil, err
	}
	if len(row) == 2 {
		f.Version, f.View = string(row[0].text), string(row[1].text) == "view"
		if len(row[1].text) == 0 {
			return f, nil, fmt.Errorf("%s: has no table %s.%s, must be a table or view of the file: TABLE, or SCHEMA.TABLE",
				s.name, s.table.Schema, s.table.Name)
		}
	}
	for {
		row, err := c.row(nil, 3)
		if errors.Is(err, io.EOF) {
			return f, parts, nil
		}
		if err != nil {
			return f, nil, err
		}
		var i int
		if _, err := fmt.Sscan(string(row[0].text), &i); err != nil || i < 0 || i >= len(parts) {
			return f, nil, errBroken
		}
		parts[i] = append(parts[i], Column{string(row[1].text), string(row[2].text)})
	}
}

// alike refuses files with different columns.
func (s *Session) alike(parts [][]Column) error {
	for i, part := range parts {
		if len(part) != len(parts[0]) {
			return fmt.Errorf("%s: file %d has %d columns where the first has %d, must have the same",
				s.name, i+1, len(part), len(parts[0]))
		}
		for j, c := range part {
			if c != parts[0][j] {
				return fmt.Errorf("%s: column %d of file %d has another name or type than in the first file, must have the same",
					s.name, j+1, i+1)
			}
		}
	}
	for j, c := range parts[0] {
		if !utf8.ValidString(c.Name) || strings.ContainsRune(c.Name, 0) {
			return fmt.Errorf("%s: column %d: has a name with a byte 0 or outside UTF-8, must be UTF-8 without it", s.name, j+1)
		}
	}
	return nil
}

// Schema returns the columns in the Arrow types in which Rows hands them over. Lists, structs and what else weir does
// not read are binary.
func (f Facts) Schema() *arrow.Schema {
	fields := make([]arrow.Field, len(f.Columns))
	for i, c := range f.Columns {
		fields[i] = arrow.Field{Name: c.Name, Type: storedAs(c.Type).arrow, Nullable: true}
	}
	return arrow.NewSchema(fields, nil)
}
