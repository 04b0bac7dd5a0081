package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/jackc/pgx/v5/pgconn"
)

// Table is a table or view, as the catalogue has it.
type Table struct {
	Oid     string // of the table
	Schema  string
	Name    string
	View    bool // or a materialized one
	Policed bool // row security decides which rows the role sees
	Columns []Column
	Unread  []Unread // where all columns were asked for: those that cannot be read
}

// Unread is a column that is left out of the columns.
type Unread struct {
	Name   string
	Place  int    // in the table, from 1
	Stored string // name of the type
	Closed bool   // the role may not read it, whatever its type
}

// Column is a column that is read.
type Column struct {
	Name   string
	Stored string // name of the type
	kind   kind
	labels string // of an enum: a JSON list, which compares
}

// Labels returns the values of an enum as its type lists them; nil of other types. They are part of the schema: no row
// is read for them.
func (c Column) Labels() (list []string) {
	if json.Unmarshal([]byte(c.labels), &list) != nil { // "" where there are none
		return nil
	}
	return list
}

func (t Table) name() string { return quoted(t.Schema) + "." + quoted(t.Name) }

func (t Table) equal(o Table) bool {
	return t.Oid == o.Oid && slices.Equal(t.Columns, o.Columns)
}

// quoted returns an identifier that the catalogue has, in quotes.
func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// Arrow returns the columns with the Arrow types in which they are read.
func (t Table) Arrow() *arrow.Schema {
	fields := make([]arrow.Field, len(t.Columns))
	for i, c := range t.Columns {
		fields[i] = arrow.Field{Name: c.Name, Type: c.kind.arrow(), Nullable: true}
	}
	return arrow.NewSchema(fields, nil)
}

// facts looks a table up and refuses a role that can change it, and columns that are not read.
func facts(ctx context.Context, c *pgconn.PgConn, name string, columns []string) (Table, error) {
	schema, table, err := Split(name)
	if err != nil {
		return Table{}, fmt.Errorf("table: %w", err)
	}
	rows, err := texts(ctx, c, "the table's description", 7, `
SELECT c.oid, c.relkind, pg_catalog.current_setting('is_superuser'),
  pg_catalog.pg_has_role(c.relowner, 'USAGE')
    OR pg_catalog.has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')
    OR pg_catalog.has_any_column_privilege(c.oid, 'INSERT, UPDATE'),
  pg_catalog.has_table_privilege(c.oid, 'SELECT') OR pg_catalog.has_any_column_privilege(c.oid, 'SELECT'),
  EXISTS (WITH RECURSIVE parts (oid) AS (SELECT c.oid UNION SELECT i.inhrelid FROM parts JOIN pg_catalog.pg_inherits i ON i.inhparent = parts.oid)
    SELECT FROM parts JOIN pg_catalog.pg_class f ON f.oid = parts.oid WHERE f.relkind = 'f'),
  pg_catalog.row_security_active(c.oid)
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = $1::text AND c.relname = $2::text`, schema, table)
	if err != nil {
		return Table{}, err
	}
	if len(rows) != 1 {
		return Table{}, fmt.Errorf("table: %s is not in the database, must be SCHEMA.TABLE as the catalogue spells it", name)
	}
	t := Table{Oid: rows[0][0], Schema: schema, Name: table, View: rows[0][1] == "v" || rows[0][1] == "m",
		Policed: rows[0][6] == "t"}
	return t, errors.Join(checkRole(name, rows[0]), t.find(ctx, c, columns))
}

// checkRole refuses a role that is a superuser, owns or can change the table, or cannot read it, and a table that no
// snapshot covers.
func checkRole(name string, row []string) error {
	kind, super, writes, reads, foreign := row[1], row[2], row[3], row[4], row[5]
	var errs []error
	if super == "on" {
		errs = append(errs, errors.New("role: is a superuser, must be one with SELECT only"))
	} else if writes == "t" {
		errs = append(errs, fmt.Errorf("role: owns or can change %s, must be one with SELECT only", name))
	}
	if reads != "t" {
		errs = append(errs, fmt.Errorf("role: cannot read %s, must have SELECT", name))
	}
	if !strings.Contains("rpvm", kind) || foreign == "t" {
		errs = append(errs, fmt.Errorf("table: %s is foreign, or no table, must be a table, a partitioned table, a view or "+
			"a materialized view of the server itself: no other has a snapshot", name))
	}
	return errors.Join(errs...)
}

// find takes the columns that are asked for, in the order of the table. Where none is named it takes all that can be
// read; one that is named and cannot be read is an error.
func (t *Table) find(ctx context.Context, c *pgconn.PgConn, columns []string) error {
	rows, err := texts(ctx, c, "the table's columns", 5, `
SELECT a.attname, y.typname, y.typtype, pg_catalog.has_column_privilege(a.attrelid, a.attnum, 'SELECT'),
  (SELECT pg_catalog.json_agg(e.enumlabel ORDER BY e.enumsortorder) FROM pg_catalog.pg_enum e WHERE e.enumtypid = y.oid) FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type y ON y.oid = a.atttypid
WHERE a.attrelid = $1::oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`, t.Oid)
	if err != nil {
		return err
	}
	var errs []error
	for i, row := range rows {
		k, known := kindOf(row[1], row[2])
		switch closed := row[3] != "t"; {
		case len(columns) == 0 && (closed || !known):
			t.Unread = append(t.Unread, Unread{row[0], i + 1, row[1], closed})
			continue
		case len(columns) > 0 && !slices.Contains(columns, row[0]):
			continue
		case !known:
			errs = append(errs, fmt.Errorf("column %q: is stored as %q, must be one of %s; a view may cast it", row[0], row[1],
				strings.Join(readTypes(), ", ")))
		}
		t.Columns = append(t.Columns, Column{row[0], row[1], k, row[4]})
	}
	return errors.Join(errs...)
}
